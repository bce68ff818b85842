"""Surrogate tapes: like the market in everything but which way it goes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analytics.backtest import surrogates
from service.analytics.backtest.plan import Strategy
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.strategies import STRATEGIES
from service.analytics.backtest.surrogates import FURTHEST, sign_flip_tape
from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from service.analytics.backtest.universe import tradable
from service.analytics.bars import Floats
from tests.analytics.backtest.tapes import tapes
from tests.walkforward.leaks import DAYS, market


def moves(tape: MarketTape) -> Floats:
    """What each coin does from one open to that of its next bar."""
    out = np.full(tape.open.shape, np.nan)
    for column in range(tape.open.shape[1]):
        rows = np.flatnonzero(~np.isnan(tape.open[:, column]))
        out[rows[:-1], column] = tape.open[rows[1:], column] / tape.open[rows[:-1], column] - 1
    return out


@settings(max_examples=20, deadline=None)
@given(tapes(), st.integers(0, 2**64 - 1))
def test_a_day_of_a_surrogate_is_the_recorded_one_or_its_mirror_for_all_coins(tape: MarketTape, seed: int) -> None:
    turned = sign_flip_tape(tape, seed)
    before, after = moves(tape), moves(turned)
    known = ~np.isnan(before)
    assert np.array_equal(known, ~np.isnan(after))
    for row in range(len(before)):
        kept, mirrored = (
            np.allclose(after[row][known[row]], sign * before[row][known[row]], rtol=0, atol=1e-12) for sign in (1, -1)
        )
        assert kept or mirrored


@settings(max_examples=20, deadline=None)
@given(tapes(), st.integers(0, 2**64 - 1))
def test_a_surrogate_has_the_bars_funding_and_dollar_volumes_of_its_market(tape: MarketTape, seed: int) -> None:
    turned = sign_flip_tape(tape, seed)
    for one, other in zip(tape[2:], turned[2:], strict=True):
        assert np.array_equal(np.isnan(one), np.isnan(other))
    assert np.array_equal(tape.funding, turned.funding, equal_nan=True)
    assert np.allclose(tape.close * tape.volume, turned.close * turned.volume, equal_nan=True)
    there = ~np.isnan(turned.close)
    low, high = (np.stack([turned.open, turned.close])[:, there] for _ in range(2))
    assert (turned.low[there] <= low.min(axis=0) * (1 + 1e-12)).all()
    assert (turned.high[there] >= high.max(axis=0) * (1 - 1e-12)).all()
    assert (turned.low[there] > 0).all()


@settings(max_examples=10, deadline=None)
@given(tapes(), st.integers(0, 2**32), st.integers(1, 160))
def test_what_a_surrogate_shows_of_a_day_does_not_depend_on_later_ones(tape: MarketTape, seed: int, rows: int) -> None:
    for one, other in zip(sign_flip_tape(tape, seed)[2:], sign_flip_tape(tape.until(rows), seed)[2:], strict=True):
        assert np.array_equal(one[:rows], other, equal_nan=True)


def test_over_both_throws_the_mean_move_is_zero_also_of_a_coin_that_doubles() -> None:
    bars = [DayBar(0, 10, 45, 9, 40, 5), DayBar(1, 44, 50, 40, 44, 5), DayBar(2, 22, 23, 21, 22, 5)]
    tape = build_tape({"A": bars}, {})
    seen = {tuple(moves(sign_flip_tape(tape, seed))[:2, 0].round(9)) for seed in range(40)}
    assert seen == {(first, second) for first in (FURTHEST, -FURTHEST) for second in (0.5, -0.5)}


def test_the_throws_of_a_seed_are_these_on_every_machine() -> None:
    bars = [DayBar(day, 100 + day % 2, 102, 99, 100 + (day + 1) % 2, 5) for day in range(17)]
    turned = sign_flip_tape(build_tape({"A": bars}, {}), 42)
    recorded = build_tape({"A": bars}, {})
    raw = np.random.PCG64(42).random_raw(16)  # a stream that numpy promises to keep
    kept = np.sign(moves(turned)[:16, 0]) == np.sign(moves(recorded)[:16, 0])
    assert kept.tolist() == [bool(word >> np.uint64(63)) for word in raw]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_what_a_day_brings_is_turned_over_with_its_toss_whatever_was_decided_before(
    strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the mean over both tosses is zero exactly, given all that is known, for any honest plan and any market."""
    recorded, tossed = market(3), np.where(np.random.default_rng(3).random(DAYS) < 0.5, 1.0, -1.0)
    universe = tradable(recorded, 8)

    def brought(signs: Floats) -> Floats:
        monkeypatch.setattr(surrogates, "_signs", lambda days, _seed: signs[:days])
        tape = sign_flip_tape(recorded, 0)
        return simulate(
            tape, strategy.plan(tape, universe, strategy.grid[0]), 100, DAYS, np.zeros_like(tape.open)
        ).price

    before = brought(tossed)
    for row in range(105, DAYS, 30):
        turned = tossed.copy()
        turned[row] *= -1
        after = brought(turned)
        assert np.array_equal(before[: row - 100], after[: row - 100])
        assert after[row - 100] == pytest.approx(-before[row - 100], abs=1e-12)
    assert np.abs(before).max() > 0.001
