"""A payment that was used elsewhere, presented in `chain` mode: whatever the node says, the chain decides.

Nodes put a contract's reason into the error's message, into its data as text, or ABI-encoded, or nowhere.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from service.payments.errors import NONCE_USED, NotSettledError
from service.payments.facilitators.port import Settled, SettlementRefused, Unknown
from service.payments.facilitators.token import EXPIRED, FAILED, NO_FUNDS, NO_SIGNATURE, encode_transfer
from service.payments.records import PaymentRecord
from service.payments.settlement import Settlement
from tests.chain.evm import EvmError
from tests.chain.node import PASS
from tests.chain.settling import PAYER, Settling, settling
from tests.chain.test_chain_facilitator import BYSTANDER, cancel, give_ether, send
from tests.payments.signing import PRICE, payment, wallet

USED_WORDS = "FiatTokenV2: authorization is used or canceled"
SPOKEN = f"execution reverted: {USED_WORDS}"


def error_string(said: str) -> bytes:
    """`Error(string)`, ABI-encoded."""
    words = said.encode()
    return bytes.fromhex("08c379a0") + (32).to_bytes(32) + len(words).to_bytes(32) + words + bytes(-len(words) % 32)


NODES: dict[str, Callable[[], dict[str, Any]]] = {
    "reason in the message only": lambda: {"code": -32000, "message": SPOKEN},
    "reason in the data, ABI-encoded": lambda: {
        "code": 3,
        "message": "execution reverted",
        "data": "0x" + error_string(USED_WORDS).hex(),
    },
    "reason in the data, as text": lambda: {"code": -32000, "message": "execution reverted", "data": USED_WORDS},
    "ABI behind a word, another code": lambda: {
        "code": -32015,
        "message": "VM execution error.",
        "data": "Reverted 0x" + error_string(USED_WORDS).hex(),
    },
    "data in an object": lambda: {
        "code": -32603,
        "message": "Internal",
        "data": {"message": f"reverted: {USED_WORDS}"},
    },
    "no reason": lambda: {"code": 3, "message": "execution reverted", "data": "0x"},
    "no sign of a revert": lambda: {"code": -32000, "message": "transaction failed"},
}


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Settling]:
    async with settling(tmp_path) as opened:
        give_ether(opened.evm, BYSTANDER)
        yield opened


async def resolved(it: Settling, record: PaymentRecord) -> PaymentRecord:
    """Have the payment settled, as the service does."""
    settlement = Settlement(it.shop.ledger, it.facilitator, it.chain_reader, it.clock)
    record = await settlement.settle(record)
    await settlement.close()
    return record


def refusing(it: Settling, said: dict[str, Any]) -> None:
    """Let the node say this where it would say why the token refuses a transfer."""

    def fault(method: str, parameters: list[Any]) -> Any:
        if method != "eth_call":
            return PASS
        try:
            return it.node.told(method, parameters)
        except EvmError:
            raise EvmError(said["message"], said["code"], said.get("data")) from None

    it.node.fault = fault


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("name", NODES)
async def test_a_payment_that_somebody_else_settled_a_moment_ago_is_credited(it: Settling, name: str) -> None:
    record = await it.record()
    theirs = send(it.evm, BYSTANDER, encode_transfer(record.payment))
    refusing(it, NODES[name]())
    now = await resolved(it, record)
    assert (now.state, now.transaction, it.moved()) == ("settled", theirs, PRICE)


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("name", NODES)
async def test_a_payment_that_paid_long_before_its_request_is_refused_with_the_transaction_that_used_it(
    it: Settling, name: str
) -> None:
    paid = payment(now_ms=it.clock.at_ms, validBefore=str(it.clock.at_ms // 1_000 + 4_000))
    theirs = send(it.evm, BYSTANDER, encode_transfer(paid))
    await it.clock.advance(3_900)
    it.evm.mine()
    refusing(it, NODES[name]())
    now = await resolved(it, await it.record(paid))
    assert (now.state, now.reason, now.transaction) == ("failed", NONCE_USED, theirs)
    said = NotSettledError(now)
    assert (said.status, said.details) == (402, {"reason": NONCE_USED})
    assert theirs in said.message
    assert "othing was charged" not in said.message


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("name", NODES)
async def test_a_cancelled_payment_is_refused_as_used_elsewhere_or_cancelled(it: Settling, name: str) -> None:
    record = await it.record()
    cancel(it.evm, record.payment)
    refusing(it, NODES[name]())
    now = await resolved(it, record)
    assert (now.state, now.reason, now.transaction) == ("failed", NONCE_USED, None)
    assert "already used elsewhere, or its payer cancelled it" in NotSettledError(now).message
    assert "othing was charged" not in NotSettledError(now).message


@pytest.mark.promise("pay.honest-refusal")
@pytest.mark.parametrize("name", NODES)
async def test_an_unfunded_payer_is_told_so_whatever_the_node_says(it: Settling, name: str) -> None:
    record = await it.record(payment(wallet(2), now_ms=it.clock.at_ms))
    refusing(it, NODES[name]() | {"message": "execution failed", "data": None})
    now = await resolved(it, record)
    assert (now.state, now.reason) == ("failed", NO_FUNDS)
    assert NotSettledError(now).message == "The payer's token balance is below the price. Nothing was charged."


@pytest.mark.promise("pay.honest-refusal")
async def test_an_expired_payment_is_refused_as_expired(it: Settling) -> None:
    record = await it.record()
    await it.clock.advance(200)
    it.evm.mine()
    refusing(it, {"code": -32000, "message": "execution failed"})
    now = await resolved(it, record)
    assert (now.state, now.reason) == ("failed", EXPIRED)
    assert NotSettledError(now).message == "The authorization has expired. Nothing was charged."


async def test_a_payment_that_is_not_valid_yet_is_known_by_the_newest_block(it: Settling) -> None:
    now_s = it.clock.at_ms // 1_000
    early = payment(now_ms=it.clock.at_ms, validAfter=str(now_s + 3_600), validBefore=str(now_s + 7_200))
    record = await it.record(early)
    refusing(it, {"code": -32000, "message": "execution failed"})
    assert await it.facilitator.settle(record) == Unknown("invalid_exact_evm_payload_authorization_valid_after")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            {"code": 3, "message": "x", "data": "0x" + error_string("FiatTokenV2: invalid signature").hex()},
            NO_SIGNATURE,
        ),
        ({"code": 3, "message": "execution reverted", "data": "0x77c207f4"}, NO_SIGNATURE),  # ERC3009InvalidSignature()
        ({"code": 3, "message": "execution reverted", "data": "0x01020304"}, FAILED),
        ({"code": 3, "message": "execution reverted: Pausable: paused"}, FAILED),
    ],
)
async def test_what_the_state_does_not_explain_is_read_from_the_words(
    it: Settling, said: dict[str, Any], reason: str
) -> None:
    record = await it.record()

    def fault(method: str, parameters: list[Any]) -> Any:
        if method == "eth_call" and parameters[0]["data"].startswith("0xe3ee160e"):
            raise EvmError(said["message"], said["code"], said.get("data"))
        return PASS

    it.node.fault = fault
    assert await it.facilitator.settle(record) == SettlementRefused(reason)
    it.node.fault = lambda *_: PASS
    assert isinstance(await it.facilitator.settle(record), Settled), "nothing had been sent"


async def test_a_node_that_fails_on_its_own_refuses_nobody(it: Settling) -> None:
    def fault(method: str, parameters: list[Any]) -> Any:
        if method == "eth_call" and parameters[0]["data"].startswith("0xe3ee160e"):
            raise EvmError("limit exceeded", -32005)
        return PASS

    it.node.fault = fault
    record = await it.record()
    assert await it.facilitator.settle(record) == Unknown("eth_call: limit exceeded")
    assert it.evm.dollars(PAYER.address) > 0
