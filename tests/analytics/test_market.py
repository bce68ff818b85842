"""The market as a whole: the same in part and whole; and what is told of it, by hand."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby, pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics import rules
from service.analytics.breadth import Breadth
from service.analytics.findings import RelativeReturn
from service.analytics.leadership import divergences, opposed, relative_returns
from service.analytics.market import MarketAnalytics
from service.analytics.panel import BTC, Panel
from service.analytics.regime import CoinCourse, MarketCourse
from service.analytics.states import UNKNOWN
from service.analytics.trend_states import runs
from service.clock import DAY_MS
from tests.analytics import independent
from tests.analytics.histories import History, markets, tape_of, until
from tests.market.recordings import history, needs_recordings

LETTERS = {"U": 1, "H": 0, "h": 0, "D": -1, ".": UNKNOWN}
IN_USD = {"U": 1, "H": 1, "h": -1, "D": -1, ".": 0}
REGIMES = {"+": 1, "o": 0, "-": -1, "?": UNKNOWN}


def told(market: MarketAnalytics) -> dict[str, object]:
    """Everything a market says at its last day."""
    return {
        "assessments": market.assessments(),
        "breadths": list(market.breadths),
        "crossings": market.crossings(),
        "velocity": market.velocity(),
        "standings": market.standings(),
        "divergences": market.divergences(),
        "opposed": sorted(market.opposed()),
        "regime": market.regime(),
        "regimes": market.regimes(),
        "coins": market.coin_regimes(),
        "signals": sorted(market.signals(0)),
    }


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(markets(), st.integers(130, 259))
def test_days_that_come_later_change_nothing_that_was_said(history: History, stop: int) -> None:
    cut, whole = MarketAnalytics(until(history, stop)), MarketAnalytics(history)
    shown = len(cut.breadths)
    assert list(cut.breadths) == list(whole.breadths)[:shown]
    assert cut.crossings() == whole.crossings()[: len(cut.crossings())]
    *ended, present = cut.regimes()
    assert ended == whole.regimes()[: len(ended)]
    kept = whole.regimes()[len(ended)]
    assert (present.regime, present.since_ms) == (kept.regime, kept.since_ms)
    assert present.through_ms <= kept.through_ms
    said_by_then = [signal for signal in whole.signals(0) if signal.fired_ms <= stop * DAY_MS]
    assert sorted(cut.signals(0)) == sorted(said_by_then)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(markets())
def test_what_is_told_is_plain_and_finite(history: History) -> None:
    assert json.dumps(told(MarketAnalytics(history)), allow_nan=False)


def test_an_empty_market_says_nothing() -> None:
    market = MarketAnalytics({})
    assert {key: value for key, value in told(market).items() if value} == {}
    bare = MarketAnalytics({BTC: [], "ETH": []})
    assert bare.breadths == []
    assert bare.regime() is None


# --- regimes of coins, by hand --------------------------------------------------------------------------------------


@pytest.fixture
def unseasoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins have a regime from the first day on which their trend is known, so that a case fits on a line."""
    monkeypatch.setattr(rules, "SEASON_DAYS", 1)


def course(
    trends: Mapping[str, str], market: str, closes: Mapping[str, Sequence[float]] | None = None
) -> tuple[Panel, CoinCourse]:
    """Coins whose trend states and market are as written, a letter a day, from 1970-01-01; closes are 100, 101, ...

    H is HODL and up in USD, h is HODL and down in USD.
    """
    days = len(market)
    prices = closes or {coin: [100.0 + day for day in range(days)] for coin in trends}
    panel = Panel(
        {
            coin: [
                (day * DAY_MS, price, price, price, price)
                for day, (price, trend) in enumerate(zip(prices[coin], trends[coin], strict=True))
                if trend != "."
            ]
            for coin in trends
        }
        | {"CLOCK": [(day * DAY_MS, 1.0, 1.0, 1.0, 1.0) for day in range(days)]}
    )
    said_by = [trends[coin] for coin in trends] + ["." * days]
    states, in_usd = (np.array([[key[one] for one in own] for own in said_by], np.int8).T for key in (LETTERS, IN_USD))
    panel.states, panel.in_usd, panel.runs = states, in_usd, runs(states)
    about = MarketCourse(panel)
    about.regimes[:] = [REGIMES[regime] for regime in market]
    return panel, CoinCourse(panel, about)


def regimes(found: CoinCourse, column: int = 0) -> str:
    letters = {number: letter for letter, number in REGIMES.items()}
    return "".join(letters[int(regime)] for regime in found.regimes[:, column])


def at(day: int) -> int:
    """The close of a day."""
    return (day + 1) * DAY_MS


@pytest.mark.usefixtures("unseasoned")
def test_a_coins_regime_follows_its_trend_and_every_turn_is_a_signal() -> None:
    _, found = course({"A": "HUUUUDDDDUUU"}, "o" * 12)
    assert regimes(found) == "oo++++----++"
    assert [(signal.fired_ms, signal.direction) for signal in found.signals(0)] == [
        (at(10), "long"),
        (at(6), "short"),
        (at(2), "long"),
    ]
    assert [signal.fired_ms for signal in found.signals(7)] == [at(10)]
    (now,) = found.coins()
    assert (now.coin, now.regime, now.since_ms, now.conviction) == ("A", "risk-on", at(10), 0.85)
    # Every bar is one point above the last, so the range is 1 and the line three ranges under the close.
    assert dict(now.reasons) == {
        "trend": "UP",
        "trend-streak-days": 3,
        "market-regime": "neutral",
        "line-distance-atr": 3.0,
    }


@pytest.mark.usefixtures("unseasoned")
def test_before_the_eleventh_bar_the_distance_from_the_line_is_not_among_the_reasons() -> None:
    _, found = course({"A": "UUU"}, "ooo")
    (signal,) = found.signals(0)
    assert [reason.code for reason in signal.reasons] == ["trend", "trend-streak-days", "market-regime"]
    assert signal.conviction == 0.55


@pytest.mark.usefixtures("unseasoned")
def test_a_regime_ends_when_the_market_turns_against_an_undecided_coin() -> None:
    _, found = course({"A": "UUUUHHHHH"}, "oooooo---")
    assert regimes(found) == "oo+++++oo"


@pytest.mark.usefixtures("unseasoned")
def test_a_regime_ends_when_its_coin_turns_in_dollars_though_it_is_undecided_as_a_whole() -> None:
    _, found = course({"A": "UUUUhhHHH"}, "o" * 9)
    assert regimes(found) == "oo+++oooo"


def test_a_coin_has_no_regime_before_its_trend_has_been_known_for_thirty_days() -> None:
    """Every SuperTrend begins as up: who was listed a fortnight ago has turned nowhere."""
    _, found = course({"A": ".." + "U" * 33}, "o" * 35)
    assert regimes(found) == "?" * 31 + "oo++"
    assert [signal.fired_ms for signal in found.signals(0)] == [at(33)]
    _, gaps = course({"A": "UU" + "." * 27 + "UUUU"}, "o" * 33)
    assert regimes(gaps) == "?" * 29 + "oo++"


@pytest.mark.usefixtures("unseasoned")
def test_a_coin_without_bars_has_no_regime_after_two_days() -> None:
    _, found = course({"A": "UUUUU....", "B": "HHHHHHHHH"}, "o" * 9)
    assert regimes(found) == "oo+++++??"
    assert [coin.coin for coin in found.coins()] == ["B"]


@pytest.mark.usefixtures("unseasoned")
def test_a_day_or_two_without_bars_changes_nothing() -> None:
    _, found = course({"A": "UUUU..UU"}, "o" * 8)
    assert regimes(found) == "oo++++++"


@pytest.mark.usefixtures("unseasoned")
def test_without_a_regime_of_the_market_no_coin_has_one() -> None:
    _, found = course({"A": "UUUU"}, "??oo")
    assert regimes(found) == "??oo"


# --- who leads, who disagrees ---------------------------------------------------------------------------------------


def test_standings_rank_returns_over_thirty_days_against_the_median() -> None:
    ends = {"A": 110.0, "B": 80.0, "C": 130.0, "D": 110.0, "OFF": 200.0}
    trends = {"A": "U" * 31, "B": "D" * 31, "C": "H" * 31, "D": "U" * 31, "OFF": "U" * 30 + "."}
    panel, _ = course(trends, "o" * 31, {coin: [100.0] * 30 + [end] for coin, end in ends.items()})
    assert relative_returns(panel) == [
        RelativeReturn("C", 30.0, 20.0, "HODL"),
        RelativeReturn("A", 10.0, 0.0, "UP"),
        RelativeReturn("D", 10.0, 0.0, "UP"),
        RelativeReturn("B", -20.0, -30.0, "DOWN"),
    ]
    assert relative_returns(course({"A": "U" * 30}, "o" * 30)[0]) == []
    assert relative_returns(course({"A": "U" * 30 + "."}, "o" * 31)[0]) == []


def breadths(*nets: int) -> list[Breadth]:
    return [Breadth(day, 50 + net, 0, 50 - net) for day, net in enumerate(nets)]


def btc(closes: Sequence[float | None]) -> Panel:
    return Panel(
        {
            BTC: [(day * DAY_MS, close, close, close, close) for day, close in enumerate(closes) if close is not None],
            "CLOCK": [(day * DAY_MS, 1.0, 1.0, 1.0, 1.0) for day in range(len(closes))],
        }
    )


def test_a_high_of_bitcoin_that_fewer_coins_carry_is_a_bearish_divergence() -> None:
    panel = btc([100.0 + day for day in range(20)])
    (found,) = divergences(panel, breadths(*[0] * 5, 30, *[26] * 13, 25))
    assert found == ("bearish-breadth", at(19), 50.0, 60.0, at(5))
    assert divergences(panel, breadths(*[30] * 19, 26)) == []


def test_a_low_of_bitcoin_that_fewer_coins_share_is_a_bullish_divergence() -> None:
    panel = btc([100.0 - day for day in range(20)])
    (found,) = divergences(panel, breadths(*[-30] * 19, -25))
    assert found == ("bullish-breadth", at(19), -50.0, -60.0, at(0))
    assert divergences(panel, breadths(*[-30] * 19, -26)) == []


def test_without_a_fresh_high_or_low_nothing_diverges() -> None:
    nets = breadths(*[30] * 19, -30)
    assert divergences(btc([100.0 + day for day in range(19)] + [118.0]), nets) == []
    assert divergences(btc([100.0 + day for day in range(19)] + [None]), nets) == []
    assert divergences(btc([100.0 + day for day in range(19)]), nets[1:]) == []
    assert divergences(course({"A": "U" * 20}, "o" * 20)[0], nets) == []
    assert divergences(Panel({}), []) == []


@pytest.mark.parametrize(("trend", "expected"), [("U", ["C"]), ("D", ["B"]), ("H", []), (".", [])])
def test_a_coin_opposes_bitcoin_when_its_trend_is_the_opposite(trend: str, expected: list[str]) -> None:
    panel, _ = course({BTC: "U" + trend, "A": "UH", "B": "UU", "C": "UD"}, "oo")
    assert opposed(panel) == expected
    assert opposed(course({"A": "U"}, "o")[0]) == []


# --- the recordings -------------------------------------------------------------------------------------------------


@pytest.mark.recorded
@needs_recordings
def test_the_recorded_market_has_regimes_of_both_kinds_made_of_independent_inputs() -> None:
    market = MarketAnalytics(history())
    counts = independent.breadths(history())
    closes = [row[4] for row in history()[BTC]]
    volatility = [value for value in independent.volatility(closes) if value is not None]
    now = market.regime()
    assert now is not None
    said = dict(now.reasons)
    last = counts[max(counts)]
    assert said["btc-trend"] == independent.trend(independent.charts(BTC, history()), 1)[0]  # type: ignore[index]
    assert said["breadth-net-pct"] == round(100 * (last["UP"] - last["DOWN"]) / sum(last.values()), 4)
    assert said["btc-volatility-percentile"] == pytest.approx(
        independent.percentile(volatility[-1], volatility[-365:]), abs=1e-4
    )
    assert {run.regime for run in market.regimes()} == {"risk-on", "neutral", "risk-off"}
    assert json.dumps(told(market), allow_nan=False)


@pytest.mark.recorded
@needs_recordings
def test_the_recorded_market_is_risk_off_whenever_bitcoin_and_most_coins_have_fallen_for_three_days() -> None:
    market = MarketAnalytics(history())
    runs = market.regimes()
    directions = independent.directions(independent.daily(history()[BTC]))
    falls = {
        (day - date(1970, 1, 1)).days
        for day, counts in independent.breadths(history()).items()
        if directions[day] < 0 and (counts["UP"] - counts["DOWN"]) * 5 <= -sum(counts.values())
    }
    lasting = [day for day in falls if {day - 1, day - 2} <= falls and at(day - 2) >= runs[0].since_ms]
    assert len(lasting) > 100
    for day in lasting:
        assert next(run.regime for run in runs if run.since_ms <= at(day) <= run.through_ms) == "risk-off"


@given(st.text("+o-", max_size=40), st.text("?", max_size=3))
def test_the_age_of_a_regime_is_the_number_of_its_closed_days(known: str, unknown: str) -> None:
    days = len(unknown + known)
    about = MarketCourse(Panel({"CLOCK": [(day * DAY_MS, 1.0, 1.0, 1.0, 1.0) for day in range(days)]}))
    about.regimes[:] = [REGIMES[letter] for letter in unknown + known]
    about.inputs[:] = [rules.Inputs(1, 0.0, 50.0, 1)] * days
    lengths = [len([*letters]) for _, letters in groupby(known)]
    assert [run.age_days for run in about.runs()] == lengths
    assert [run.age_days for run in filter(None, [about.now()])] == lengths[-1:]
    for run in about.runs():
        assert run.age_days == len(range(run.since_ms, run.through_ms + 1, DAY_MS))


@pytest.mark.recorded
@needs_recordings
def test_the_recorded_regime_seldom_changes_and_is_never_almost_always_the_same() -> None:
    runs = MarketAnalytics(history()).regimes()
    assert all(before.regime != after.regime for before, after in pairwise(runs))
    days = Counter[str]()
    for run in runs:
        days[run.regime] += run.age_days
    assert days.total() > 700
    assert len(runs) - 1 <= days.total() / 21
    assert min(run.age_days for run in runs[:-1]) >= rules.CONFIRM_DAYS
    for regime in ("risk-on", "neutral", "risk-off"):
        assert 0.1 < days[regime] / days.total() < 0.7


@pytest.mark.recorded
@needs_recordings
def test_no_recorded_position_stands_longer_against_its_coins_trend_in_dollars_than_a_change_takes() -> None:
    market = MarketAnalytics(history())
    positions = market.followed(tape_of(history())).positions
    held = [position for position in positions if position.hold_days >= rules.CONFIRM_COIN_DAYS]
    assert 20 < len(held) < len(market.coin_regimes())
    for position in held:
        directions = independent.directions(independent.daily(history()[position.coin]))
        newest = [directions[day] for day in sorted(directions)][-rules.CONFIRM_COIN_DAYS :]
        assert (1 if position.direction == "long" else -1) in newest, position


@pytest.mark.recorded
@needs_recordings
def test_recorded_standings_are_those_of_plain_arithmetic() -> None:
    market = MarketAnalytics(history())
    last = market.panel.last_day
    returns = {
        coin: 100 * (rows[-1][4] / rows[-31][4] - 1) for coin, rows in history().items() if rows[-1][0] == last * DAY_MS
    }
    middle = median(returns.values())
    found = market.standings()
    assert {standing.coin for standing in found} == set(returns)
    for standing in found:
        assert standing.return_pct == pytest.approx(returns[standing.coin], abs=1e-4)
        assert standing.excess_pct == pytest.approx(returns[standing.coin] - middle, abs=1e-4)
