"""What an operator sees of payments, and gives to an accountant."""

import csv
import io
import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from service.access.secrets import open_secrets
from service.storage.engine import connect
from service.wire.payment import Receipt
from tests.admin.conftest import Verdict
from tests.fakes.clock import START_MS
from tests.payments.receipts import RECEIPT, put, receipt_id


@pytest.fixture(autouse=True)
def _some(verdict: Verdict, data_dir: Path) -> None:
    """Four payments of two users, one of them open and one failed."""
    verdict("admin", "keys", "create", "--name", "first")
    with closing(connect(data_dir / "verdict.db")) as connection:
        put(connection, 1)
        put(connection, 2, user_id=123_456, offer_id="walkforward", price=50_000, value=50_000, state="settled")
        put(connection, 3, offer_id="category.sentiment", state="settling", reason="facilitator: no answer in 30 s")
        put(connection, 4, state="failed")


@pytest.mark.promise("operator.payments")
def test_payments_are_listed_newest_first_with_what_they_brought_in(verdict: Verdict) -> None:
    told = verdict("admin", "payments", "list")
    assert told.code == 0
    assert told.out == (
        "ID                          STATE      USER    USDC   CLAIMED           ROUTE\n"
        "rcp_0000000000000000000004  failed     7       0.005  2025-07-25 12:00  coin.ri…\n"
        "rcp_0000000000000000000003  settling   7       0.005  2025-07-25 12:00  categor…\n"
        "rcp_0000000000000000000002  settled    123456  0.05   2025-07-25 12:00  walkfor…\n"
        "rcp_0000000000000000000001  delivered  7       0.005  2025-07-25 12:00  coin.ri…\n"
        "\n"
        "4 payments, 2 of them settled: 0.055 USDC.\n"
    )
    assert max(map(len, told.out.splitlines())) <= 80


def test_a_list_can_be_of_one_user_and_of_one_state(verdict: Verdict) -> None:
    def ids(*options: str) -> list[str]:
        return [row["id"] for row in verdict("admin", "payments", "list", "--json", *options).json["payments"]]

    assert ids("--user", "123456") == [receipt_id(2)]
    assert ids("--state", "failed") == [receipt_id(4)]
    assert ids("--user", "7", "--state", "settling") == [receipt_id(3)]
    assert ids("--user", "8") == []
    assert verdict("admin", "payments", "list", "--user", "8").out == "There are no such payments.\n"
    assert verdict("admin", "payments", "list", "--user", "123456").out.endswith(
        "\n1 payment, 1 of them settled: 0.05 USDC.\n"
    )


@pytest.mark.promise("operator.payments")
def test_a_settled_payment_is_shown_as_its_receipt(verdict: Verdict, data_dir: Path) -> None:
    told = verdict("admin", "payments", "show", receipt_id(1))
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0] == "state         delivered"
    assert lines[1:20] == [f"{name:14}{value}" for name, value in msgspec.to_builtins(RECEIPT).items()]
    assert max(map(len, lines)) <= 80
    document = verdict("admin", "payments", "show", receipt_id(1), "--json").json
    assert document["payment"]["state"] == "delivered"
    assert document["receipt"]["receipt"] == msgspec.to_builtins(RECEIPT)
    assert document["receipt"]["signer"] == Account.from_key(open_secrets(data_dir).receipt_key).address
    assert document["receipt"]["signature"] in told.out.replace("\n", "").replace(" ", "")


def test_a_payment_without_receipt_is_shown_with_why(verdict: Verdict) -> None:
    told = verdict("admin", "payments", "show", receipt_id(3))
    assert told.out.startswith("state         settling (facilitator: no answer in 30 s)\nid            rcp_")
    assert "transaction   -\n" in told.out
    assert verdict("admin", "payments", "show", receipt_id(3), "--json").json["receipt"] is None


@pytest.mark.promise("operator.payments")
def test_an_export_holds_every_receipt_oldest_first(verdict: Verdict) -> None:
    for option in ((), ("--csv",)):
        rows = list(csv.DictReader(io.StringIO(verdict("admin", "payments", "export", *option).out)))
        assert list(rows[0]) == list(Receipt.__struct_encode_fields__)
        assert [(row["id"], row["price_usdc"], row["user_id"]) for row in rows] == [
            (receipt_id(1), "0.005", "7"),
            (receipt_id(2), "0.05", "123456"),
        ]


def test_an_export_as_json_holds_signatures_that_any_wallets_code_can_check(verdict: Verdict) -> None:
    receipts = verdict("admin", "payments", "export", "--json").json["receipts"]
    assert [signed["receipt"]["id"] for signed in receipts] == [receipt_id(1), receipt_id(2)]
    for signed in receipts:
        text = json.dumps(signed["receipt"], sort_keys=True, separators=(",", ":"))
        assert Account.recover_message(encode_defunct(text=text), signature=signed["signature"]) == signed["signer"]


@pytest.mark.promise("pay.false-report-stops")
def test_a_stopped_facilitator_is_found_by_the_doctor_and_resumed_by_a_command(
    verdict: Verdict, data_dir: Path
) -> None:
    with closing(connect(data_dir / "verdict.db")) as connection:
        connection.execute(
            "INSERT INTO payment_stops VALUES ('x402.example.org', ?, ?, '0xab')", (START_MS, receipt_id(1))
        )
    checks = {check["check"]: check for check in verdict("admin", "doctor", "--json").json["checks"]}
    (finding,) = checks["facilitator"]["findings"]
    assert finding == (
        f"payments through x402.example.org are stopped since 2025-07-25T12:00:00.000Z: it reported {receipt_id(1)} "
        "as settled by 0xab, and the chain does not show that"
    )
    assert "verdict admin payments resume" in checks["facilitator"]["remedy"]
    told = verdict("admin", "payments", "resume")
    assert (told.code, told.out.splitlines()[1].split()) == (
        0,
        ["x402.example.org", "2025-07-25T12:00:00.000Z", receipt_id(1)],
    )
    assert max(map(len, told.out.splitlines())) <= 80
    assert verdict("admin", "payments", "resume").out == "No facilitator is stopped.\n"
    assert verdict("admin", "payments", "resume", "--json").json == {"resumed": []}


@pytest.mark.promise("pay.reports-checked")
def test_reports_that_cannot_be_checked_are_found_by_the_doctor(verdict: Verdict, data_dir: Path) -> None:
    with closing(connect(data_dir / "verdict.db")) as connection:
        ((row_id,),) = connection.execute("SELECT id FROM payments WHERE receipt_id = ?", (receipt_id(1),)).fetchall()
        connection.execute("INSERT INTO unchecked_settlements VALUES (?, 0)", (row_id,))
    checks = {check["check"]: check for check in verdict("admin", "doctor", "--json").json["checks"]}
    assert checks["facilitator"]["findings"] == [
        "1 reported settlements could not be checked on the chain within a minute"
    ]
    assert "VERDICT_RPC_URL" in checks["facilitator"]["remedy"]
