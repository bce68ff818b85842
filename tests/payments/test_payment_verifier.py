"""Admission: what is refused before the work, and what is only unavailable."""

from typing import cast

import pytest

from service.errors import ServiceError
from service.payments.checkout import PaymentVerifier
from service.payments.errors import NONCE_USED, PaymentRefusedError
from service.payments.facilitators.port import Cancelled, Settled, SettlementRefused, Unknown, Unused
from service.payments.facilitators.remote import RemoteFacilitator
from service.payments.facilitators.token import NO_FUNDS
from service.payments.records import PaymentRecord
from service.payments.settlement_checks import FacilitatorStop, PaymentStop
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.payments.test_remote import TRANSACTION, record

POOR = SettlementRefused(NO_FUNDS, lasting=False)
Sight = Settled | Unused | Cancelled | Unknown


class Saying:
    """A facilitator and a chain, each with one answer."""

    def __init__(self, verified: SettlementRefused | Unknown | None, sight: Sight) -> None:
        self.verified = verified
        self.sight = sight
        self.asked: list[str] = []

    async def verify(self, _: PaymentRecord) -> SettlementRefused | Unknown | None:
        self.asked.append("verify")
        return self.verified

    async def look(self, _: PaymentRecord) -> Sight:
        self.asked.append("look")
        return self.sight


def admission(saying: Saying, stop: PaymentStop | None = None) -> PaymentVerifier:
    stopped = FacilitatorStop(cast(Database, None), "x402.example.org", FakeClock())
    stopped.current = stop
    return PaymentVerifier(cast(RemoteFacilitator, saying), saying, stopped)


@pytest.mark.promise("pay.verify-first")
async def test_a_good_payment_is_admitted_without_asking_the_chain() -> None:
    saying = Saying(None, Unknown("down"))
    await admission(saying).check(record())
    assert saying.asked == ["verify"]


@pytest.mark.promise("pay.verify-first")
@pytest.mark.parametrize(
    ("sight", "reason", "words"),
    [
        (Unused(0), NO_FUNDS, "The payer's token balance is below the price. Nothing was charged."),
        (Cancelled(), NONCE_USED, "This authorization was already used elsewhere, or its payer cancelled it."),
        (Cancelled(TRANSACTION), NONCE_USED, f"Transaction {TRANSACTION} used this authorization before this request"),
    ],
)
async def test_a_payment_that_is_refused_keeps_the_reason_that_the_chain_supports(
    sight: Sight, reason: str, words: str
) -> None:
    with pytest.raises(PaymentRefusedError) as refused:
        await admission(Saying(POOR, sight)).check(record())
    assert refused.value.reason == reason
    assert refused.value.message.startswith(words)


@pytest.mark.promise("pay.honest-refusal")
async def test_a_payment_that_is_refused_though_its_money_has_arrived_is_worked_for() -> None:
    await admission(Saying(POOR, Settled(TRANSACTION))).check(record())


@pytest.mark.promise("pay.verify-first")
@pytest.mark.parametrize("verified", [POOR, Unknown("no answer")])
async def test_a_facilitator_or_a_chain_without_an_answer_is_unavailable(verified: SettlementRefused | Unknown) -> None:
    with pytest.raises(ServiceError) as unavailable:
        await admission(Saying(verified, Unknown("down"))).check(record())
    assert (unavailable.value.code, unavailable.value.headers["Retry-After"]) == ("UNAVAILABLE", "2")
    assert "No settlement was attempted" in unavailable.value.message


@pytest.mark.promise("pay.false-report-stops")
async def test_nobody_is_asked_while_payments_are_stopped() -> None:
    saying = Saying(None, Unused(0))
    with pytest.raises(ServiceError, match="Payments are stopped") as unavailable:
        await admission(saying, PaymentStop("x402.example.org", 1, "rcp_1", None)).check(record())
    assert (unavailable.value.status, saying.asked) == (503, [])
