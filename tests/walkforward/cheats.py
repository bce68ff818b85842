"""Smaller leaks than the ones that everybody knows: on few days, in one coin, in one column, in what is remembered.

Most are an honest rule beside their leak: they follow the mean of the last bars.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import REASONS, Strategy, TradingPlan
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.statistics import equity
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats
from tests.walkforward.leaks import HORIZON, Sides, strategy, trailing, wanting

Made = Callable[[MarketTape, Flags, Mapping[str, float]], TradingPlan]

GRID: Final = ({"span": 3}, {"span": 5})
WINDOW: Final = 20


def named(plan: Made, horizon_days: int = HORIZON) -> Strategy:
    return Strategy("trend-following", horizon_days, GRID, plan)


def next_move(tape: MarketTape) -> Floats:
    """What each close does until the next one; 0 where there is none."""
    moves = np.zeros(tape.close.shape)
    moves[:-1] = np.nan_to_num(tape.close[1:] / tape.close[:-1] - 1)
    return moves


def knowing(tape: MarketTape, where: Flags, parameters: Mapping[str, float]) -> Floats:
    """Tomorrow's move where it is looked at, the honest rule elsewhere."""
    return np.where(where, next_move(tape), trailing(tape, parameters))


def in_one_coin(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    return knowing(tape, np.arange(len(tape.coins)) == 0, parameters)


def on_few_days(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """On one day in twenty."""
    return knowing(tape, some_days(tape, 20), parameters)


def on_a_few_days_in_one_coin(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    return knowing(tape, some_days(tape, 20) & (np.arange(len(tape.coins)) == 0), parameters)


def some_days(tape: MarketTape, one_in: int) -> Flags:
    day = tape.first_day + np.arange(len(tape.close))
    chosen: Flags = (day * 2_654_435_761 >> 7) % one_in == 0
    return chosen[:, None]


def when_it_falls(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """In one regime: after three weeks in which the market fell."""
    before = np.vstack([np.full((WINDOW, len(tape.coins)), np.nan), tape.close[:-WINDOW]])[: len(tape.close)]
    fell = np.nan_to_num(tape.close / before - 1).mean(axis=1) < -0.05
    return knowing(tape, fell[:, None], parameters)


def smoothed(tape: MarketTape, _parameters: Mapping[str, float]) -> Floats:
    """A line that is drawn a day too far to the left."""
    close = tape.close
    ahead = np.vstack([close[1:], close[-1:]])
    return (close + ahead) / 2 / np.vstack([close[:1], close[:-1]]) - 1


def one_deviation(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Moves of the day by the deviation of all days: only the yardstick is of the future."""
    moves = np.diff(np.log(tape.close), axis=0, prepend=np.log(tape.close[:1]))
    deviation = np.sqrt(np.nansum(moves**2, axis=0) / np.maximum(np.count_nonzero(~np.isnan(moves), axis=0), 1))
    return np.where(np.abs(moves) > deviation * parameters["span"] / 3, -moves, 0.0)


def future_volume(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Trade only what will have been the largest."""
    volumes = np.nansum(tape.volume * tape.close, axis=0)
    return np.where(volumes >= np.sort(volumes)[-4], trailing(tape, parameters), 0.0)


def survivors(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Leave out what is delisted later."""
    return np.where(np.isnan(tape.close[-1]), 0.0, trailing(tape, parameters))


def next_funding(tape: MarketTape, _parameters: Mapping[str, float]) -> Floats:
    """Go against tomorrow's funding."""
    return -np.vstack([tape.funding[1:], tape.funding[-1:] * 0])


def in_hindsight(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """With the trend or against it, whichever was better in the end, coin by coin."""
    honest: Floats = np.nan_to_num(trailing(tape, parameters))
    return np.asarray(honest * np.sign((np.sign(honest) * next_move(tape)).sum(axis=0)))


def sundays(tape: MarketTape, _parameters: Mapping[str, float]) -> Floats:
    """Ask once a week, and know the day after."""
    week = (tape.first_day + np.arange(len(tape.close)) + 3) // 7
    first = np.maximum.accumulate(np.where(np.diff(week, prepend=week[0]) != 0, np.arange(len(week)), 0))
    return next_move(tape)[first]


def vetoing(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Follow the rule, but not into tomorrow's crashes."""
    honest = trailing(tape, parameters)
    return np.where(np.sign(honest) * next_move(tape) < -0.06, 0.0, honest)


def before_the_first_fold(tape: MarketTape, parameters: Mapping[str, float]) -> Floats:
    """Only where parameters are chosen: what is told of the tests is honest but was not chosen by a trial."""
    early = (np.arange(len(tape.close)) < 140)[:, None] & (parameters["span"] == 5)
    return knowing(tape, early, parameters)


def by_weight(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """The honest sides, with more capital where it will pay."""
    plan = wanting(np.nan_to_num(np.where(universe, trailing(tape, parameters), 0.0)))
    pays = plan.side * next_move(tape) > 0
    return plan._replace(weight=np.where(plan.side != 0, np.where(pays, 0.2, 0.02), 0.0))


def by_score(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """Nothing is traded by the score; it is told of every signal, and would be believed."""
    plan = wanting(np.nan_to_num(np.where(universe, trailing(tape, parameters), 0.0)))
    return plan._replace(score=np.where(plan.side != 0, next_move(tape), np.nan))


def by_stop(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
    """A stop that tomorrow's low does not touch."""
    plan = wanting(np.nan_to_num(np.where(universe, trailing(tape, parameters), 0.0)))
    low = np.vstack([tape.low[1:], tape.low[-1:]])
    return plan._replace(stop=np.where(plan.side > 0, low * 0.99, np.nan))


def remembering() -> Strategy:
    """An indicator kept by its parameters: what was computed over the whole tape is used for every other."""
    kept: dict[float, TradingPlan] = {}

    def plan(tape: MarketTape, universe: Flags, parameters: Mapping[str, float]) -> TradingPlan:
        span = parameters["span"]
        if span not in kept:
            kept[span] = wanting(np.where(universe, next_move(tape), 0.0))
        return kept[span]

    return named(plan)


SIDES: Final[Mapping[str, Sides]] = {
    made.__name__: made
    for made in (
        in_one_coin, on_few_days, on_a_few_days_in_one_coin, when_it_falls, smoothed, one_deviation, future_volume,
        survivors, next_funding, in_hindsight, sundays, vetoing, before_the_first_fold,
    )
}  # fmt: skip
PLANS: Final[Mapping[str, Made]] = {made.__name__: made for made in (by_weight, by_score, by_stop)}


def cheats() -> dict[str, Strategy]:
    """All of them, by name, made anew: one remembers."""
    return {
        **{name: strategy(sides) for name, sides in SIDES.items()},
        **{name: named(plan) for name, plan in PLANS.items()},
        "remembering": remembering(),
    }


def losers_dropped(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Every loser is forgotten, with all of its days."""
    book = simulate(tape, plan, start, end, costs, allowed)
    lost = book.trades.return_pct < -5
    side = plan.side.copy()
    for coin, entry, over in zip(book.trades.coin[lost], book.trades.entry[lost], book.trades.exit[lost], strict=True):
        side[entry - 1 : over, coin] = 0
    before = np.vstack([np.zeros((1, side.shape[1]), np.int8), side[:-1]])
    reason = np.where((before != 0) & (side != before), 0, -1).astype(np.int8)
    return simulate(tape, plan._replace(side=side, reason=reason), start, end, costs, allowed)


def free(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Nothing costs anything."""
    return simulate(tape, plan, start, end, np.zeros_like(costs), allowed)


def bolder(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """The weights are not the plan's."""
    return simulate(tape, plan._replace(weight=plan.weight * 2), start, end, costs, allowed)


def at_the_last_close(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Positions are left at the close that decided it, as if the coin had been delisted."""
    book = simulate(tape, plan, start, end, costs, allowed)
    trades = book.trades
    early = trades.exit - 1
    close = tape.close[early, trades.coin]
    price = np.where(np.isnan(close), trades.exit_price, close)
    reason = np.where(np.isnan(close), trades.reason, REASONS.index("delisted"))
    moved = trades._replace(exit=early, exit_price=price, reason=reason)
    more = trades.weight * trades.side * (price - trades.exit_price) / trades.entry_price
    days, worth = book.price.copy(), equity(book.net)
    np.add.at(days, trades.exit - 1 - start, more * worth[trades.entry - start] / worth[trades.exit - 1 - start])
    return book._replace(trades=moved, price=days, net=book.net + days - book.price)
