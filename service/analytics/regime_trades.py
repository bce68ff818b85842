"""The positions that follow coins' regimes, filled and charged as the back-tests' are."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from service.analytics import rules
from service.analytics.backtest.book import BacktestBook
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan, previous_rows
from service.analytics.backtest.simulation import simulate
from service.analytics.backtest.tape import MarketTape
from service.analytics.backtest.universe import fill_costs
from service.analytics.bars import Floats
from service.analytics.findings import ExitReason, OpenPosition, Trade
from service.analytics.panel import Panel
from service.analytics.regime import CoinCourse
from service.analytics.states import UNKNOWN
from service.analytics.trend_states import States


class RegimeTrades(NamedTuple):
    """What following the regimes brought: the positions wanted at the last close, and closed trades by coin."""

    positions: list[OpenPosition]
    trades: dict[str, list[Trade]]


def follow(panel: Panel, course: CoinCourse, tape: MarketTape) -> RegimeTrades:
    """Trade every coin by its regime: long in risk-on, short in risk-off.

    Args:
        panel: The coins.
        course: Their regimes.
        tape: The bars that the panel was made of, with volumes, and the funding that is known.

    Returns:
        Positions that the regimes want at the last close. One that was decided on it has no entry price yet. Trades
        are oldest first; one that was decided to end on the last close is not among them yet.

    Raises:
        ValueError: If the tape is not of the panel's days.
    """
    columns = [panel.column(coin) for coin in tape.coins]
    regimes = course.regimes[:, columns]
    book = simulate(
        tape, _plan(np.where(regimes == UNKNOWN, rules.NEUTRAL, regimes)), 0, len(regimes), fill_costs(tape)
    )
    return RegimeTrades(_positions(course, tape, columns, book), _trades(panel, course, tape, columns, book))


def _plan(sides: States) -> TradingPlan:
    """Want the side of each regime; the course says why it is left.

    Weights are zero: each trade stands for itself, and no coin's loss ends the trades of others.
    """
    side = sides.astype(np.int8)
    before = previous_rows(side, 0)
    left = (before != 0) & (side != before)
    unknown: Floats = np.full(side.shape, np.nan)
    reason = np.where(left, REASONS.index("trend-turned"), NO_REASON).astype(np.int8)
    return TradingPlan(side, np.zeros(side.shape), unknown, unknown, reason)


def _positions(course: CoinCourse, tape: MarketTape, columns: list[int], book: BacktestBook) -> list[OpenPosition]:
    """What was held over the last day and is wanted still, and what is entered at the next open."""
    last, held, pending = len(tape.close) - 1, book.open, book.signals.row == len(tape.close) - 1
    entries = [
        *zip(held.coin.tolist(), held.side.tolist(), held.entry.tolist(), held.entry_price.tolist(), strict=True)
    ]
    entries += [
        (coin, side, last + 1, None)
        for coin, side in zip(book.signals.coin[pending].tolist(), book.signals.side[pending].tolist(), strict=True)
    ]
    return [
        OpenPosition(
            coin=tape.coins[coin],
            regime=rules.REGIMES[side],
            direction=rules.DIRECTIONS[side],
            conviction=course.conviction(last, columns[coin]),
            entry_day=tape.first_day + entry,
            entry_price=price,
            hold_days=last + 1 - entry,
        )
        for coin, side, entry, price in entries
        if int(course.regimes[last, columns[coin]]) == side
    ]


def _trades(
    panel: Panel, course: CoinCourse, tape: MarketTape, columns: list[int], book: BacktestBook
) -> dict[str, list[Trade]]:
    done, trades = book.trades, defaultdict[str, list[Trade]](list)
    known = np.vstack([np.zeros((1, len(tape.coins)), np.int64), np.cumsum(~np.isnan(tape.funding), axis=0)])
    gone = done.reason == REASONS.index("delisted")
    over = done.exit + gone
    funded = known[over, done.coin] - known[done.entry, done.coin]
    for place, coin in enumerate(done.coin.tolist()):
        side, exit_row = int(done.side[place]), int(done.exit[place])
        trades[tape.coins[coin]].append(
            Trade(
                coin=tape.coins[coin],
                direction=rules.DIRECTIONS[side],
                entry_day=tape.first_day + int(done.entry[place]),
                entry_price=float(done.entry_price[place]),
                exit_day=tape.first_day + exit_row,
                exit_price=float(done.exit_price[place]),
                return_pct=float(done.return_pct[place]),
                funding_pct=float(done.funding_pct[place]),
                cost_pct=float(done.cost_pct[place]),
                hold_days=int(done.days[place]),
                funded_days=int(funded[place]),
                exit_reason="no-bars" if gone[place] else _reason(panel, course, side, exit_row - 1, columns[coin]),
            )
        )
    return dict(trades)


def _reason(panel: Panel, course: CoinCourse, side: int, row: int, column: int) -> ExitReason:
    """Why a regime was left on a row."""
    if course.regimes[row, column] == UNKNOWN:
        return "no-bars"
    return "trend-turned" if panel.in_usd[row, column] == -side else "market-turned"
