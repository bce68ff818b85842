"""`verdict doctor` tries the way that payments take, on a chain that is real but for its node's manners."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from service.clock import SystemClock
from tests.chain.evm import ETHER, Evm, EvmError
from tests.chain.node import PASS, Node, serving_node
from tests.operator.conftest import Told, Verdict

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
    verdict("keys", "create", "--name", "first")

    def asked(**settings: str) -> tuple[Told, dict[str, Any]]:
        chosen = {"settlement": "chain", "pay_to": OPERATOR, "rpc_url": node.url, "operator_key": KEY, **settings}
        told = verdict("doctor", "--json", **{name: value for name, value in chosen.items() if value})
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
    assert found["said"] == "the operator's key cannot be used"
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
