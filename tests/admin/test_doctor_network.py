"""`verdict admin doctor` asks nodes, facilitator and model."""

import json
import sqlite3
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from eth_account import Account
from msgspec.structs import replace

from service.clock import SystemClock
from service.payments.networks import NETWORKS
from service.storage.database import DATABASE
from service.upstream.replay.history import Mode
from service.upstream.replay.server import replay_server
from tests.admin.conftest import Look, Told, Verdict
from tests.chain.evm import ETHER, Evm, EvmError
from tests.chain.node import PASS, Node, serving_node
from tests.fakes.facilitator import Facilitator, facilitator
from tests.fakes.in_thread import in_thread
from tests.fakes.model import Answer, Model, chunk, hangs_after, model, sends, used, writes
from tests.upstream import faults
from tests.upstream.conftest import FIXTURES

WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"


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


def test_where_nobody_is_watched_no_node_is_asked(look: Look) -> None:
    told, found = look("wallets", wallets_rpc="http://127.0.0.1:1")
    assert (told.code, found["said"]) == (0, "no wallet is watched; no node is called")


def test_the_recorded_chain_needs_no_node(look: Look) -> None:
    told, found = look("wallets", source="fixtures")
    assert (told.code, found["said"]) == (0, "10 are watched on the recorded chain")


def test_nodes_that_follow_their_chain_and_tell_logs_are_sound(look: Look, verdict: Verdict, nodes: Nodes) -> None:
    verdict("admin", "wallets", "add", WALLET)
    told, found = look("wallets", wallets_rpc=f"{nodes.good},{nodes.good}")
    assert (told.code, found["findings"]) == (0, [])
    assert found["said"] == "1 are watched, and every node can follow them"


def test_what_is_wrong_with_a_node_is_said_by_its_place_and_never_by_its_address(
    look: Look, verdict: Verdict, nodes: Nodes
) -> None:
    verdict("admin", "wallets", "add", WALLET)
    urls = [nodes.good, nodes.late, nodes.mute, nodes.strange, "http://127.0.0.1:1/v2/a-key-to-be-hidden"]
    told, found = look("wallets", wallets_rpc=",".join(urls))
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


def test_a_file_of_wallets_that_cannot_be_used_is_found(look: Look, tmp_path: Path) -> None:
    told, found = look("wallets", wallets_file=str(tmp_path / "none.toml"))
    assert told.code == 1
    assert found["findings"][0].startswith("VERDICT_WALLETS_FILE: ")


def test_where_it_cannot_be_read_who_is_watched_no_node_is_asked(look: Look, data_dir: Path) -> None:
    with sqlite3.connect(data_dir / DATABASE) as connection:
        connection.execute("ALTER TABLE watched_wallets RENAME TO elsewhere")
    connection.close()
    told, found = look("wallets", wallets_rpc="http://127.0.0.1:1")
    assert (told.code, found["said"]) == (0, "the watched wallets cannot be read; no node is called")


KEY = "0x" + "0" * 63 + "7"
OPERATOR = Account.from_key(KEY).address


@pytest.fixture(scope="module")
def chain() -> Iterator[Node]:
    evm = Evm(lambda: SystemClock().now_ms() // 1_000, ether={OPERATOR: ETHER})
    with serving_node(evm) as node:
        yield node


@pytest.fixture
def node(chain: Node) -> Iterator[Node]:
    yield chain
    chain.fault = lambda _method, _parameters: PASS


@pytest.fixture
def settlement(look: Look, node: Node) -> Any:
    """What the doctor says of settlement, with settings of its own."""
    usual = {"settlement": "chain", "pay_to": OPERATOR, "rpc_url": node.url, "operator_key": KEY}

    def asked(**settings: str) -> tuple[Told, dict[str, Any]]:
        return look("settlement", **{name: value for name, value in {**usual, **settings}.items() if value})

    return asked


def answering(node: Node, method: str, answer: object) -> None:
    node.fault = lambda asked, _: answer if asked == method else PASS


def test_a_chain_that_can_settle_is_said_with_the_operators_gas(settlement: Any, node: Node) -> None:
    told, found = settlement()
    assert (told.code, found["findings"], found["remedy"]) == (0, [], None)
    assert found["said"].startswith(f"{OPERATOR} has 1 ETH, gas for ")
    assert "eth_sendRawTransaction" not in node.asked


def test_a_keystore_is_opened_as_the_service_opens_it(settlement: Any, tmp_path: Path) -> None:
    path = tmp_path / "operator.json"
    path.write_text(json.dumps(Account.encrypt(KEY, "hunter2", kdf="pbkdf2", iterations=1_000)))
    named = {"operator_key": "", "operator_keystore": str(path)}
    assert settlement(**named, operator_password="hunter2")[1]["findings"] == []
    told, found = settlement(**named, operator_password="another")
    assert told.code == 1
    assert found["said"] == "invalid setting"
    assert "VERDICT_OPERATOR_KEYSTORE" in found["findings"][0]
    assert "another" not in told.out


def test_an_operator_without_ether_is_found_with_the_address_to_send_it_to(settlement: Any) -> None:
    key = "0x" + "0" * 63 + "8"
    told, found = settlement(operator_key=key)
    assert (told.code, found["findings"]) == (1, ["the operator's account runs out of gas"])
    assert found["remedy"] == f"send ether to {Account.from_key(key).address}"


def test_a_node_of_another_chain_is_found(settlement: Any, node: Node) -> None:
    answering(node, "eth_chainId", "0x1")
    _, found = settlement()
    assert found["findings"] == ["VERDICT_RPC_URL is a node of chain 1, not 84532"]
    assert "VERDICT_RPC_URL" in found["remedy"]


def test_a_node_that_has_stopped_following_is_found(settlement: Any, node: Node) -> None:
    with node.held() as evm:
        block = evm.head.block
        age = SystemClock().now_ms() // 1_000 - block.header.timestamp
    stale = {"number": "0x1", "timestamp": hex(block.header.timestamp - 3_600 + age), "baseFeePerGas": "0x1"}
    answering(node, "eth_getBlockByNumber", stale)
    _, found = settlement()
    assert found["findings"] == ["the node's newest block is 60 minutes old"]


@pytest.mark.parametrize("answer", ["0x", "0x" + "00" * 32])
def test_a_token_that_payers_do_not_sign_for_is_found(settlement: Any, node: Node, answer: str) -> None:
    answering(node, "eth_call", answer)
    _, found = settlement()
    assert found["findings"] == [
        "the token at 0x036CbD53842c5426634e7929541eC2318f3dCF7e is not the one that payers sign for"
    ]


def test_gas_that_costs_more_than_the_cap_is_found(settlement: Any, node: Node) -> None:
    answering(node, "eth_maxPriorityFeePerGas", hex(30 * 10**9))
    _, found = settlement()
    assert found["findings"][0].endswith("gwei and VERDICT_GAS_CAP_GWEI is 20: nothing is settled")
    assert "allow more" in found["remedy"]


def test_a_node_that_does_not_answer_is_found_and_its_url_not_told(settlement: Any, node: Node) -> None:
    def fail(_method: str, _parameters: object) -> object:
        raise EvmError("rate limited")

    node.fault = fail
    _, found = settlement()
    assert found["said"] == "the node gives no answer"
    told, found = settlement(rpc_url="http://127.0.0.1:9/secret-key")
    assert told.code == 1
    assert "secret-key" not in told.out + told.err


@pytest.fixture
def beside() -> Iterator[Facilitator]:
    with in_thread(facilitator()) as it:
        yield it


@pytest.fixture
def remote(settlement: Any, beside: Facilitator) -> Any:
    named = {"settlement": "remote", "facilitator_url": beside.url, "operator_key": ""}
    return lambda **settings: settlement(**{**named, **settings})


def test_a_facilitator_that_settles_what_is_sold_is_good(remote: Any, beside: Facilitator) -> None:
    told, found = remote()
    assert (told.code, found["said"], found["findings"]) == (0, "the facilitator settles what is sold here", [])
    assert (beside.bearers, beside.asked, beside.verified) == ([None], [], 0)
    assert remote(facilitator_token="sesame")[1]["findings"] == []
    assert beside.bearers[1:] == ["Bearer sesame"]


def test_a_facilitator_of_other_payments_is_found(remote: Any, beside: Facilitator) -> None:
    async def another(_: web.Request) -> web.StreamResponse:
        kinds = [{"x402Version": 2, "scheme": "exact", "network": "eip155:84532"}, {"x402Version": 1, "scheme": "upto"}]
        return web.json_response({"kinds": [kinds[0], {**kinds[1], "network": "base-sepolia"}]})

    beside.supported = another
    told, found = remote()
    assert (told.code, found["findings"]) == (1, ["it does not settle `exact` on base-sepolia as x402 v1 has it"])
    assert "VERDICT_FACILITATOR_URL" in found["remedy"]


@pytest.mark.parametrize(
    ("status", "body", "finding"),
    [
        (401, "no", "no"),
        (302, "", "it says nothing"),
        (200, "<html>", "<html>"),
        (200, '{"kinds":' + "[" * 9_000, '{"kinds":' + "[" * 2_039),
    ],
)
def test_a_facilitator_that_does_not_say_what_it_settles_is_found(
    remote: Any, beside: Facilitator, status: int, body: str, finding: str
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body, headers={"Location": "http://127.0.0.1:9/"})

    beside.supported = refuse
    told, found = remote()
    assert (told.code, found["said"], found["findings"]) == (
        1,
        f"facilitator gave no usable answer (status {status})",
        [finding],
    )


def test_a_facilitator_that_is_not_there_is_found_and_its_token_not_told(remote: Any) -> None:
    told, found = remote(facilitator_url="http://127.0.0.1:9", facilitator_token="open-sesame")
    assert (told.code, found["findings"]) == (1, ["connection refused"])
    assert "sesame" not in told.out + told.err


def test_the_public_node_is_looked_at_where_the_operator_names_none(
    remote: Any, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = replace(NETWORKS["eip155:84532"], rpc_url=node.url)
    monkeypatch.setitem(NETWORKS, "eip155:84532", public)
    answering(node, "eth_chainId", "0x1")
    assert remote(rpc_url="")[1]["findings"] == ["VERDICT_RPC_URL is a node of chain 1, not 84532"]


def test_the_node_beside_a_facilitator_is_looked_at_too(remote: Any, node: Node) -> None:
    answering(node, "eth_chainId", "0x1")
    assert remote()[1]["findings"] == ["VERDICT_RPC_URL is a node of chain 1, not 84532"]


def test_a_facilitator_is_asked_with_the_token_that_it_wants_of_coinbases_keys(
    remote: Any, beside: Facilitator
) -> None:
    secret = b64encode(bytes(range(32)) + bytes(32)).decode()
    told, found = remote(cdp_key_id="id", cdp_key_secret="no key")
    assert (told.code, found["said"]) == (1, "invalid setting")
    assert remote(cdp_key_id="id", cdp_key_secret=secret)[1]["findings"] == []
    (bearer,) = beside.bearers
    assert str(bearer).startswith("Bearer eyJ")


LLM_KEY = "a-key-that-is-not-to-be-seen"


@pytest.fixture(scope="module")
def running() -> Iterator[Model]:
    with in_thread(model()) as it:
        yield it


@pytest.fixture
def looked(look: Look, running: Model) -> Any:
    """What the doctor says of the model, with settings of its own."""
    usual = {"llm_url": running.url, "llm_model": "small", "llm_key": LLM_KEY, "llm_seconds": "1"}

    def asked(answer: Answer, **settings: str) -> tuple[Told, dict[str, Any]]:
        running.answer = answer
        told, found = look("model", **{**usual, **settings})
        assert LLM_KEY not in told.out + told.err
        return told, found

    return asked


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (used(9, 1), "small answers and reports its usage"),
        (None, "small answers and does not report its usage, so the maximum is counted"),
    ],
)
def test_a_model_that_writes_is_sound(looked: Any, running: Model, usage: Any, said: str) -> None:
    told, found = looked(writes("ready", usage=usage))
    assert (told.code, found["findings"], found["said"]) == (0, [], said)
    assert running.asked[-1]["model"] == "small"
    assert running.headers[-1]["authorization"] == f"Bearer {LLM_KEY}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (faults.answer(401, LLM_KEY.encode()), "small: status 401"),
        (faults.html, "small: no stream of events"),
        (sends(chunk(" ", "stop")), "small: an empty answer"),
        (hangs_after(b""), "small: no whole answer within 1 s"),
    ],
    ids=["401", "HTML", "empty", "hangs"],
)
def test_a_model_that_does_not_write_is_found_with_what_to_do(looked: Any, answer: Answer, said: str) -> None:
    told, found = looked(answer)
    assert (told.code, found["findings"], found["said"]) == (1, [said], "it does not answer")
    assert "VERDICT_LLM_URL" in found["remedy"]


def test_nobody_there_is_found_and_its_address_not_told(looked: Any) -> None:
    told, found = looked(writes("ready"), llm_url="http://127.0.0.1:9/verysecretkey")
    assert found["findings"] == ["small: connection refused"]
    assert "verysecretkey" not in told.out + told.err
