"""Sentences made of figures."""

import pytest

from service.analytics.breadth import Breadth
from service.analytics.findings import DivergenceFinding, Reason
from service.clock import DAY_MS
from service.market.daily_report import wording
from service.wire.market import BreadthExtreme, Mover
from service.wire.regime import CoinRegime, MarketRegime

DAY = 20_300
REGIME = MarketRegime("risk-on", "2025-07-22T00:00:00.000Z", 1, 0.71)
REASONS = (
    Reason("btc-trend", "HODL"),
    Reason("btc-in-usd", "UP"),
    Reason("breadth-net-pct", 40.0),
    Reason("btc-volatility-percentile", 12.34),
)


def test_a_bar_that_closed_at_midnight_is_named_after_the_day_it_covers() -> None:
    assert wording.closing_date((DAY + 1) * DAY_MS) == wording.date(DAY) == "2025-07-31"


@pytest.mark.parametrize(
    ("symbol", "others"), [("SOL", "USD, BTC and ETH"), ("BTC", "USD and ETH"), ("ETH", "USD and BTC")]
)
def test_a_coin_is_not_compared_with_itself(symbol: str, others: str) -> None:
    assert wording.explain_turn(symbol, "risk-on", [Reason("trend", "UP")])[0] == (
        f"{symbol}'s daily trend against {others} is UP."
    )


def test_a_turn_is_explained_by_the_inputs_of_its_rule() -> None:
    reasons = [
        Reason("trend", "DOWN"),
        Reason("trend-streak-days", 1),
        Reason("market-regime", "neutral"),
        Reason("line-distance-atr", -2.345),
    ]
    assert wording.explain_turn("SOL", "risk-off", reasons) == [
        "SOL's daily trend against USD, BTC and ETH is DOWN.",
        "It has been so for 1 day.",
        "The market's regime is neutral.",
        "Its close is 2.3 average true ranges below its SuperTrend line in USD.",
        "So SOL's regime turned risk-off.",
    ]
    above = [Reason("trend-streak-days", 12), Reason("line-distance-atr", 0.5)]
    assert wording.explain_turn("SOL", "risk-on", above) == [
        "It has been so for 12 days.",
        "Its close is 0.5 average true ranges above its SuperTrend line in USD.",
        "So SOL's regime turned risk-on.",
    ]


@pytest.mark.parametrize(("code", "word"), [("bearish-breadth", "highest"), ("bullish-breadth", "lowest")])
def test_a_divergence_says_both_days_and_both_figures(code: str, word: str) -> None:
    found = DivergenceFinding(code, (DAY + 1) * DAY_MS, -5.25, 31.5, (DAY - 9) * DAY_MS)  # type: ignore[arg-type]
    assert wording.diverge(found) == (
        f"BTC's close of 2025-07-31 is its {word} of 20 days, with a net breadth of -5.2 %; "
        "on 2025-07-21 that was +31.5 %."
    )


def test_a_coin_against_bitcoin_is_told_with_what_they_usually_have_in_common() -> None:
    assert wording.oppose("SOL", "DOWN", "UP", 0.834) == (
        "SOL is DOWN while BTC is UP, with a correlation of 0.83 over the returns of at most 90 daily bars."
    )


def test_the_summary_counts_every_regime() -> None:
    rows = [CoinRegime("A", "risk-on", 0.5), CoinRegime("B", "risk-off", 0.5), CoinRegime("C", "risk-on", 0.5)]
    assert wording.summarise(REGIME, rows).startswith(
        "The market has been risk-on since 2025-07-22 (1 day), confidence 0.71. "
        "Of 3 coins 2 are risk-on, 0 neutral and 1 risk-off. Confidence is 0 to 1: "
    )


def test_an_interpretation_says_what_is_known() -> None:
    text = wording.interpret(
        Breadth(DAY, 7, 2, 1),
        [BreadthExtreme("UP", 70.0, 7)],
        -1.25,
        REGIME,
        REASONS,
        [Mover("SOL", 12.34, "UP")],
        [Mover("XRP", -5.67, "DOWN")],
        ["One thing.", "Another."],
    )
    assert text == (
        "10 coins by their trend at the close of 2025-07-31 (UTC): 7 UP (70.0 %), 2 HODL (20.0 %), 1 DOWN (10.0 %). "
        "The net share, UP less DOWN, is +60.0 %. That is an extreme: UP holds at least 60 %. "
        "The net share moved by -1.2 percentage points a day over the last 5 days. "
        "The market's regime has been risk-on since 2025-07-22 (1 day); BTC's daily trend is HODL, in "
        "USD alone UP, its 30-day realised volatility at percentile 12.3 of 365 days. "
        "Furthest above the median 30-day return, in percentage points: SOL +12.3. "
        "Furthest below the median 30-day return, in percentage points: XRP -5.7. One thing. Another."
    )


def test_an_interpretation_is_silent_about_what_is_not_known() -> None:
    assert wording.interpret(Breadth(DAY, 1, 1, 0), [], None, None, (), [], [], []) == (
        "2 coins by their trend at the close of 2025-07-31 (UTC): 1 UP (50.0 %), 1 HODL (50.0 %), 0 DOWN (0.0 %). "
        "The net share, UP less DOWN, is +50.0 %. No state holds 60 %, from which a day is extreme."
    )
