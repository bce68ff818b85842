"""Whom a service has itself paid is remembered: it cannot be changed, or moved to real money, behind anybody's back."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.client.answer import RawAnswer
from service.client.paying.terms import Payee, UnpaidError, known_payee_only
from tests.client.paying.stand import ASKED, PAYEE, URL, Stand, asking, payment_in, refused, sold
from tests.payments.signing import MAINNET, row

PAYEES = "payees.json"
OTHER = "0x3333333333333333333333333333333333333333"


def unasked(stand: Stand, due: Any = None) -> RawAnswer:
    """Buy as `--yes` does, and the tools' server."""
    return stand.buyer()._replace(agree=known_payee_only).buy(due or asking(), stand.send, stand)


def paid(stand: Stand) -> list[str]:
    return [payment_in(headers)["payload"]["authorization"]["to"] for headers in stand.sent]


def test_the_first_payee_of_a_service_is_taken_and_remembered(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    unasked(stand)
    assert paid(stand) == [PAYEE, PAYEE]
    assert stand.store.payee(URL) == Payee("eip155:84532", PAYEE)


def test_unasked_another_payee_is_not_paid(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    with pytest.raises(UnpaidError, match=f"{PAYEE}.* wants it at {OTHER}.*without --yes.*nothing was paid"):
        unasked(stand, asking(row(pay_to=OTHER)))
    assert (paid(stand), stand.opened, stand.store.spent_today()) == ([PAYEE], 1, 5_000)


def test_unasked_nobody_goes_from_play_money_to_real_money(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    with pytest.raises(UnpaidError, match="on Base: real money"):
        unasked(stand, asking(row(pay_to=PAYEE, network=MAINNET)))
    assert paid(stand) == [PAYEE]


def test_whoever_is_asked_sees_the_old_payee_and_may_agree_to_the_new_one(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    due = asking(row(pay_to=OTHER))
    stand.buy(due)
    (bill,) = stand.agreed
    assert (bill.before, bill.terms.pay_to) == (Payee("eip155:84532", PAYEE), OTHER)
    unasked(stand, due)
    assert paid(stand) == [PAYEE, OTHER, OTHER]


def test_a_payee_that_nobody_agreed_to_is_not_remembered(tmp_path: Path) -> None:
    def no(_bill: object) -> None:
        raise UnpaidError("no")

    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError):
        stand.buyer()._replace(agree=no).buy(asking(), stand.send, stand)
    assert stand.store.payee(URL) is None


def test_another_service_has_a_payee_of_its_own(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    elsewhere = ASKED._replace(url="http://127.0.0.1:8403")
    unasked(stand, asking(row(pay_to=OTHER), asked=elsewhere))
    unasked(stand)
    assert paid(stand) == [PAYEE, OTHER, PAYEE]


def test_a_payee_that_is_changed_between_the_quote_and_the_payment_is_not_paid(tmp_path: Path) -> None:
    stand = Stand(tmp_path, refused(402, "pay somebody else"))
    stand.script = [asking(row(pay_to=OTHER))]
    with pytest.raises(UnpaidError, match="refused the payment"):
        unasked(stand)
    assert paid(stand) == [PAYEE]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"payees": []}', '{"payees": {"x": 1}}',
                                     '{"payees": {"x": ["a", 1]}}', '{"payees": {"x": ["a"]}}'])  # fmt: skip
def test_where_it_is_not_known_who_was_paid_nobody_is(tmp_path: Path, content: str) -> None:
    stand = Stand(tmp_path, sold())
    stand.store.folder.mkdir()
    (stand.store.folder / PAYEES).write_text(content)
    with pytest.raises(UnpaidError, match=r"payees\.json is not as it was written"):
        stand.buy()
    assert (stand.sent, stand.opened) == ([], 0)


def test_what_is_remembered_is_not_written_anew_each_time(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    unasked(stand)
    path = stand.store.folder / PAYEES
    assert json.loads(path.read_text()) == {"payees": {URL: ["eip155:84532", PAYEE]}}
    before = path.stat().st_ino
    unasked(stand)
    assert path.stat().st_ino == before
