"""From the reference's dictionaries to the tables of the service, and back, so that the two can be compared."""

import math

import numpy as np

from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import DayBar, MarketTape, build_tape
from tests.walkforward import reference_trading as reference
from tests.walkforward.reference_bars import History


def tape_of(history: History) -> MarketTape:
    laid = build_tape(
        {coin: [DayBar(day, *bar) for day, bar in bars.items()] for coin, bars in history.bars.items()}, history.paid
    )
    assert (laid.first_day, len(laid.open)) == (history.days.start, len(history.days))
    return laid


def plan_of(history: History, decided: reference.Plan) -> TradingPlan:
    """The reference's decisions as a plan of the service."""
    coins, days = sorted(history.bars), history.days
    shape = len(days), len(coins)
    side, reason = np.zeros(shape, np.int8), np.full(shape, NO_REASON, np.int8)
    weight, (score, stop) = np.zeros(shape), np.full((2, *shape), np.nan)
    for column, coin in enumerate(coins):
        for row, day in enumerate(days):
            decision = decided.get(coin, {}).get(day, reference.FLAT)
            side[row, column], weight[row, column] = decision.side, decision.weight
            if decision.score is not None:
                score[row, column] = decision.score
            if decision.stop is not None:
                stop[row, column] = decision.stop
            if decision.reason is not None:
                reason[row, column] = REASONS.index(decision.reason)
    return TradingPlan(side, weight, score, stop, reason)


def decisions_of(history: History, plan: TradingPlan) -> dict[tuple[str, int], reference.Decision]:
    """Every decision of the service's plan that is not nothing at all, by coin and day."""
    made = {}
    for row, column in np.argwhere((plan.side != 0) | (plan.reason != NO_REASON)).tolist():
        side, reason = int(plan.side[row, column]), int(plan.reason[row, column])
        score, stop = _known(plan.score[row, column]), _known(plan.stop[row, column])
        why = None if reason == NO_REASON else REASONS[reason]
        made[sorted(history.bars)[column], history.days[row]] = reference.Decision(
            side, float(plan.weight[row, column]), score, stop, why
        )
    return made


def trades_of(history: History, book: BacktestBook) -> list[reference.Trade]:
    """The service's trades as the reference tells them, by entry and coin."""
    coins, days = sorted(history.bars), history.days
    return [
        reference.Trade(
            coin=coins[coin],
            side=side,
            entered=days[entry],
            left=days[left],
            entry=entry_price,
            exit=exit_price,
            weight=weight,
            price=price / 100,
            funding=funding / 100,
            cost=cost / 100,
            held_days=held,
            reason=REASONS[reason],
        )
        for coin, side, entry, left, entry_price, exit_price, weight, held, price, funding, cost, _, reason in zip(
            *(column.tolist() for column in book.trades), strict=True
        )
    ]


def held_of(history: History, book: BacktestBook) -> list[reference.Trade]:
    """The service's open positions as the reference tells them: at the last close, without an exit."""
    coins, days = sorted(history.bars), history.days
    last = days[-1]
    return [
        reference.Trade(
            coin=coins[coin],
            side=side,
            entered=days[entry],
            left=last,
            entry=price_in,
            exit=history.bars[coins[coin]][last].close,
            weight=weight,
            price=price / 100,
            funding=funding / 100,
            cost=cost / 100,
            held_days=held,
            reason=None,
        )
        for coin, side, entry, price_in, weight, held, _, price, funding, cost in zip(
            *(column.tolist() for column in book.open), strict=True
        )
    ]


def signals_of(history: History, book: BacktestBook) -> list[reference.Signal]:
    coins, days = sorted(history.bars), history.days
    return [
        reference.Signal(coins[coin], days[row], side, _known(score), _known(price))
        for row, coin, side, score, _, price in zip(*(column.tolist() for column in book.signals), strict=True)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
