"""Regime trades: filled at the next open, charged by volume, with funding; by hand, in part, and counted again."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Row
from service.analytics.findings import OpenPosition, Trade
from service.analytics.market import MarketAnalytics
from service.analytics.panel import Panel
from service.analytics.regime import CoinCourse, MarketCourse
from service.analytics.regime_trades import RegimeTrades, follow
from service.analytics.states import UNKNOWN
from service.clock import DAY_MS
from tests.analytics.histories import History, markets, tape_of, until
from tests.analytics.test_market import course, unseasoned
from tests.market.recordings import needs_recordings
from tests.walkforward import reference_bars, reference_tables
from tests.walkforward import reference_trading as reference

__all__ = ["unseasoned"]

ROOT = Path(__file__).resolve().parents[2]

COST = 154.5 / 10_000
"""Of a coin with fewer than thirty bars."""

RESTING = 0.0003
"""What a long pays a day where funding was not recorded."""


def followed(
    trends: Mapping[str, str], market: str, paid: Mapping[int, float] | None = None
) -> tuple[list[OpenPosition], list[Trade]]:
    """Follow coin A, whose closes are 100, 101, ... and whose opens are half a dollar below its closes."""
    panel, found = course(trends, market)
    names = tuple(sorted(panel.coins))
    close = panel.close[:, [panel.column(coin) for coin in names]]
    funding = np.full(close.shape, np.nan)
    for day, rate in (paid or {}).items():
        funding[day, names.index("A")] = rate
    tape = MarketTape(names, 0, close - 0.5, close, close - 0.5, close, np.ones_like(close), funding)
    positions, trades = follow(panel, found, tape)
    return positions, trades.get("A", [])


def trade(direction: str, entry: int, exit_day: int, funding: float, reason: str, **changed: float) -> Trade:
    """A trade from open to open, by the formulas of the standard; `funding` in percent."""
    side = 1 if direction == "long" else -1
    bought, sold = 99.5 + entry, changed.get("exit_price", 99.5 + exit_day)
    cost = 100 * COST * (1 + sold / bought)
    brought = 100 * side * (sold / bought - 1) + funding - cost
    held = int(changed.get("hold_days", exit_day - entry))
    return Trade(
        "A", direction, entry, bought, exit_day, sold,  # type: ignore[arg-type]
        pytest.approx(brought), pytest.approx(funding), pytest.approx(cost),  # type: ignore[arg-type]
        held, int(changed.get("funded_days", 0)), reason,  # type: ignore[arg-type]
    )  # fmt: skip


def resting(entry: int, over: int) -> float:
    """Percent that a long is charged over days whose funding was not recorded."""
    return -100 * RESTING * sum(99.5 + day for day in range(entry, over)) / (99.5 + entry)


@pytest.mark.promise("regime.trades-standard")
@pytest.mark.usefixtures("unseasoned")
def test_a_trade_is_entered_and_left_at_the_opens_after_the_turns_of_its_regime() -> None:
    positions, trades = followed({"A": "HUUUUDDDDUUU"}, "o" * 12)
    assert trades == [
        trade("long", 3, 7, resting(3, 7), "trend-turned"),
        trade("short", 7, 11, 0.0, "trend-turned"),
    ]
    assert positions == [OpenPosition("A", "risk-on", "long", 0.85, 11, 110.5, 1)]


@pytest.mark.usefixtures("unseasoned")
def test_recorded_funding_is_paid_by_longs_and_received_by_shorts_day_by_day() -> None:
    paid = dict.fromkeys(range(4, 10), 0.001)
    _, (long, short) = followed({"A": "HUUUUDDDDUUU"}, "o" * 12, paid)
    known = -0.1 * sum(99.5 + day for day in (4, 5, 6)) / 102.5
    assert long == trade("long", 3, 7, known + resting(3, 4), "trend-turned", funded_days=3)
    received = 0.1 * sum(99.5 + day for day in (7, 8, 9)) / 106.5
    assert short == trade("short", 7, 11, received, "trend-turned", funded_days=3)


@pytest.mark.usefixtures("unseasoned")
def test_a_position_decided_on_the_last_close_has_no_entry_price_yet() -> None:
    positions, trades = followed({"A": "HUU"}, "ooo")
    assert trades == []
    assert [(held.entry_day, held.entry_price, held.hold_days) for held in positions] == [(3, None, 0)]


@pytest.mark.usefixtures("unseasoned")
def test_a_position_left_on_the_last_close_is_neither_held_nor_closed_yet() -> None:
    positions, trades = followed({"A": "HUUUUHHH"}, "oooooo--")
    assert (positions, trades) == ([], [])
    positions, trades = followed({"A": "HUUUUDD"}, "o" * 7)
    assert [(held.direction, held.entry_price) for held in positions] == [("short", None)]
    assert trades == []


@pytest.mark.usefixtures("unseasoned")
def test_what_turned_is_told_of_every_exit() -> None:
    _, (found,) = followed({"A": "UUUUHHHHH"}, "oooooo---")
    assert found == trade("long", 3, 8, resting(3, 8), "market-turned")
    _, (found,) = followed({"A": "UUUUhhHHH"}, "o" * 9)
    assert found == trade("long", 3, 6, resting(3, 6), "trend-turned")
    _, (found,) = followed({"A": "UUUUUUUU"}, "ooooo???")
    assert found.exit_reason == "no-bars"


@pytest.mark.usefixtures("unseasoned")
def test_a_coin_without_a_bar_on_the_next_day_is_left_at_its_last_close() -> None:
    gone = trade("long", 3, 4, resting(3, 5), "no-bars", exit_price=104.0, hold_days=2)
    assert followed({"A": "UUUUU....", "B": "HHHHHHHHH"}, "o" * 9) == ([], [gone])
    positions, trades = followed({"A": "UUUUU..UU"}, "o" * 9)
    assert trades == [gone]
    assert [(held.entry_day, held.entry_price) for held in positions] == [(8, 107.5)]  # two days in a row again


def test_a_tape_of_other_days_is_refused() -> None:
    panel, found = course({"A": "UUU"}, "ooo")
    with pytest.raises(ValueError, match="tape"):
        follow(panel, found, tape_of({"A": [(0, 1.0, 1.0, 1.0, 1.0)]}))


def changed(history: History, day: int) -> History:
    """The same bars before a day, others from it on."""

    def told(row: Row) -> Row:
        at_ms, opened, high, low, close = row
        return row if at_ms < day * DAY_MS else (at_ms, opened * 1.7, high * 1.9, low * 1.5, close * 1.6)

    return {coin: [told(row) for row in rows] for coin, rows in history.items()}


@pytest.mark.slow
@pytest.mark.promise("regime.trades-point-in-time")
@settings(max_examples=20, deadline=None)
@given(markets(), st.integers(130, 255))
def test_bars_that_come_later_never_change_an_earlier_trade(history: History, day: int) -> None:
    whole, early, other = (
        MarketAnalytics(bars).followed(tape_of(bars, 3e4))
        for bars in (history, until(history, day), changed(history, day))
    )
    assert told(early, day - 1) == told(whole, day - 1) == told(other, day - 1)


def told(found: RegimeTrades, before: int) -> dict[str, list[Trade]]:
    """Trades that ended before a day: whether a coin has a bar on the day after was known by then."""
    ended = {coin: [one for one in trades if one.exit_day < before] for coin, trades in found.trades.items()}
    return {coin: trades for coin, trades in ended.items() if trades}


@pytest.mark.promise("regime.trades-standard", "costs.slippage-table")
@pytest.mark.parametrize(
    "read",
    [
        pytest.param(reference_bars.bundled, id="bundled"),
        pytest.param(reference_bars.recorded, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
    ],
)
def test_the_trades_of_every_coin_are_those_of_plain_arithmetic(read: Callable[[], reference_bars.History]) -> None:
    history = read()
    bars = {
        coin: [(day * DAY_MS, *bar[:4]) for day, bar in sorted(days.items())] for coin, days in history.bars.items()
    }
    found = MarketAnalytics(bars).followed(reference_tables.tape_of(history))
    books = counted_again(bars, history)
    assert sum(map(len, found.trades.values())) == len(books.trades) > 500
    expected = {(one.coin, one.entered): one for one in books.trades}
    for one in (one for trades in found.trades.values() for one in trades):
        again = expected[one.coin, one.entry_day]
        assert (one.exit_day, one.entry_price, one.exit_price) == (again.left, again.entry, again.exit)
        assert (one.direction == "long", one.hold_days) == (again.side == 1, again.held_days)
        assert one.funded_days == sum(
            day in history.paid.get(one.coin, {}) for day in range(again.entered, again.entered + again.held_days)
        )
        for percent, part in (
            (one.return_pct, again.brought), (one.funding_pct, again.funding), (one.cost_pct, again.cost)
        ):  # fmt: skip
            assert percent == pytest.approx(100 * part, rel=1e-9, abs=1e-9)
        assert (one.exit_reason == "no-bars") == (again.reason == "delisted")
    now = [(one.coin, one.entry_day, one.entry_price) for one in found.positions if one.entry_price is not None]
    assert set(now) <= {(one.coin, one.entered, one.entry) for one in books.held}
    pending = {(one.coin, one.entry_day) for one in found.positions if one.entry_price is None}
    assert pending == {(one.coin, one.day + 1) for one in books.signals if one.price is None}


@pytest.mark.recorded
@needs_recordings
def test_the_figures_of_the_decision_and_the_documentation_are_those_of_the_recordings() -> None:
    history = reference_bars.recorded()
    bars = {
        coin: [(day * DAY_MS, *bar[:4]) for day, bar in sorted(days.items())] for coin, days in history.bars.items()
    }
    books = counted_again(bars, history)
    returns = [100 * trade.brought for trade in books.trades]
    mean = fmean(returns)
    decision = (ROOT / "docs" / "decisions" / "0011-costs-of-trades.md").read_text()
    told = dict(re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", decision, re.MULTILINE))
    assert told["Closed trades"] == f"{len(returns):,}"
    assert told["Won"] == f"{100 * sum(one > 0 for one in returns) / len(returns):.1f} %"
    assert told["Mean return of a trade"] == f"{mean:+.2f} %"
    costs, funding = (100 * fmean(getattr(one, part) for one in books.trades) for part in ("cost", "funding"))
    known = sum(
        day in history.paid.get(one.coin, {})
        for one in books.trades
        for day in range(one.entered, one.entered + one.held_days)
    )
    share = known / sum(one.held_days for one in books.trades)
    text = " ".join(decision.split())
    assert f"costs are {-costs:.2f} % and funding {funding:.2f} %: only {100 * share:.0f} % of the days" in text
    assert f"which lose {-mean:.2f} % each on these recordings" in " ".join(
        (ROOT / "docs" / "walk-forward.md").read_text().split()
    )


def counted_again(bars: Mapping[str, Sequence[Row]], history: reference_bars.History) -> reference.Books:
    """Trade the regimes with the slow and obvious simulation, one coin and one day at a time, each trade by itself."""
    panel = Panel(bars)
    regimes = CoinCourse(panel, MarketCourse(panel)).regimes
    plan: reference.Plan = {}
    for column, coin in enumerate(panel.coins):
        sides = [0 if regime == UNKNOWN else regime for regime in regimes[:, column].tolist()]
        plan[coin] = {
            panel.first_day + row: reference.Decision(side, reason="trend-turned") for row, side in enumerate(sides)
        }
    return reference.simulate(history, plan, history.days.start, history.days.stop)
