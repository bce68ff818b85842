"""Open payments are asked about on an operator's word, beside whatever else runs."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.payments import factory
from service.payments.audit import audit_payments
from service.payments.facilitators.port import Outcome, Settled, SettlementRefused, Unknown
from service.payments.networks import ChainId
from service.payments.records import PaymentRecord
from service.payments.settlement import Settlement
from service.storage.database import open_database
from service.storage.engine import connect
from tests.admin.conftest import Verdict
from tests.fakes.clock import FakeClock
from tests.payments.receipts import put, receipt_id

TRANSACTION = "0x" + "5" * 64
pytestmark = pytest.mark.usefixtures("somebody")


class Says:
    """A facilitator that says the same of every payment."""

    kind = "ledger"

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.asked: list[str] = []

    def __call__(self, _: ChainId) -> "Says":
        return self

    async def settle(self, record: PaymentRecord) -> Outcome:
        self.asked.append(record.receipt_id)
        return self.outcome


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    facilitator = Says(Settled(TRANSACTION))
    monkeypatch.setattr(factory, "LedgerFacilitator", facilitator)
    return facilitator


def write(data_dir: Path, *numbers: int, state: str = "settling", **changes: object) -> None:
    connection = connect(data_dir / "verdict.db")
    for number in numbers:
        put(connection, number, state=state, **changes)
    connection.close()


def findings(data_dir: Path) -> list[str]:
    async def look() -> list[str]:
        async with open_database(data_dir / "verdict.db", FakeClock()) as database:
            return await database.inspect(audit_payments)

    return asyncio.run(look())


@pytest.mark.promise("operator.payments")
def test_open_payments_are_asked_about_and_entered_with_receipt_and_usage(
    verdict: Verdict, data_dir: Path, says: Says
) -> None:
    write(data_dir, 1, 2)
    write(data_dir, 3, state="failed")
    told = verdict("admin", "payments", "reconcile")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[0].split() == ["ID", "STATE", "TRANSACTION", "OR", "REASON"]
    assert [line.split()[:2] for line in told.out.splitlines()[1:]] == [[receipt_id(n), "settled"] for n in (1, 2)]
    assert sorted(says.asked) == [receipt_id(1), receipt_id(2)]
    assert (
        verdict("admin", "payments", "show", receipt_id(1), "--json").json["receipt"]["receipt"]["transaction"]
        == TRANSACTION
    )
    assert findings(data_dir) == []
    assert max(map(len, told.out.splitlines())) <= 80


def test_one_that_stays_open_is_exit_code_1_and_says_what_stands_in_its_way(
    verdict: Verdict, data_dir: Path, says: Says
) -> None:
    says.outcome = Unknown("no answer in 30 s")
    write(data_dir, 1)
    told = verdict("admin", "payments", "reconcile")
    assert told.code == 1
    assert told.out.splitlines()[1].split(maxsplit=2) == [receipt_id(1), "settling", "no answer in 30 s"]
    assert told.err.endswith("1 still open: the service goes on asking; nothing is charged twice\n")
    assert verdict("admin", "payments", "reconcile", "--json").json["payments"] == [
        {"id": receipt_id(1), "state": "settling", "transaction": None, "reason": "no answer in 30 s"}
    ]


def test_a_single_payment_can_be_asked_about(verdict: Verdict, data_dir: Path, says: Says) -> None:
    says.outcome = SettlementRefused("invalid_exact_evm_payload_signature")
    write(data_dir, 1, 2)
    told = verdict("admin", "payments", "reconcile", receipt_id(2))
    assert told.code == 0
    assert says.asked == [receipt_id(2)]
    states = {row["id"]: row["state"] for row in verdict("admin", "payments", "list", "--json").json["payments"]}
    assert states == {receipt_id(1): "settling", receipt_id(2): "failed"}


@pytest.mark.parametrize("state", ["delivered", "failed"])
def test_nobody_is_asked_for_money_about_a_payment_that_is_not_open(
    verdict: Verdict, data_dir: Path, says: Says, state: str
) -> None:
    write(data_dir, 1, state=state)
    assert verdict("admin", "payments", "reconcile", receipt_id(1)).code == 0
    assert says.asked == []


@pytest.mark.parametrize("state", ["settling", "failed"])
def test_a_payment_whose_money_may_have_moved_since_is_looked_for(
    verdict: Verdict, data_dir: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    async def find(_: Settlement, record: PaymentRecord) -> PaymentRecord:
        return replace(record, state="settled", transaction=TRANSACTION)

    monkeypatch.setattr(Settlement, "resolve", find)
    write(data_dir, 1, state=state)
    (told,) = verdict("admin", "payments", "reconcile", receipt_id(1), "--json").json["payments"]
    assert (told["state"], told["transaction"]) == ("settled", TRANSACTION)
