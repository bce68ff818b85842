"""The rules of the regime, by hand."""

from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analytics import rules
from service.analytics.hysteresis import Machine
from service.analytics.rules import (
    COIN_SYMBOLS,
    CONFIRM_COIN_DAYS,
    CONFIRM_DAYS,
    GONE,
    MARKET_SYMBOLS,
    REGIMES,
    UNSEEN,
    Inputs,
    coin_conviction,
    coin_wants,
    market_conviction,
    market_symbol,
    market_wants,
)
from service.analytics.states import DOWN, HODL, UNKNOWN, UP

MARKET = Machine(market_wants, MARKET_SYMBOLS, CONFIRM_DAYS)
COINS = Machine(coin_wants, COIN_SYMBOLS, CONFIRM_COIN_DAYS)
LETTERS = {1: "+", 0: "o", -1: "-", UNKNOWN: "?"}


def seen(btc: int, net_pct: float, volatility: float, in_usd: int = UP) -> Inputs:
    """What is seen of the market on a day; in USD, BTC goes the way it goes altogether, up where that is mixed."""
    return Inputs(btc, net_pct, volatility, btc or in_usd)


ON = seen(UP, 30, 50)
OFF = seen(DOWN, -30, 50)
MILD = seen(HODL, 10, 50)


def followed(days: Sequence[Inputs | None]) -> str:
    """The regime after each day: + risk-on, o neutral, - risk-off, ? unknown."""
    code, said = 0, ""
    for day in days:
        code = MARKET.after(code, market_symbol(day))
        said += LETTERS[MARKET.state(code)]
    return said


def returns(said: str) -> bool:
    """Whether a regime comes again after it was left."""
    runs = [regime for regime, _ in groupby(said)]
    return len(runs) != len(set(runs))


def coin_followed(days: Sequence[tuple[str, str]]) -> str:
    """A coin's regime after each day, of its trend and the market's regime (+ o -).

    U is UP, H is HODL and up in USD, h HODL and down in USD, D is DOWN; . is no state, x gone.
    """
    code, said = 0, ""
    for trend, market in days:
        symbol = {".": UNSEEN, "x": GONE}.get(trend, "D?hH?U".find(trend) * 3 + "-o+".find(market))
        code = COINS.after(code, symbol)
        said += LETTERS[COINS.state(code)]
    return said


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([], ""),
        ([None, None], "??"),
        ([ON], "o"),
        ([ON] * 5, "ooo++"),
        ([MILD, ON, ON, ON], "ooo+"),
        ([MILD, ON, ON, MILD, ON, ON, ON], "oooooo+"),
        ([MILD, ON, ON, None, ON], "oooo+"),
        ([MILD, *[OFF] * 4], "ooo--"),
        ([MILD, *[ON] * 3, *[MILD] * 4], "ooo+++++"),
        ([MILD, *[ON] * 3, *[OFF] * 3], "ooo+++-"),
        ([MILD, *[ON] * 3, OFF, seen(HODL, -5, 50), seen(HODL, -5, 50)], "ooo+++o"),
        ([MILD, *[OFF] * 3, *[seen(UP, 5, 50)] * 3], "ooo---o"),
    ],
)
def test_three_closed_days_must_want_another_regime(days: list[Inputs | None], expected: str) -> None:
    assert followed(days) == expected


@pytest.mark.parametrize(
    ("regime", "inputs", "wanted"),
    [
        ("neutral", (UP, 20, 80), "risk-on"),
        ("neutral", (UP, 19.9999, 80), "neutral"),
        ("neutral", (UP, 20, 80.1), "neutral"),
        ("neutral", (HODL, 60, 10), "neutral"),
        ("risk-on", (HODL, 0, 95), "risk-on"),
        ("risk-on", (HODL, -0.1, 95), "neutral"),
        ("risk-on", (HODL, 0, 95.1), "neutral"),
        ("risk-on", (DOWN, 0, 50), "neutral"),
        ("risk-on", (DOWN, -20, 50), "risk-off"),
        ("neutral", (DOWN, -20, 5), "risk-off"),
        ("neutral", (DOWN, -19.9999, 99), "neutral"),
        ("neutral", (HODL, -20, 79.9), "neutral"),
        ("neutral", (HODL, -20, 5, DOWN), "risk-off"),
        ("neutral", (HODL, -19.9999, 99, DOWN), "neutral"),
        ("risk-on", (HODL, -20, 50, DOWN), "risk-off"),
        ("risk-on", (HODL, 0, 50, DOWN), "risk-on"),
        ("neutral", (HODL, -20, 80), "risk-off"),
        ("neutral", (UP, -40, 99), "neutral"),
        ("risk-off", (HODL, 0, 5), "risk-off"),
        ("risk-off", (HODL, 0.1, 5), "neutral"),
        ("risk-off", (UP, 0, 5), "neutral"),
        ("risk-off", (UP, 20, 80), "risk-on"),
    ],
)
def test_what_the_market_may_be_at_each_threshold(
    regime: str, inputs: tuple[int, float, float] | tuple[int, float, float, int], wanted: str
) -> None:
    state = next(state for state, name in REGIMES.items() if name == regime)
    said = market_wants(state, market_symbol(seen(*inputs)))
    assert said is not None
    assert REGIMES[said] == wanted


@given(
    st.sampled_from([20.0, 0.0, -20.0]),
    st.sampled_from([UP, HODL, DOWN]),
    st.lists(st.floats(-9, 9), min_size=10, max_size=60),
)
def test_breadth_that_hovers_around_a_threshold_never_brings_back_a_regime_it_left(
    threshold: float, btc: int, drift: list[float]
) -> None:
    for start in ([], [ON] * 4, [OFF] * 4):
        said = followed([MILD, *start, *(seen(btc, threshold + by, 50) for by in drift)])[len(start) :]
        assert not returns(said)


@given(st.sampled_from([80.0, 95.0]), st.lists(st.floats(-4.9, 4.9), min_size=10, max_size=60))
def test_volatility_that_hovers_around_a_threshold_changes_the_regime_once_at_most(
    threshold: float, drift: list[float]
) -> None:
    for start in ([], [ON] * 4):
        said = followed([MILD, *start, *(seen(UP, 30, threshold + by) for by in drift)])[len(start) :]
        assert not returns(said)
        assert sum(before != after for before, after in pairwise(said)) <= 1


@pytest.mark.parametrize(
    ("trend", "market", "expected"),
    [
        ("UUUU", "oooo", "oo++"),
        ("UUUU", "++++", "oo++"),
        ("UUUU", "----", "oooo"),
        ("DDDD", "oooo", "oo--"),
        ("DDDD", "++++", "oooo"),
        ("HHHH", "++++", "oooo"),
        ("UUUHHHH", "oooooo-", "oo+++++"),
        ("UUUHHHH", "ooo----", "oo++ooo"),
        ("UUUUUUU", "ooo----", "oo+++++"),
        ("UUUDDDD", "ooooooo", "oo++---"),
        ("UUUDDDD", "+++++++", "oo++ooo"),
        ("UUUDHDH", "oooo---", "oo++ooo"),
        ("hhhh", "----", "oooo"),
        ("UUUDUDU", "ooooooo", "oo+++++"),
        ("DDDhhhh", "ooooooo", "oo-----"),
        ("DDDhhhh", "ooo++++", "oo--ooo"),
        ("DDDHHHH", "ooooooo", "oo--ooo"),
        ("DDDHHHH", "-------", "oo--ooo"),
        ("DDDHhHh", "ooooooo", "oo-----"),
        ("UUUhhhh", "+++++++", "oo++ooo"),
        ("UUUhHhH", "ooooooo", "oo+++++"),
        ("U.UU..U", "ooooooo", "ooo++++"),
        ("UUUxxUUU", "oooooooo", "oo+??oo+"),
        (".U", "oo", "?o"),
        ("x.U", "ooo", "??o"),
    ],
)
def test_a_coins_regime_follows_its_trend_unless_the_market_opposes_it(trend: str, market: str, expected: str) -> None:
    assert coin_followed(list(zip(trend, market, strict=True))) == expected


@given(st.lists(st.integers(0, COIN_SYMBOLS - 1), max_size=40), st.data())
def test_many_series_walked_at_once_go_the_way_each_goes_alone(symbols: list[int], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.integers(0, COIN_SYMBOLS - 1), min_size=len(symbols), max_size=len(symbols)))
    table = np.array([symbols, others], np.int16).T.reshape(-1, 2)
    walked = COINS.walk(table)
    code = 0
    for row, symbol in enumerate(symbols):
        code = COINS.after(code, symbol)
        assert walked[row, 0] == code
        assert COINS.states(walked)[row, 0] == COINS.state(code)


@pytest.mark.parametrize(
    ("regime", "inputs", "expected"),
    [
        (rules.RISK_ON, seen(UP, 60, 0), 1.0),
        (rules.RISK_ON, seen(UP, 30, 50), 0.65),
        (rules.RISK_ON, seen(DOWN, -5, 100), 0.0),
        (rules.RISK_ON, seen(HODL, 90, 25), 0.8),
        (rules.RISK_OFF, seen(DOWN, -60, 100), 1.0),
        (rules.RISK_OFF, seen(HODL, -30, 50), 0.5),
        (rules.RISK_OFF, seen(UP, 10, 0), 0.0),
        (rules.NEUTRAL, seen(HODL, 0, 50), 1.0),
        (rules.NEUTRAL, seen(UP, 80, 100), 0.15),
        (rules.NEUTRAL, seen(DOWN, -15, 75), 0.625),
    ],
)
def test_conviction_of_the_market_by_hand(regime: int, inputs: Inputs, expected: float) -> None:
    assert market_conviction(regime, inputs) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("regime", "trend", "market", "reach", "expected"),
    [
        (rules.RISK_ON, UP, rules.RISK_ON, 3.0, 1.0),
        (rules.RISK_ON, UP, rules.NEUTRAL, 1.5, 0.7),
        (rules.RISK_ON, HODL, rules.RISK_OFF, -1.0, 0.2),
        (rules.RISK_ON, UP, rules.RISK_ON, None, 0.7),
        (rules.RISK_OFF, DOWN, rules.RISK_OFF, -9.0, 1.0),
        (rules.RISK_OFF, DOWN, rules.NEUTRAL, 2.0, 0.55),
        (rules.NEUTRAL, HODL, rules.NEUTRAL, 0.0, 1.0),
        (rules.NEUTRAL, UP, rules.RISK_OFF, -6.0, 0.35),
        (rules.NEUTRAL, HODL, rules.NEUTRAL, None, 0.7),
    ],
)
def test_conviction_of_a_coin_by_hand(
    regime: int, trend: int, market: int, reach: float | None, expected: float
) -> None:
    assert coin_conviction(regime, trend, market, reach) == pytest.approx(expected, abs=1e-4)


@given(
    st.sampled_from([1, 0, -1]),
    st.builds(seen, st.sampled_from([UP, HODL, DOWN]), st.floats(-100, 100), st.floats(0, 100)),
    st.floats(-20, 20),
)
def test_conviction_is_between_nothing_and_one(regime: int, inputs: Inputs, reach: float) -> None:
    assert 0 <= market_conviction(regime, inputs) <= 1
    assert 0 <= coin_conviction(regime, inputs.btc, regime, reach) <= 1
