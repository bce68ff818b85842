"""`verdict doctor` tries the way that payments take, on a chain that is real but for its node's manners."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from eth_account import Account
from msgspec.structs import replace

from service.clock import SystemClock
from service.payments.networks import NETWORKS
from tests.admin.conftest import Told, Verdict
from tests.chain.evm import ETHER, Evm, EvmError
from tests.chain.node import PASS, Node, serving_node
from tests.fakes.facilitator import Facilitator, facilitator
from tests.fakes.in_thread import in_thread

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
def settlement(verdict: Verdict, node: Node) -> Any:
    """What the doctor says of settlement, with settings of its own."""
    verdict("admin", "keys", "create", "--name", "first")

    def asked(**settings: str) -> tuple[Told, dict[str, Any]]:
        chosen = {"settlement": "chain", "pay_to": OPERATOR, "rpc_url": node.url, "operator_key": KEY, **settings}
        told = verdict("admin", "doctor", "--json", **{name: value for name, value in chosen.items() if value})
        (found,) = [check for check in told.json["checks"] if check["check"] == "settlement"]
        return told, found

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
