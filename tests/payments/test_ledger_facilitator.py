"""Settlement without a chain: always the same answer for the same payment, and never for what could not be checked."""

from hashlib import sha256

import msgspec
import pytest

from service.payments.facilitators.ledger import LedgerFacilitator
from service.payments.facilitators.port import OTHER_CHAIN, Settled, SettlementRefused
from service.payments.records import Payment, PaymentRecord, Purchase
from tests.fakes.clock import START_MS
from tests.payments.signing import MAINNET, SEPOLIA, payment


def record(paid: Payment) -> PaymentRecord:
    purchase = Purchase(
        user_id=1, offer_id="coin.risk", method="GET", resource="https://a/b", request_hash="0", price=5_000
    )
    return PaymentRecord(
        id=1, receipt_id="rcp_1", state="settling", payment=paid, purchase=purchase, claimed_ms=START_MS
    )


@pytest.mark.promise("pay.ledger")
async def test_the_same_payment_settles_the_same_way_however_often_it_is_asked() -> None:
    paid = payment()
    facilitator = LedgerFacilitator(SEPOLIA)
    first = await facilitator.settle(record(paid))
    assert first == await facilitator.settle(record(paid)) == await LedgerFacilitator(SEPOLIA).settle(record(paid))
    named = f"verdict-ledgereip155:84532{paid.asset}{paid.payer}{paid.nonce}"
    assert first == Settled("0x" + sha256(named.encode()).hexdigest())
    assert facilitator.kind == "ledger"


async def test_two_payments_have_two_marks() -> None:
    facilitator = LedgerFacilitator(SEPOLIA)
    assert await facilitator.settle(record(payment())) != await facilitator.settle(record(payment()))


@pytest.mark.promise("pay.ledger")
async def test_a_contracts_signature_is_refused_because_nobody_can_check_it_here() -> None:
    paid = msgspec.structs.replace(payment(), signature="0x" + "ab" * 600)
    assert await LedgerFacilitator(SEPOLIA).settle(record(paid)) == SettlementRefused(
        "invalid_exact_evm_payload_signature"
    )


async def test_a_payment_of_the_chain_that_was_named_before_is_not_taken_for_settled() -> None:
    assert await LedgerFacilitator(MAINNET).settle(record(payment())) == OTHER_CHAIN
