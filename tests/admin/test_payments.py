"""What an operator sees of payments, gives to an accountant, and asks facilitators about."""

import asyncio
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from msgspec.structs import replace

from service.access.secrets import open_secrets
from service.payments import factory
from service.payments.audit import audit_payments
from service.payments.facilitators.port import Outcome, Settled, SettlementRefused, Unknown
from service.payments.networks import ChainId
from service.payments.records import PaymentRecord
from service.payments.settlement import Settlement
from service.storage.database import open_database
from service.wire.payment import Receipt
from tests.admin.conftest import Admin, Look, opened
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.receipts import RECEIPT, put, receipt_id

TRANSACTION = "0x" + "5" * 64


@pytest.fixture
def some(used: Path) -> Path:
    """Four payments of two users, one of them open and one failed."""
    with opened(used) as connection:
        put(connection, 1)
        put(connection, 2, user_id=123_456, offer_id="walkforward", price=50_000, value=50_000, state="settled")
        put(connection, 3, offer_id="category.sentiment", state="settling", reason="facilitator: no answer in 30 s")
        put(connection, 4, state="failed")
    return used


@pytest.mark.promise("operator.payments")
def test_payments_are_listed_newest_first_with_what_they_brought_in(admin: Admin, some: Path) -> None:
    assert admin("payments list", terminal=True).out == (
        "ID                          STATE      USER    USDC   CLAIMED           ROUTE\n"
        "rcp_0000000000000000000004  failed     7       0.005  2025-07-25 12:00  coin.ri…\n"
        "rcp_0000000000000000000003  settling   7       0.005  2025-07-25 12:00  categor…\n"
        "rcp_0000000000000000000002  settled    123456  0.05   2025-07-25 12:00  walkfor…\n"
        "rcp_0000000000000000000001  delivered  7       0.005  2025-07-25 12:00  coin.ri…\n"
        "\n"
        "4 payments, 2 of them settled: 0.055 USDC.\n"
    )
    for options, numbers in (
        ("--user 123456", [2]), ("--state failed", [4]), ("--user 7 --state settling", [3]), ("--user 8", [])
    ):  # fmt: skip
        found = admin(f"payments list --json {options}").json["payments"]
        assert [row["id"] for row in found] == [receipt_id(number) for number in numbers]
    assert admin("payments list --user 8").out.startswith("There are no such payments.\n")


@pytest.mark.promise("operator.payments")
def test_a_payment_is_shown_as_its_receipt_or_with_why_it_has_none(admin: Admin, some: Path) -> None:
    lines = admin("payments show", receipt_id(1)).out.splitlines()
    assert lines[0] == "state         delivered"
    assert lines[1:20] == [f"{name:14}{value}" for name, value in msgspec.to_builtins(RECEIPT).items()]
    assert max(map(len, lines)) <= 80
    document = admin("payments show --json", receipt_id(1)).json
    assert (document["payment"]["state"], document["receipt"]["receipt"]) == ("delivered", msgspec.to_builtins(RECEIPT))
    assert document["receipt"]["signer"] == Account.from_key(open_secrets(some).receipt_key).address
    assert document["receipt"]["signature"] in "".join(lines).replace(" ", "")
    told = admin("payments show", receipt_id(3)).out
    assert told.startswith("state         settling (facilitator: no answer in 30 s)\nid            rcp_")
    assert "transaction   -\n" in told
    assert admin("payments show --json", receipt_id(3)).json["receipt"] is None
    refused = admin("payments show rcp_0")
    assert (refused.code, "There is no payment rcp_0." in refused.err) == (1, True)


@pytest.mark.promise("operator.payments")
def test_an_export_holds_every_receipt_oldest_first_and_signatures_in_json(admin: Admin, some: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(admin("payments export").out)))
    assert list(rows[0]) == list(Receipt.__struct_encode_fields__)
    found = [(row["id"], row["price_usdc"], row["user_id"]) for row in rows]
    assert found == [(receipt_id(1), "0.005", "7"), (receipt_id(2), "0.05", "123456")]
    receipts = admin("payments export --json").json["receipts"]
    assert [signed["receipt"]["id"] for signed in receipts] == [receipt_id(1), receipt_id(2)]
    for signed in receipts:
        text = json.dumps(signed["receipt"], sort_keys=True, separators=(",", ":"))
        assert Account.recover_message(encode_defunct(text=text), signature=signed["signature"]) == signed["signer"]


@pytest.mark.promise("pay.false-report-stops", "pay.reports-checked")
def test_false_and_unchecked_reports_are_found_and_payments_resumed(admin: Admin, look: Look, some: Path) -> None:
    with opened(some) as connection:
        ((row_id,),) = connection.execute("SELECT id FROM payments WHERE receipt_id = ?", (receipt_id(1),)).fetchall()
        connection.execute("INSERT INTO unchecked_settlements VALUES (?, 0)", (row_id,))
        stop = "INSERT INTO payment_stops VALUES ('x402.example.org', ?, ?, '0xab')"
        connection.execute(stop, (START_MS, receipt_id(1)))
    found = look("facilitator")[1]
    (said,) = found["findings"]
    assert said.startswith(
        "Payments through x402.example.org have been stopped since 2025-07-25T12:00:00.000Z: it reported"
    )
    assert said.endswith(f"{receipt_id(1)} as settled by 0xab, but the chain does not show that.")
    assert "verdict admin payments resume" in found["remedy"]
    told = admin("payments resume")
    row = ["x402.example.org", "2025-07-25T12:00:00.000Z", receipt_id(1)]
    assert (told.code, told.out.splitlines()[1].split()) == (0, row)
    assert max(map(len, told.out.splitlines())) <= 80
    assert admin("payments resume").out.startswith("No facilitator is stopped.\n")
    assert admin("payments resume --json").json == {"resumed": []}
    found = look("facilitator")[1]
    assert found["findings"] == ["1 report of a settlement could not be checked on the chain within a minute."]
    assert "VERDICT_RPC_URL" in found["remedy"]


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


REFUSED, OPEN = SettlementRefused("invalid_exact_evm_payload_signature"), Unknown("no answer in 30 s")


@pytest.mark.promise("operator.payments")
@pytest.mark.parametrize(
    ("outcome", "named", "asked", "code", "states"),
    [
        (Settled(TRANSACTION), None, [1, 2], 0, ["settled", "settled", "failed", "delivered"]),
        (OPEN, None, [1, 2], 1, ["settling", "settling", "failed", "delivered"]),
        (REFUSED, 2, [2], 0, ["settling", "failed", "failed", "delivered"]),
        (Settled(TRANSACTION), 3, [], 0, ["settling", "settling", "failed", "delivered"]),
    ],
)
def test_open_payments_are_asked_about_and_no_other_is_paid_again(
    admin: Admin, used: Path, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, named: int | None,
    asked: Sequence[int], code: int, states: Sequence[str],
) -> None:  # fmt: skip
    says = Says(outcome)
    monkeypatch.setattr(factory, "LedgerFacilitator", says)
    with opened(used) as connection:
        for number, state in enumerate(("settling", "settling", "failed", "delivered"), 1):
            put(connection, number, state=state)
    told = admin("payments reconcile", *([receipt_id(named)] if named else []), terminal=True)
    assert told.code == code
    assert sorted(says.asked) == [receipt_id(number) for number in asked]
    rows = admin("payments list --json").json["payments"]
    assert [row["state"] for row in reversed(rows)] == list(states)
    left = "2 payments are still open. The service keeps asking about open payments. Nothing is charged twice.\n"
    assert told.err == (left if code else "")
    assert told.out.splitlines()[0].split() == ["ID", "STATE", "TRANSACTION", "OR", "REASON"]
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("state", "is_asked"), [("settling", True), ("failed", True), ("settled", False), ("delivered", False)]
)
def test_only_a_payment_whose_outcome_may_have_changed_is_asked_about(
    admin: Admin, used: Path, monkeypatch: pytest.MonkeyPatch, state: str, is_asked: bool
) -> None:
    asked = []

    async def resolve(_: Settlement, record: PaymentRecord) -> PaymentRecord:
        asked.append(record.state)
        return replace(record, state="settled", transaction=TRANSACTION)

    monkeypatch.setattr(Settlement, "resolve", resolve)
    with opened(used) as connection:
        put(connection, 1, state=state)
    (found,) = admin("payments reconcile --json", receipt_id(1)).json["payments"]
    assert asked == [state] * is_asked
    assert found["state"] == ("settled" if is_asked else state)


def test_what_reconciling_finds_is_entered_with_receipt_and_usage(
    admin: Admin, used: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def findings() -> list[str]:
        async with open_database(used / "verdict.db", FakeClock()) as database:
            return await database.inspect(audit_payments)

    says = Says(OPEN)
    monkeypatch.setattr(factory, "LedgerFacilitator", says)
    with opened(used) as connection:
        put(connection, 1, state="settling")
    row: dict[str, Any] = {"id": receipt_id(1), "state": "settling", "transaction": None, "reason": "no answer in 30 s"}
    assert admin("payments reconcile --json").json["payments"] == [row]
    says.outcome = Settled(TRANSACTION)
    row |= {"state": "settled", "transaction": TRANSACTION, "reason": None}
    assert admin("payments reconcile --json").json["payments"] == [row]
    receipt = admin("payments show --json", receipt_id(1)).json["receipt"]["receipt"]
    assert receipt["transaction"] == TRANSACTION
    assert asyncio.run(findings()) == []
    assert admin("payments reconcile").out.startswith("No payment is open: the outcome of each is known.\n")
    assert says.asked == [receipt_id(1)] * 2
