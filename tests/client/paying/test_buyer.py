"""One signature for one request below the ceilings, to a known payee, whatever the service says."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from eth_account import Account
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.client.answer import RefusedError, UnreadableAnswerError
from service.client.config import Config
from service.client.errors import RefusalError
from service.client.paying.buyer import ceilings_of, find_wallet, unattended_buyer
from service.client.paying.terms import Ceilings, OpenPaymentError, Payee, UnpaidError, known_payee_only
from service.clock import DAY_MS, day_of
from tests.client.paying.stand import (
    ASKED,
    BODY,
    NAME,
    PAYEE,
    SECRET,
    URL,
    Stand,
    answered,
    asking,
    lost,
    refused,
    sold,
)
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.signing import MAINNET, row

OTHER = "0x3333333333333333333333333333333333333333"
PAID = f"Paid 0.005 USDC on eip155:84532 to {PAYEE}. The receipt is {NAME}."
HOUR_S = 3_600


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path, sold())


def due(amount: int, number: int, at_ms: int = START_MS) -> Any:
    return asking(row(price=amount, pay_to=PAYEE), asked=ASKED._replace(request=b"GET /%d\n" % number), date_ms=at_ms)


def unattended(stand: Stand, refusal: RefusedError | None = None) -> Any:
    """Buy as `--yes` and the MCP server do."""
    return stand.buyer()._replace(agree=known_payee_only).buy(refusal or asking(), stand.send, stand)


def disagree(_bill: object) -> None:
    raise UnpaidError("no")


def test_a_call_is_paid_once_after_consent_and_the_next_one_is_another_purchase(stand: Stand) -> None:
    assert stand.buy().body == BODY
    [bill] = stand.agreed
    agreed = (bill.terms.amount, bill.terms.pay_to, bill.what, bill.url)
    assert agreed == (5_000, PAYEE, "GET /api/cli/coin/risk/BTC", URL)
    assert (stand.told, len(stand.sent), stand.opened) == ([PAID], 1, 1)
    assert (stand.store.opened(), stand.store.spent_today()) == ([], 5_000)
    stand.buy()
    assert len(set(stand.signatures)) == 2
    assert [bill.spent for bill in stand.agreed] == [0, 5_000]


@pytest.mark.parametrize(
    ("changed", "refusal", "said"),
    [
        ({"agree": disagree}, asking(), "^no$"),
        ({"open_wallet": None}, asking(), "are spent. To pay 0.005 USDC for this call, you need a wallet. Set VERD"),
        ({"is_cancelled": lambda: True}, asking(), "cancelled. Nothing was paid"),
        ({}, asking(asked=None), "Nothing was paid"),
        ({}, asking(date_ms=START_MS - 61_000), "61 s ahead of"),
        ({}, asking(date_ms=START_MS + 61_000), "61 s behind"),
        *(({}, asking(date=date), "Date header is not valid")
          for date in ("", "yesterday", "Mon, 01 Jan 99999 00:00:00 GMT")),
    ],
)  # fmt: skip
def test_nothing_is_signed_without_consent_a_wallet_or_agreeing_clocks(
    stand: Stand, changed: dict[str, Any], refusal: RefusedError, said: str
) -> None:
    with pytest.raises(UnpaidError, match=said):
        stand.buyer()._replace(**changed).buy(refusal, stand.send, stand)
    assert (stand.sent, stand.opened, stand.store.spent_today(), stand.store.payee(URL)) == ([], 0, 0, None)


@pytest.mark.parametrize("date_ms", [START_MS - 60_000, START_MS + 60_000, None])
def test_clocks_may_differ_by_a_minute_and_the_service_need_not_send_a_date(stand: Stand, date_ms: int | None) -> None:
    assert stand.buy(asking(date_ms=date_ms)).body == BODY


def test_a_call_cancelled_while_another_process_holds_the_store_is_not_paid(stand: Stand) -> None:
    answers = iter([False, True])
    with pytest.raises(UnpaidError, match="cancelled"):
        stand.buyer()._replace(is_cancelled=lambda: next(answers)).buy(asking(), stand.send, stand)
    assert (stand.sent, stand.store.spent_today(), stand.store.opened()) == ([], 0, [])


def test_the_payment_is_valid_from_the_time_of_signing_not_of_the_question(stand: Stand) -> None:
    stand.buyer()._replace(agree=lambda _bill: stand.pass_seconds(900)).buy(asking(), stand.send, stand)
    assert int(stand.authorizations[0]["validBefore"]) == START_MS // 1_000 + 900 + 60


def test_503_sends_the_same_payment_again_after_the_seconds_that_the_service_names(stand: Stand) -> None:
    for waits, paused in (
        (["7", "", "86400"], [7, 2, 10]),
        (["-1", "Wed, 21 Oct 2026 07:28:00 GMT", "\u0667"], [2, 2, 2]),
        (["9" * 5_000], [2]),
    ):
        stand.sent, stand.paused = [], []
        stand.script = [*(refused(503, retry_after=wait) for wait in waits), sold()]
        stand.buy()
        assert (len(stand.sent), len(set(stand.signatures)), stand.paused) == (len(waits) + 1, 1, paused)


@pytest.mark.parametrize(("step", "unreachable"), [(refused(503), False), (lost(), True)])
def test_a_payment_of_unknown_outcome_is_sent_by_the_next_identical_request_hours_later_and_above_the_ceilings(
    stand: Stand, step: Exception, unreachable: bool
) -> None:
    stand.script = [step]
    with pytest.raises(OpenPaymentError, match="Send the same request again") as caught:
        stand.buy()
    assert (caught.value.unreachable, len(stand.sent), len(stand.paused)) == (unreachable, 4, 3)
    later = Stand(stand.state, sold())
    later.clock = stand.clock
    later.pass_seconds(20 * HOUR_S)
    later.buy(asking(date_ms=later.clock.at_ms), Ceilings(0, 0))
    assert set(later.signatures) == set(stand.signatures)
    assert (later.agreed, later.opened, later.store.opened()) == ([], 0, [])
    assert later.told[0] == "Sending the payment of 0.005 USDC of 2025-07-25T12:00:00.000Z again. It is not a new one."


@pytest.mark.promise("cli.pay-once")
def test_while_a_payment_may_still_be_taken_no_other_is_signed_for_its_request(stand: Stand) -> None:
    stand.script = [asking()]
    for passed_s in (0, 0, 60, 60):
        stand.pass_seconds(passed_s)
        with pytest.raises(UnpaidError, match=r"refused the payment.* can be signed after 2025-07-25T12:02:00\.000Z"):
            stand.buy()
    assert (len(set(stand.signatures)), stand.opened) == (1, 1)
    stand.pass_seconds(1)
    stand.script = [asking(), sold()]
    stand.buy(asking(date_ms=stand.clock.at_ms))
    assert (len(set(stand.signatures)), stand.opened, stand.store.spent_today()) == (2, 2, 10_000)
    assert stand.told[-2:] == ["That payment bought nothing, and can no longer be used.", PAID]


def test_a_payment_whose_answer_is_no_longer_kept_is_dropped_once_it_cannot_settle(stand: Stand) -> None:
    stand.script = [lost()]
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.script = [refused(409, "has bought its answer already")]
    with pytest.raises(UnpaidError, match=r"bought its answer already.*can be signed after"):
        stand.buy()
    assert len(stand.store.opened()) == 1
    stand.pass_seconds(120)
    with pytest.raises(RefusedError, match="bought its answer"):
        stand.buy()
    assert (stand.store.opened(), stand.opened) == ([], 1)


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500, 502, 302])
def test_another_refusal_is_passed_on_and_the_payment_kept_for_the_same_request(stand: Stand, status: int) -> None:
    stand.script = [refused(status, "not that")]
    with pytest.raises(RefusedError, match="not that"):
        stand.buy()
    assert stand.told == ["The payment of 0.005 USDC is stored for the same request, until 2025-07-25T12:02:00.000Z."]
    stand.script = [refused(502), sold()]
    with pytest.raises(RefusedError):
        stand.buy()
    stand.buy()
    assert (len(set(stand.signatures)), stand.opened) == (1, 1)


def test_an_answer_that_is_free_or_cannot_be_read_leaves_its_payment_to_the_same_request(stand: Stand) -> None:
    stand.script = [UnreadableAnswerError("too long"), answered(), sold()]
    with pytest.raises(UnreadableAnswerError):
        stand.buy()
    assert len(stand.store.opened()) == 1
    stand.buy()
    assert stand.told[-1] == "The service took nothing for this answer. The signed 0.005 USDC still count for today."
    assert len(stand.store.opened()) == 1
    stand.buy()
    assert (len(set(stand.signatures)), stand.store.spent_today()) == (1, 5_000)


@pytest.mark.parametrize(
    ("url", "paid"),
    [
        ("https://verdict.example", True), ("http://127.0.0.1:8402", True), ("http://127.8.9.1", True),
        ("http://localhost:8402", True), ("http://[::1]:8402", True), ("http://verdict.example", False),
        ("http://127.0.0.1.evil.example", False), ("http://localhost.evil.example", False), ("http://10.0.0.7", False),
    ],
)  # fmt: skip
def test_real_money_needs_tls_or_this_machine_and_test_money_does_not(stand: Stand, url: str, paid: bool) -> None:
    stand.script, asked = [answered()], ASKED._replace(url=url)
    real = asking(row(MAINNET, pay_to=PAYEE), asked=asked)
    if paid:
        stand.buy(real)
    else:
        with pytest.raises(UnpaidError, match="no real money is sent there"):
            stand.buy(real)
    assert len(stand.sent) == int(paid)
    stand.buy(asking(asked=asked))


def test_without_a_prompt_only_the_first_payee_of_a_service_is_paid(stand: Stand) -> None:
    unattended(stand)
    unattended(stand, asking(row(pay_to=OTHER), asked=ASKED._replace(url="http://127.0.0.1:8403")))
    with pytest.raises(UnpaidError, match=f"{PAYEE}.* asks for payment to {OTHER}.*without --yes.*Nothing was paid"):
        unattended(stand, asking(row(pay_to=OTHER)))
    with pytest.raises(UnpaidError, match="on Base: real money"):
        unattended(stand, asking(row(pay_to=PAYEE, network=MAINNET)))
    unattended(stand)
    assert [paid["to"] for paid in stand.authorizations] == [PAYEE, OTHER, PAYEE]
    assert stand.store.payee(URL) == Payee("eip155:84532", PAYEE)
    stand.buy(asking(row(pay_to=OTHER)))  # at a prompt, which shows the change
    assert (stand.agreed[0].moved_from, stand.agreed[0].terms.pay_to) == (Payee("eip155:84532", PAYEE), OTHER)
    unattended(stand, asking(row(pay_to=OTHER)))
    assert len(stand.sent) == 5


@pytest.mark.promise("cli.pay-ceilings")
def test_the_ceilings_are_ten_cents_a_call_and_a_dollar_a_day_also_for_payments_that_were_refused(stand: Stand) -> None:
    assert Ceilings() == (100_000, 1_000_000)
    with pytest.raises(UnpaidError, match=r"costs 0\.100001 USDC, above the limit of 0\.1 USDC"):
        stand.buy(due(100_001, 0))
    stand.script = [refused(402, "not this one")]
    for number in range(10):
        with pytest.raises(UnpaidError, match="counts for today all the same"):
            stand.buy(due(100_000, number))
    with pytest.raises(UnpaidError, match=r"costs 0\.000001 USDC, and 1 USDC of 1 USDC for today"):
        stand.buy(due(1, 11))
    stand.clock.set_wall((day_of(START_MS) + 1) * DAY_MS)
    stand.script = [sold()]
    stand.buy(due(1, 11, stand.clock.at_ms))
    assert stand.store.spent_today() == 1


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 400_000), st.integers(-2 * DAY_MS, 2 * DAY_MS)), min_size=1, max_size=12),
    st.integers(0, 300_000),
    st.integers(0, 800_000),
)
@example([(1, 0), (1, DAY_MS // 2), (1, -1)], 1, 1)  # a day, the next one, and back
def test_no_call_passes_its_ceiling_and_no_day_its_own_however_the_clock_is_set(
    asked: list[tuple[int, int]], call: int, day: int
) -> None:
    with TemporaryDirectory() as folder:
        stand, signed = Stand(Path(folder), answered()), list[tuple[int, int]]()
        for number, (amount, moved_ms) in enumerate(asked):
            stand.clock.set_wall(stand.clock.at_ms + moved_ms)
            today = day_of(stand.clock.at_ms)
            later = sum(paid for on, paid in signed if on >= today)
            if amount > call or later + amount > day:
                with pytest.raises(UnpaidError, match="Nothing was paid"):
                    stand.buy(due(amount, number, stand.clock.at_ms), Ceilings(call, day))
            else:
                stand.buy(due(amount, number, stand.clock.at_ms), Ceilings(call, day))
                signed.append((today, amount))
            # What is signed for days to come counts now: a clock that is set back gives nothing.
            assert stand.store.spent_today() == sum(paid for on, paid in signed if on >= today)
            assert sum(paid for on, paid in signed if on == today) <= day
        assert [int(sent["value"]) for sent in stand.authorizations] == [paid for _, paid in signed]


@pytest.mark.parametrize(
    ("configured", "typed", "held"),
    [
        ({}, None, (100_000, 1_000_000)), ({"max_price_micro_usd": 0, "max_day_micro_usd": 0}, None, (0, 0)),
        ({"max_price_micro_usd": 5_000}, 500_000, (500_000, 1_000_000)), ({"max_day_micro_usd": 7}, 0, (0, 7)),
    ],
)  # fmt: skip
def test_a_typed_limit_holds_for_a_call_then_the_configured_one(configured: Any, typed: int | None, held: Any) -> None:
    assert ceilings_of(Config(**configured), typed) == held


def test_an_unattended_buyer_opens_the_configured_wallet_once_and_needs_its_password(
    tmp_path: Path, stand: Stand
) -> None:
    home = {"HOME": str(tmp_path / "home")}

    def buyer(**more: str) -> Any:
        return unattended_buyer({**home, **more}, FakeClock(), stand.told.append, stand.paused.append)

    with pytest.raises(RefusalError, match=r"There is no wallet to pay with\. Set VERDICT_WALLET_KEY"):
        buyer()
    keystore, folder = tmp_path / "wallet.json", tmp_path / "home" / ".config" / "verdict"
    keystore.write_text(json.dumps(Account.encrypt(b"\x12" * 32, "secret", kdf="pbkdf2", iterations=2)))
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"keystore": str(keystore), "max-price": "0.01"}))
    with pytest.raises(RefusalError, match=r"password of .*wallet.json is missing, .* Set VERDICT_KEYSTORE_PASSWORD"):
        buyer()
    opened = buyer(VERDICT_KEYSTORE_PASSWORD="secret")
    keystore.unlink()
    opened.buy(asking(), stand.send, stand)
    assert (opened.ceilings, len(stand.told)) == (Ceilings(10_000, 1_000_000), 1)
    assert stand.authorizations[0]["from"] == Account.from_key(b"\x12" * 32).address
    assert (tmp_path / "home" / ".local" / "state" / "verdict" / "paying" / "spent.json").exists()
    found = find_wallet({"VERDICT_WALLET_KEY": SECRET.hex()}, Config(keystore="/nowhere"))
    assert found is not None
    assert found().address == Account.from_key(SECRET).address  # the key comes before the keystore
