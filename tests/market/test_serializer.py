"""What is told of a market depends on its bars alone: not on the order of its coins, nor on what came later."""

import random
from itertools import pairwise

import pytest

from service.analytics.bars import Row
from service.analytics.market import MarketAnalytics
from service.clock import DAY_MS, iso
from service.market.daily_report.models import BreadthDay, DailyReport
from service.market.daily_report.serializer import SIGNAL_DAYS, build_report
from tests.analytics.histories import tape_of, walk

DAYS = 300
COINS = ("BTC", "ETH", "SOL", "XRP", "TWIN", "ADA", "DOT")


def bars() -> dict[str, list[Row]]:
    """Random walks; two of the coins are the same."""
    dice = random.Random(7)  # noqa: S311 - prices, not secrets
    made = {coin: walk(dice, range(DAYS)) for coin in COINS}
    return made | {"TWIN": made["XRP"]}


def told(history: dict[str, list[Row]], through: int = DAYS - 1) -> DailyReport:
    known = {coin: rows[: through + 1] for coin, rows in history.items()}
    market = MarketAnalytics(known)
    return build_report(
        market, [BreadthDay(*breadth) for breadth in market.breadths if breadth.universe], tape_of(known)
    )


@pytest.mark.slow
def test_the_order_of_the_coins_changes_nothing() -> None:
    """A coin listed while the service runs has the last column, after a restart it has another."""
    history = bars()
    days = [one for one in range(DAYS - 60, DAYS) if any(sign.symbol == "XRP" for sign in told(history, one).signals)]
    assert days
    for day in days[::7]:
        assert told(dict(reversed(history.items())), day) == told(history, day)


@pytest.mark.slow
def test_every_turn_of_a_regime_is_a_signal_the_end_of_a_position_too() -> None:
    history = bars()
    confidence = [{row.symbol: row.regime for row in told(history, day).confidence} for day in range(200, DAYS)]
    transitions = {
        (symbol, regime, iso((day + 1) * DAY_MS))
        for day, (before, now) in enumerate(pairwise(confidence), 201)
        for symbol, regime in now.items()
        if symbol in before and before[symbol] != regime and day > DAYS - 1 - SIGNAL_DAYS
    }
    signals = told(history).signals
    assert {(signal.symbol, signal.regime, signal.firedAt) for signal in signals} == transitions
    assert {signal.regime: signal.direction for signal in signals} == {
        "risk-on": "long",
        "risk-off": "short",
        "neutral": None,
    }
    order = [(signal.firedAt, signal.symbol) for signal in signals]
    assert order == sorted(sorted(order, key=lambda one: one[1]), key=lambda one: one[0], reverse=True)
    assert all(signal.reasons[-1] == f"So {signal.symbol}'s regime turned {signal.regime}." for signal in signals)


@pytest.mark.parametrize("through", [120, 200, 260])
def test_what_was_told_of_the_past_is_told_again(through: int) -> None:
    early, late = told(bars(), through), told(bars())
    assert late.breadth[: len(early.breadth)] == early.breadth
    assert late.runs[: len(early.runs)] == early.runs
    assert early.regime_trades is not None
    assert late.regime_trades is not None
    for symbol, own in early.regime_trades.items():
        assert late.regime_trades[symbol].trades[: len(own.trades)] == own.trades
