"""Trend states against an independent computation with TA-Lib."""

from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.bars import Row
from service.analytics.panel import BTC, ETH, Panel
from service.analytics.trend import Assessment, Trend, assess_alone, assessments
from service.clock import DAY_MS
from tests.analytics import independent
from tests.market.recordings import history, needs_recordings

History = dict[str, list[Row]]


@st.composite
def histories(draw: st.DrawFn, most: int = 90) -> History:
    """Coins of different length with days missing, on a coarse grid of prices."""
    made: History = {}
    for coin in ("SOL", BTC, ETH):
        days = draw(st.sets(st.integers(0, most)))
        prices = draw(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=len(days), max_size=len(days)))
        made[coin] = [
            (day * DAY_MS, 20.0 + o, 20.0 + max(o, c) + h, 20.0 + min(o, c) - low, 20.0 + c)
            for day, (o, h, low, c) in zip(sorted(days), prices, strict=True)
        ]
    return made


def rising(days: range, step: float) -> list[Row]:
    return [(day * DAY_MS, p, p * 1.01, p * 0.99, p) for day, p in ((day, 100 * step**day) for day in days)]


def scaled(rows: list[Row], factor: float) -> list[Row]:
    return [(day, o * factor, h * factor, low * factor, c * factor) for day, o, h, low, c in rows]


def assess(history: History, coins: Collection[str]) -> dict[str, Assessment]:
    found = assessments(Panel(history))
    return {coin: found[coin] for coin in coins}


def independently(coin: str, history: History) -> Assessment:
    charts = independent.charts(coin, history)
    common = sorted(set.intersection(*(set(chart) for chart in charts)))
    days = independent.trend(charts, 1)
    weeks = independent.trend([independent.weekly(chart) for chart in charts], 7)
    btc = independent.daily(history[BTC])
    return Assessment(
        through_ms=(common[-1].toordinal() - 719_163 + 1) * DAY_MS if common else None,
        daily=days,  # type: ignore[arg-type] # a plain tuple equals the named one
        weekly=weeks,  # type: ignore[arg-type]
        btc_correlation=1.0 if coin == BTC else independent.correlation(charts[0], btc),
    )


def test_a_coin_that_outruns_all_is_up_and_one_that_falls_behind_all_is_down() -> None:
    days = range(180)
    falling = rising(range(90), 1.0) + scaled(rising(range(90, 180), 0.95), 0.95**-90)
    history = {"A": rising(days, 1.02), "B": falling, BTC: rising(days, 1.0), ETH: rising(days, 1.001)}
    assessed = assess(history, ["A", "B"])
    assert {coin: (a.daily and a.daily.state, a.weekly and a.weekly.state) for coin, a in assessed.items()} == {
        "A": ("UP", "UP"),
        "B": ("DOWN", "DOWN"),
    }


def test_a_coin_that_rises_slower_than_bitcoin_is_hodl() -> None:
    days = range(120)
    history = {"A": rising(days, 1.005), BTC: rising(days, 1.02), ETH: rising(days, 1.02)}
    (assessment,) = assess(history, ["A"]).values()
    assert assessment.daily is not None
    assert assessment.daily.state == "HODL"


def test_bitcoin_and_ether_are_not_compared_with_themselves() -> None:
    days = range(60)
    history = {BTC: rising(days, 1.02), ETH: rising(days, 1.01)}
    assessed = assess(history, [BTC, ETH])
    assert assessed[BTC].daily == ("UP", 11 * DAY_MS)
    assert assessed[ETH].daily is not None
    assert assessed[ETH].daily.state == "HODL"
    assert assessed[BTC].btc_correlation == 1


def test_since_is_the_close_of_the_first_bar_of_the_present_run() -> None:
    turned = rising(range(40), 1.02) + scaled(rising(range(40, 80), 0.98), 4.0)
    still = rising(range(80), 1.0)
    (assessment,) = assess({"A": turned, BTC: still, ETH: still}, ["A"]).values()
    assert assessment.daily is not None
    assert assessment.daily.state == "DOWN"
    assert 40 * DAY_MS < assessment.daily.since_ms < 60 * DAY_MS


def test_without_bitcoins_bars_nothing_is_said_of_a_coin() -> None:
    assert assess({"A": rising(range(60), 1.02)}, ["A"]) == {"A": Assessment(None, None, None, None)}


def test_a_coin_with_few_bars_has_a_date_but_no_trend() -> None:
    still = rising(range(60), 1.0)
    assessed = assess({"A": rising(range(50, 60), 1.02), BTC: still, ETH: still}, ["A"])
    assert assessed == {"A": Assessment(60 * DAY_MS, None, None, None)}


def test_no_coins_are_no_work() -> None:
    assert assess({}, []) == {}


@pytest.mark.promise("risk.trends")
@settings(max_examples=60, deadline=None)
@given(histories())
def test_any_history_gives_what_the_independent_computation_gives(history: History) -> None:
    for coin, ours in assess(history, list(history)).items():
        theirs = independently(coin, history) if all(history.values()) else None
        if theirs is not None:
            correlation = theirs.btc_correlation
            assert ours._replace(btc_correlation=None) == theirs._replace(btc_correlation=None)
            assert ours.btc_correlation == (None if correlation is None else pytest.approx(correlation, abs=1e-9))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(histories(most=60))
def test_the_states_published_day_by_day_are_those_recomputed_later(history: History) -> None:
    published: dict[int, str] = {}
    for today in range(61):
        known = {coin: [row for row in rows if row[0] <= today * DAY_MS] for coin, rows in history.items()}
        trend = assess(known, ["SOL"])["SOL"].daily
        if trend is not None:
            published[today] = trend.state
    recomputed = assess(history, ["SOL"])["SOL"].daily
    if recomputed is None:
        assert not published
        return
    run = [today for today in published if all(published[d] == recomputed.state for d in published if d >= today)]
    assert recomputed.since_ms == (run[0] + 1) * DAY_MS


@pytest.mark.promise("risk.trends")
@pytest.mark.recorded
@needs_recordings
def test_every_recorded_coin_equals_the_independent_computation() -> None:
    assessed = assess(history(), list(history()))
    for coin, ours in assessed.items():
        theirs = independently(coin, history())
        assert ours._replace(btc_correlation=None) == theirs._replace(btc_correlation=None), coin
        assert ours.btc_correlation == pytest.approx(theirs.btc_correlation, abs=1e-9)
    assert len(assessed) == 116
    assert {a.daily.state for a in assessed.values() if a.daily} == {"UP", "HODL", "DOWN"}


def test_an_asset_alone_is_up_or_down_and_has_no_correlation() -> None:
    sessions = [day for day in range(60) if day % 7 < 5]
    falling = [(day * DAY_MS, p, p * 1.01, p * 0.99, p) for day, p in ((day, 100 * 0.97**day) for day in sessions)]
    assessed = assess_alone({"GOLD": rising(range(60), 1.02), "CRUDE": falling, "NEW": falling[:5]})
    assert assessed["GOLD"] == Assessment(60 * DAY_MS, Trend("UP", 11 * DAY_MS), None, None)
    assert assessed["CRUDE"].daily is not None
    assert assessed["CRUDE"].daily.state == "DOWN"
    assert assessed["NEW"] == Assessment(5 * DAY_MS, None, None, None)


@settings(max_examples=30, deadline=None)
@given(histories())
def test_an_asset_alone_equals_the_independent_computation(history: History) -> None:
    for asset, ours in assess_alone(history).items():
        chart = independent.daily(history[asset])
        assert ours.daily == independent.trend([chart], 1)
        assert ours.weekly == independent.trend([independent.weekly(chart)], 7)
        assert ours.btc_correlation is None
