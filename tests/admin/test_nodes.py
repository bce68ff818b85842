"""`verdict doctor` asks the nodes of the chain on which wallets are watched, if any are."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from service.clock import SystemClock
from service.storage.database import DATABASE
from service.upstream.replay.history import Mode
from service.upstream.replay.server import replay_server
from tests.admin.conftest import Told, Verdict
from tests.fakes.in_thread import in_thread
from tests.upstream.conftest import FIXTURES

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
PATIENCE_S = 30


class Nodes(msgspec.Struct):
    """Where they are asked: one that follows, one that stands still, one of another chain, one that tells no logs."""

    good: str
    late: str
    strange: str
    mute: str


@asynccontextmanager
async def serving() -> AsyncIterator[Nodes]:
    async with AsyncExitStack() as stack:

        async def node(mode: Mode, method: bytes = b"", answer: dict[str, Any] | None = None) -> str:
            replay = await stack.enter_async_context(replay_server(FIXTURES, SystemClock(), mode))

            async def stand_in(request: web.Request) -> web.Response | None:
                return web.json_response({"id": 1, **(answer or {})}) if method in await request.read() else None

            if answer is not None:
                replay.interceptor = stand_in
            return replay.base("ethereum")

        refusal = {"error": {"code": -32_601, "message": "eth_getLogs is not available on this plan"}}
        yield Nodes(
            good=await node("shifted"),
            late=await node("frozen"),
            strange=await node("shifted", b"eth_chainId", {"result": "0xa"}),
            mute=await node("shifted", b"eth_getLogs", refusal),
        )


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with in_thread(serving()) as running:
        yield running


@pytest.fixture(autouse=True)
def _somebody(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")


@pytest.fixture
def look(verdict: Verdict) -> Any:
    def asked(*urls: str, **settings: str) -> tuple[Told, dict[str, Any]]:
        told = verdict("admin", "doctor", "--json", **({"wallets_rpc": ",".join(urls)} if urls else {}), **settings)
        (found,) = [check for check in told.json["checks"] if check["check"] == "wallets"]
        return told, found

    return asked


def test_where_nobody_is_watched_no_node_is_asked(look: Any) -> None:
    told, found = look("http://127.0.0.1:1")
    assert (told.code, found["said"]) == (0, "no wallet is watched; no node is called")


def test_the_recorded_chain_needs_no_node(look: Any) -> None:
    told, found = look(source="fixtures")
    assert (told.code, found["said"]) == (0, "10 are watched on the recorded chain")


def test_nodes_that_follow_their_chain_and_tell_logs_are_sound(look: Any, verdict: Verdict, nodes: Nodes) -> None:
    verdict("admin", "wallets", "add", WALLET)
    told, found = look(nodes.good, nodes.good)
    assert (told.code, found["findings"]) == (0, [])
    assert found["said"] == "1 are watched, and every node can follow them"


def test_what_is_wrong_with_a_node_is_said_by_its_place_and_never_by_its_address(
    look: Any, verdict: Verdict, nodes: Nodes
) -> None:
    verdict("admin", "wallets", "add", WALLET)
    told, found = look(nodes.good, nodes.late, nodes.mute, nodes.strange, "http://127.0.0.1:1/v2/a-key-to-be-hidden")
    assert told.code == 1
    late, mute, gone, chains = found["findings"]
    assert late.startswith("the newest block of node 2 is ")
    assert "node 3 gave no usable answer" in mute
    assert "not available on this plan" in mute
    assert gone.startswith("node 5 gave no usable answer")
    assert chains == "they are on different chains: 1, 1, 10"
    assert "VERDICT_WALLETS_RPC" in found["remedy"]
    assert "a-key-to-be" not in told.out + told.err
    assert "127.0.0.1" not in told.out + told.err


def test_a_file_of_wallets_that_cannot_be_used_is_found(look: Any, tmp_path: Path) -> None:
    told, found = look(wallets_file=str(tmp_path / "none.toml"))
    assert told.code == 1
    assert found["findings"][0].startswith("VERDICT_WALLETS_FILE: ")


def test_where_it_cannot_be_read_who_is_watched_no_node_is_asked(look: Any, data_dir: Path) -> None:
    with sqlite3.connect(data_dir / DATABASE) as connection:
        connection.execute("ALTER TABLE watched_wallets RENAME TO elsewhere")
    connection.close()
    told, found = look("http://127.0.0.1:1")
    assert (told.code, found["said"]) == (0, "the watched wallets cannot be read; no node is called")
