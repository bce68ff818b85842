"""Strategies and fills that cheat, each in a way that real back-tests do, and an honest one beside them."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.inspection import plan_a_day_early
from service.analytics.backtest.plan import NO_REASON, REASONS, Strategy, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from service.walkforward.parameters import Parameters
from service.walkforward.walk import Simulate, WalkContext, prepare

PARAMETERS = Parameters(train_days=150, test_days=60, universe_size=8)
COINS = 9
DAYS = 320
HORIZON = 30
Sides = Callable[[MarketTape, Mapping[str, float]], Floats]


@cache
def market(seed: int = 1, days: int = DAYS) -> MarketTape:
    """Random walks that no rule can foresee: gaps at the open, one coin listed late, one delisted, one with a hole."""
    dice = np.random.default_rng(seed)
    common, own = dice.normal(0, 0.03, (days, 1)), dice.normal(0, 0.03, (days, COINS))
    close = 50 * np.exp(np.cumsum(common + own, axis=0))
    opens = np.vstack([np.full((1, COINS), 50.0), close[:-1]]) * np.exp(dice.normal(0, 0.004, (days, COINS)))
    reach = np.exp(np.abs(dice.normal(0, 0.01, (2, days, COINS))))
    high, low = np.maximum(opens, close) * reach[0], np.minimum(opens, close) / reach[1]
    volume = dice.uniform(1e4, 3e4, (days, COINS))
    funding = dice.normal(0.0003, 0.0008, (days, COINS)) * (np.arange(COINS) != 1)
    missing = np.zeros((days, COINS), np.bool_)
    missing[:40, 2] = missing[260:, 3] = missing[200:203, 4] = True
    tables = [np.where(missing, np.nan, table) for table in (opens, high, low, close, volume, funding)]
    tables[-1][:, 1] = np.nan
    return MarketTape(tuple("ABCDEFGHI"), 20_000, *tables)


def ground(
    tape: MarketTape | None = None, simulator: Simulate = simulate, parameters: Parameters = PARAMETERS
) -> WalkContext:
    tape = tape or market()
    return prepare(tape, parameters, simulator)


def strategy(sides: Sides, *grid: int) -> Strategy:
    """Make one of a function that says which way each coin goes; it may be wanted for as long as that stays so."""

    def plan(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
        with np.errstate(invalid="ignore"):
            score = np.where(universe, sides(tape, parameters), 0.0)
        return wanting(np.nan_to_num(score))

    return Strategy("trend-following", HORIZON, tuple({"span": span} for span in grid or (3, 5)), plan)


def wanting(score: Floats) -> TradingPlan:
    side = np.sign(score).astype(np.int8)
    before = np.vstack([np.zeros((1, side.shape[1]), np.int8), side[:-1]])
    left = (before != 0) & (side != before)
    return TradingPlan(
        side=side,
        weight=np.where(side != 0, 0.1, 0.0),
        score=np.where(side != 0, score, np.nan),
        stop=np.full(side.shape, np.nan),
        reason=np.where(left, REASONS.index("trend-turned"), NO_REASON).astype(np.int8),
    )


def moving_average(close: Floats, before: int, after: int) -> Floats:
    """The mean of the bars from so many before to so many after, of those that there are."""
    rows = len(close)
    spans = [close[max(row - before, 0) : row + after + 1] for row in range(rows)]
    return np.array([span.mean(axis=0) for span in spans])


def trailing(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Honest: above or below the mean of the last bars."""
    return tape.close / moving_average(tape.close, int(parameters["span"]), 0) - 1


def centred(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """The centred window: a smooth line is smooth because it knows the bars to both sides."""
    half = int(parameters["span"]) // 2
    line = moving_average(tape.close, half, half)
    return np.vstack([np.zeros((1, line.shape[1])), np.diff(line, axis=0)]) / line


def scaled(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """The full-sample scaler: cheap and dear are told by a mean and deviation of days that are still to come."""
    logs = np.log(tape.close)
    bars = np.maximum(np.count_nonzero(~np.isnan(logs), axis=0), 1)
    away = logs - np.nansum(logs, axis=0) / bars
    normal = away / np.sqrt(np.nansum(away**2, axis=0) / bars + 1e-12)
    return np.where(np.abs(normal) > parameters["span"] / 10, -normal, 0.0)


def same_bar(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """The same-bar fill: decided at a close, filled at the open before it."""
    early = np.vstack([tape.open[:1], tape.open[:-1]])
    return simulate(tape._replace(open=np.where(np.isnan(tape.open), np.nan, early)), plan, start, end, costs, allowed)


def at_close(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """A milder one: filled at the very close that decided, which nobody could have traded at."""
    early = np.vstack([tape.open[:1], tape.close[:-1]])
    return simulate(tape._replace(open=np.where(np.isnan(early), tape.open, early)), plan, start, end, costs, allowed)


def a_day_early(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Prices are those of the tape, but the plan is followed before it is decided."""
    return simulate(tape, plan_a_day_early(plan), start, end, costs, allowed)


def embellished(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Positions are told as they should be, but the days are those of a cheat."""
    early = same_bar(tape, plan, start, end, costs, allowed)
    return simulate(tape, plan, start, end, costs, allowed)._replace(net=early.net, price=early.price)


def unpurged(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """A back-test that takes no notice of what it is allowed."""
    return simulate(tape, plan, start, end, costs, None)
