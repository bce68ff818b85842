"""One signature for one request, whatever the service says and whenever either side ends."""

from pathlib import Path
from typing import Any

import pytest

from service.client.answer import RefusedError, UnreadableAnswerError
from service.client.paying.terms import Ceilings, OpenPaymentError, UnpaidError
from tests.client.paying.stand import (
    ASKED,
    BODY,
    NAME,
    PAYEE,
    URL,
    Stand,
    answered,
    asking,
    lost,
    payment_in,
    refused,
    sold,
)
from tests.fakes.clock import START_MS
from tests.payments.signing import MAINNET, row

WINDOW_S = 60
SETTLING_S = 60


def signatures(stand: Stand) -> list[str]:
    return [payment_in(headers)["payload"]["signature"] for headers in stand.sent]


def test_a_call_is_paid_once_agreed_to_and_told_with_its_receipt(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    assert stand.buy().body == BODY
    (bill,) = stand.agreed
    assert (bill.terms.amount, bill.terms.pay_to, bill.spent) == (5_000, PAYEE, 0)
    assert (bill.what, bill.url) == ("GET /api/cli/coin/risk/BTC", URL)
    assert stand.told == [f"paid 0.005 USDC on eip155:84532 to {PAYEE}; receipt {NAME}"]
    assert (len(stand.sent), stand.opened) == (1, 1)
    assert [set(headers) for headers in stand.sent] == [{"PAYMENT-SIGNATURE"}]
    assert (stand.store.opened(), stand.store.spent_today()) == ([], 5_000)


def test_the_next_identical_call_is_another_purchase_with_a_signature_of_its_own(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy()
    stand.buy()
    assert len(set(signatures(stand))) == 2
    assert [bill.spent for bill in stand.agreed] == [0, 5_000]


def test_who_does_not_agree_signs_nothing(tmp_path: Path) -> None:
    def no(_bill: object) -> None:
        raise UnpaidError("no")

    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError):
        stand.buyer()._replace(agree=no).buy(asking(), stand.send, stand)
    assert (stand.sent, stand.opened, stand.store.spent_today()) == ([], 0, 0)


def test_without_a_wallet_it_is_said_how_to_name_one(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    with pytest.raises(
        UnpaidError, match=r"your questions are spent; to pay 0\.005 USDC for it, set VERDICT_WALLET_KEY"
    ):
        stand.buyer()._replace(open_wallet=None).buy(asking(), stand.send, stand)
    assert (stand.agreed, stand.sent) == ([], [])


def test_a_request_that_is_not_known_is_not_paid_for(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError, match="nothing was paid"):
        stand.buy(asking(asked=None))
    assert stand.sent == []


def test_a_service_that_asks_for_payment_again_and_again_is_paid_once(tmp_path: Path) -> None:
    stand = Stand(tmp_path, asking())
    for _ in range(5):
        with pytest.raises(UnpaidError, match="refused the payment"):
            stand.buy()
    assert len(set(signatures(stand))) == 1
    assert (stand.opened, stand.store.spent_today()) == (1, 5_000)


def test_503_has_the_same_payment_sent_again_after_the_time_that_was_asked_for(tmp_path: Path) -> None:
    stand = Stand(tmp_path, refused(503, retry_after="7"), refused(503), refused(503, retry_after="86400"), sold())
    stand.buy()
    assert (len(stand.sent), len(set(signatures(stand)))) == (4, 1)
    assert stand.paused == [7, 2, 10]


@pytest.mark.parametrize(
    "told", ["-1", "Wed, 21 Oct 2026 07:28:00 GMT", "\N{ARABIC-INDIC DIGIT SEVEN}", "9" * 5_000, "1.5"]
)
def test_a_time_that_is_no_number_of_seconds_is_not_waited_for(tmp_path: Path, told: str) -> None:
    stand = Stand(tmp_path, refused(503, retry_after=told), sold())
    stand.buy()
    assert stand.paused == [2]


@pytest.mark.parametrize(("step", "unreachable"), [(refused(503), False), (lost(), True)])
def test_a_payment_that_nobody_can_tell_of_is_kept_and_sent_by_the_next_identical_request(
    tmp_path: Path, step: Exception, unreachable: bool
) -> None:
    stand = Stand(tmp_path, step)
    with pytest.raises(OpenPaymentError, match="send the same request again") as caught:
        stand.buy()
    assert caught.value.unreachable is unreachable
    assert (len(stand.sent), len(stand.paused)) == (4, 3)
    later = Stand(tmp_path, sold())
    later.clock = stand.clock
    later.buy()
    assert set(signatures(later)) == set(signatures(stand))
    assert (later.agreed, later.opened, later.store.spent_today()) == ([], 0, 5_000)
    assert later.told[0] == "sending the payment of 0.005 USDC of 2025-07-25T12:00:00.000Z again, not a new one"
    assert later.store.opened() == []


@pytest.mark.parametrize("crash", [KeyboardInterrupt(), MemoryError(), SystemExit(137)])
def test_a_crash_between_signing_and_the_answer_leaves_the_payment_to_the_next(tmp_path: Path, crash: Any) -> None:
    stand = Stand(tmp_path, crash)
    with pytest.raises(type(crash)):
        stand.buyer().buy(asking(), lambda headers: raising(stand, headers, crash), stand)
    again = Stand(tmp_path, sold())
    again.buy()
    assert (signatures(again), again.opened) == (signatures(stand), 0)
    assert again.store.spent_today() == 5_000


def raising(stand: Stand, headers: Any, crash: BaseException) -> Any:
    stand.sent.append(headers)
    raise crash


@pytest.mark.promise("cli.pay-once")
def test_while_a_payment_may_still_be_taken_no_other_is_signed_for_its_request(tmp_path: Path) -> None:
    stand = Stand(tmp_path, asking())
    for passed_s in (0, WINDOW_S, SETTLING_S):
        stand.pass_seconds(passed_s)
        with pytest.raises(
            UnpaidError, match=r"another for this request can be signed after 2025-07-25T12:02:00\.000Z"
        ):
            stand.buy()
    assert (len(set(signatures(stand))), stand.opened) == (1, 1)
    stand.pass_seconds(1)
    stand.script = [asking(), sold()]
    stand.buy(asking(date_ms=stand.clock.at_ms))
    assert (len(set(signatures(stand))), stand.opened) == (2, 2)
    assert stand.told[-2:] == [
        "it has bought nothing, and cannot any more",
        f"paid 0.005 USDC on eip155:84532 to {PAYEE}; receipt {NAME}",
    ]
    assert stand.store.spent_today() == 10_000


def test_what_an_old_payment_has_bought_is_handed_out_hours_later(tmp_path: Path) -> None:
    stand = Stand(tmp_path, lost())
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.pass_seconds(20 * 3_600)
    stand.script = [sold()]
    stand.buy(asking(date_ms=stand.clock.at_ms))
    assert (len(set(signatures(stand))), stand.opened) == (1, 1)


def test_a_payment_whose_answer_is_not_kept_any_more_is_let_go_of(tmp_path: Path) -> None:
    stand = Stand(tmp_path, lost())
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.script = [refused(409, "has bought its answer already")]
    with pytest.raises(UnpaidError, match=r"bought its answer already.*can be signed after"):
        stand.buy()
    assert len(stand.store.opened()) == 1
    stand.pass_seconds(WINDOW_S + SETTLING_S)
    with pytest.raises(RefusedError, match="bought its answer"):
        stand.buy()
    assert (stand.store.opened(), stand.opened) == ([], 1)


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500, 502, 302])
def test_another_refusal_is_passed_on_and_the_payment_kept_for_the_same_request(tmp_path: Path, status: int) -> None:
    stand = Stand(tmp_path, refused(status, "not that"))
    with pytest.raises(RefusedError, match="not that"):
        stand.buy()
    assert stand.told == ["the payment of 0.005 USDC is kept for the same request, until 2025-07-25T12:02:00.000Z"]
    stand.script = [sold()]
    stand.buy()
    assert (len(set(signatures(stand))), stand.opened) == (1, 1)


def test_a_payment_that_was_sent_again_and_met_another_refusal_stays(tmp_path: Path) -> None:
    stand = Stand(tmp_path, refused(502))
    for _ in range(2):
        with pytest.raises(RefusedError):
            stand.buy()
    assert len(stand.store.opened()) == 1


def test_an_answer_that_is_none_leaves_the_payment_kept(tmp_path: Path) -> None:
    stand = Stand(tmp_path, UnreadableAnswerError("too long"))
    with pytest.raises(UnreadableAnswerError):
        stand.buy()
    assert len(stand.store.opened()) == 1


def test_an_answer_that_costs_nothing_leaves_its_payment_to_the_same_request(tmp_path: Path) -> None:
    stand = Stand(tmp_path, answered(), sold())
    stand.buy()
    assert stand.told == ["the service took nothing for this answer; 0.005 USDC still count for today"]
    stand.buy()
    assert (len(set(signatures(stand))), stand.store.spent_today()) == (1, 5_000)


def test_the_time_at_which_it_is_signed_counts_not_the_time_at_which_it_was_asked_for(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    buyer = stand.buyer()._replace(agree=lambda _bill: stand.pass_seconds(900))
    buyer.buy(asking(), stand.send, stand)
    signed = payment_in(stand.sent[0])["payload"]["authorization"]
    assert int(signed["validBefore"]) == START_MS // 1_000 + 900 + WINDOW_S


@pytest.mark.parametrize(
    ("date_ms", "said"), [(START_MS - 61_000, "61 s ahead of"), (START_MS + 61_000, "61 s behind")]
)
def test_nothing_is_signed_by_a_clock_that_is_wrong(tmp_path: Path, date_ms: int, said: str) -> None:
    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError, match=said):
        stand.buy(asking(date_ms=date_ms))
    assert (stand.agreed, stand.sent) == ([], [])


@pytest.mark.parametrize("date_ms", [START_MS - 60_000, START_MS + 60_000, None])
def test_a_minute_apart_is_near_enough_and_a_service_need_not_say_the_time(tmp_path: Path, date_ms: int | None) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy(asking(date_ms=date_ms))
    assert len(stand.sent) == 1


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 01 Jan 99999 00:00:00 GMT"])
def test_a_date_that_is_none_stops_it(tmp_path: Path, date: str) -> None:
    due = asking()
    due.headers = {**due.headers, "date": date}
    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError, match="does not say the time"):
        stand.buy(due)


@pytest.mark.parametrize(
    ("url", "paid"),
    [
        ("https://verdict.example", True),
        ("http://127.0.0.1:8402", True),
        ("http://127.8.9.1", True),
        ("http://localhost:8402", True),
        ("http://[::1]:8402", True),
        ("http://verdict.example", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost.evil.example", False),
        ("http://10.0.0.7:8402", False),
    ],
)
def test_real_money_goes_over_tls_or_to_this_machine(tmp_path: Path, url: str, paid: bool) -> None:
    stand = Stand(tmp_path, answered())
    real = asking(row(MAINNET, pay_to=PAYEE), asked=ASKED._replace(url=url))
    if paid:
        stand.buy(real)
    else:
        with pytest.raises(UnpaidError, match="no real money goes there"):
            stand.buy(real)
    assert len(stand.sent) == int(paid)
    stand.buy(asking(asked=ASKED._replace(url=url)))


def test_a_payment_that_is_out_is_sent_again_though_the_price_is_above_a_ceiling_now(tmp_path: Path) -> None:
    stand = Stand(tmp_path, lost())
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.script = [sold()]
    stand.buy(ceilings=Ceilings(0, 0))
    assert len(set(signatures(stand))) == 1
