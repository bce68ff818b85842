"""The replayed node: what the execution API says a node answers, the limits of public ones, and one reorganisation."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from fixtures import chain
from service.clock import DAY_MS, SECOND_MS
from service.upstream.fixture_set import pack, read_set, write_set
from service.upstream.replay.ethereum import (
    BLOCK_S,
    LOGS_FILE,
    MOST_BLOCKS,
    MOST_LOGS,
    SEGMENT_FILE,
    WALLETS_FILE,
    Log,
    RecordedRange,
)
from service.upstream.replay.recording import frozen_at
from service.upstream.replay.server import Replay, replay_server
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES

USDC = chain.TOKENS[0].address
ORPHANED = chain.ORPHANED


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(frozen_at(FIXTURES))


@pytest.fixture
async def replay(clock: FakeClock) -> AsyncIterator[Replay]:
    async with replay_server(FIXTURES, clock, "shifted") as opened:
        yield opened


async def post(replay: Replay, body: bytes) -> dict[str, Any]:
    async with aiohttp.ClientSession() as http, http.post(replay.base("ethereum"), data=body) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "application/json"
        told: dict[str, Any] = msgspec.json.decode(await response.read())
        assert told.pop("jsonrpc") == "2.0"
        return told


async def ask(replay: Replay, method: str, *params: object) -> Any:
    told = await post(replay, msgspec.json.encode({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    assert told.pop("id") == 7
    assert len(told) == 1
    return told.get("result", told.get("error"))


async def head_of(replay: Replay, tag: str, *, with_transactions: bool = False) -> Any:
    return await ask(replay, "eth_getBlockByNumber", tag, with_transactions)


async def logs(replay: Replay, first: int, last: int, **wanted: object) -> Any:
    return await ask(replay, "eth_getLogs", {"fromBlock": hex(first), "toBlock": hex(last), **wanted})


def at_block(clock: FakeClock, number: int) -> None:
    """Move to the second in which a block is the newest."""
    clock.set_wall((chain.FIRST_S + (number - chain.FIRST_BLOCK) * BLOCK_S) * SECOND_MS)


async def test_a_block_comes_every_twelve_seconds_and_the_last_one_ends_the_recording(
    replay: Replay, clock: FakeClock
) -> None:
    assert await ask(replay, "eth_chainId") == "0x1"
    assert int(await ask(replay, "eth_blockNumber"), 16) == chain.LAST_BLOCK
    clock.set_wall(clock.now_ms() - 25 * SECOND_MS)
    assert int(await ask(replay, "eth_blockNumber"), 16) == chain.LAST_BLOCK - 3


async def test_a_block_names_its_parent_and_its_time_moves_with_the_recording(replay: Replay, clock: FakeClock) -> None:
    block = await head_of(replay, "latest")
    parent = await head_of(replay, hex(chain.LAST_BLOCK - 1))
    assert block["parentHash"] == parent["hash"] != block["hash"]
    assert int(block["timestamp"], 16) == int(parent["timestamp"], 16) + BLOCK_S == clock.now_ms() // SECOND_MS
    clock.set_wall(clock.now_ms() + 100 * DAY_MS)
    moved = await head_of(replay, hex(chain.LAST_BLOCK))
    assert moved["hash"] == block["hash"]
    assert int(moved["timestamp"], 16) == clock.now_ms() // SECOND_MS


async def test_a_block_after_the_head_is_null(replay: Replay) -> None:
    assert await head_of(replay, hex(chain.LAST_BLOCK + 1)) is None


async def test_a_log_is_written_as_nodes_write_it(replay: Replay, clock: FakeClock) -> None:
    found = await logs(replay, chain.LAST_BLOCK - 300, chain.LAST_BLOCK)
    for log in found:
        block = await head_of(replay, log["blockNumber"])
        assert log["blockHash"] == block["hash"]
        assert log["blockTimestamp"] == block["timestamp"]
        assert block["transactions"][int(log["transactionIndex"], 16)] == log["transactionHash"]
        assert log["removed"] is False
    assert len(found) > 20
    assert set(found[0]) == {
        "address", "topics", "data", "blockNumber", "transactionHash", "transactionIndex", "blockHash",
        "blockTimestamp", "logIndex", "removed",
    }  # fmt: skip


async def test_logs_are_filtered_by_address_and_by_topics_where_nothing_stands_for_anything(replay: Replay) -> None:
    first, last = chain.LAST_BLOCK - 1_999, chain.LAST_BLOCK
    everything = await logs(replay, first, last)
    sender = everything[-1]["topics"][1]
    other = next(log["topics"][1] for log in everything if log["topics"][1] != sender)
    wanted: dict[str, tuple[dict[str, object], Any]] = {
        "one address": ({"address": USDC.upper().replace("0X", "0x")}, lambda log: log["address"] == USDC),
        "addresses": (
            {"address": [USDC, chain.TOKENS[1].address]},
            lambda log: log["address"] in {USDC, chain.TOKENS[1].address},
        ),
        "the first topic": ({"topics": [chain.APPROVAL]}, lambda log: log["topics"][0] == chain.APPROVAL),
        "the second": (
            {"topics": [None, [sender, other]]},
            lambda log: log["topics"][1] in {sender, other},
        ),
        "both": (
            {"topics": [[chain.TRANSFER], sender]},
            lambda log: log["topics"][:2] == [chain.TRANSFER, sender],
        ),
        "an empty list": ({"topics": [[], sender]}, lambda log: log["topics"][1] == sender),
        "four topics": ({"topics": [None, None, None, None]}, lambda log: len(log["topics"]) == 4),
    }
    for name, (asked, is_wanted) in wanted.items():
        found = await logs(replay, first, last, **asked)
        assert found == [log for log in everything if is_wanted(log)], name
    assert await logs(replay, first, last, topics=[chain.APPROVAL, sender, None, None]) == []


async def test_the_newest_block_is_what_a_filter_means_without_a_range(replay: Replay, clock: FakeClock) -> None:
    at_block(clock, chain.FORK + ORPHANED)
    head = await logs(replay, chain.FORK + ORPHANED, chain.FORK + ORPHANED)
    assert head
    assert await ask(replay, "eth_getLogs", {}) == head
    assert await ask(replay, "eth_getLogs", {"fromBlock": "latest", "toBlock": "latest"}) == head


async def test_a_node_refuses_ranges_as_the_specification_and_public_nodes_do(replay: Replay) -> None:
    last = chain.LAST_BLOCK
    assert isinstance(await logs(replay, last - MOST_BLOCKS + 1, last), list)
    for first, until, said in (
        (last - MOST_BLOCKS, last, "exceed maximum block range: 2000"),
        (last, last - 1, "invalid block range params"),
        (last, last + 1, "block range extends beyond current head block"),
    ):
        assert await logs(replay, first, until) == {"code": -32_602, "message": said}


async def test_more_logs_than_a_public_node_tells_are_refused(clock: FakeClock, tmp_path: Path) -> None:
    metadata, files = read_set(FIXTURES)
    segment = msgspec.json.decode(files[SEGMENT_FILE], type=RecordedRange)
    many = [Log(chain.LAST_BLOCK, at, at, at, USDC, [chain.TRANSFER], "0x") for at in range(MOST_LOGS)]
    one = Log(chain.LAST_BLOCK - 1, 0, 0, MOST_LOGS, USDC, [chain.TRANSFER], "0x")
    files |= {SEGMENT_FILE: msgspec.json.encode(segment), f"{LOGS_FILE}.gz": pack([one, *many])}
    write_set(tmp_path, files, metadata)
    async with replay_server(tmp_path, clock, "frozen") as replay:
        assert len(await logs(replay, chain.LAST_BLOCK, chain.LAST_BLOCK)) == MOST_LOGS
        refused = await logs(replay, chain.LAST_BLOCK - 1, chain.LAST_BLOCK)
    assert refused == {"code": -32_005, "message": "query returned more than 10000 results"}


async def test_a_contract_says_what_it_was_recorded_to_say_and_reverts_on_everything_else(replay: Replay) -> None:
    async def call(to: str, data: str) -> Any:
        return await ask(replay, "eth_call", {"to": to, "data": data}, "latest")

    assert await call(USDC, chain.DECIMALS) == f"0x{6:064x}"
    # ABI: offset 32, length 4, "USDC" padded to a word
    assert await call(USDC, chain.SYMBOL) == f"0x{32:064x}{4:064x}{'55534443':0<64}"
    assert await call(chain.TOKENS[-1].address.upper().replace("0X", "0x"), chain.SYMBOL) == f"0x{'4d4b52':0<64}"
    assert await call(chain.NAMELESS.address, chain.SYMBOL) == {"code": 3, "message": "execution reverted"}
    assert await call(USDC, "0x18160ddd") == {"code": 3, "message": "execution reverted"}
    assert await call("0x" + "0" * 40, chain.SYMBOL) == "0x"


async def test_young_blocks_are_replaced_once_and_what_came_before_them_never(replay: Replay, clock: FakeClock) -> None:
    fork = chain.FORK

    async def seen(head: int) -> tuple[list[str], list[Any]]:
        at_block(clock, head)
        blocks = [await head_of(replay, hex(fork + at)) for at in range(ORPHANED + 1)]
        return [block["hash"] for block in blocks], await logs(replay, fork - 300, fork + ORPHANED)

    young, young_logs = await seen(fork + ORPHANED)
    settled, settled_logs = await seen(fork + ORPHANED + 1)
    assert young[0] == settled[0]
    assert not set(young[1:]) & set(settled)
    before = [[log for log in told if int(log["blockNumber"], 16) <= fork] for told in (young_logs, settled_logs)]
    assert before[0] == before[1] != []
    old = {log["transactionHash"]: log for log in young_logs if log not in before[0]}
    new = {log["transactionHash"]: log for log in settled_logs if log not in before[0]}
    assert len(old.keys() - new.keys()) == 1
    assert len(old.keys() & new.keys()) > 10
    assert all(old[tx]["blockNumber"] != new[tx]["blockNumber"] for tx in old.keys() & new.keys())
    again, again_logs = await seen(fork + ORPHANED + 500)
    assert (again, again_logs) == (settled, settled_logs)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", -32_700), (b"nonsense", -32_700), (b"[]", -32_700), (b'{"method":"\xff"}', -32_700),
        (b'{"id":1,"method":"eth_mining"}', -32_601),
        (b'{"id":1,"method":"eth_getLogs"}', -32_602),
        (b'{"id":1,"method":"eth_getLogs","params":[{"fromBlock":"1"}]}', -32_602),
        (b'{"id":1,"method":"eth_getLogs","params":[{"toBlock":"finalized"}]}', -32_602),
        (b'{"id":1,"method":"eth_call","params":[{"to":7}]}', -32_602),
    ],
)  # fmt: skip
async def test_what_is_no_question_is_refused_with_json_rpcs_codes(replay: Replay, body: bytes, told: int) -> None:
    answer = await post(replay, body)
    assert set(answer) == {"id", "error"}
    assert answer["error"]["code"] == told


async def test_a_set_without_a_chain_has_a_node_that_can_nothing(clock: FakeClock, tmp_path: Path) -> None:
    metadata, files = read_set(FIXTURES)
    write_set(tmp_path, {name: files[name] for name in files if name.startswith("hyperliquid/")}, metadata)
    async with replay_server(tmp_path, clock, "frozen") as replay:
        assert (await ask(replay, "eth_blockNumber"))["code"] == -32_601


def test_the_recorded_wallets_are_named_in_a_file_of_the_set() -> None:
    _, files = read_set(FIXTURES)
    assert files[WALLETS_FILE].count(b"[[wallet]]") == len(chain.WALLETS) == 10
