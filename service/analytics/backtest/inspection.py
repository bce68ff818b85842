"""What the leakage gate looks at, in numbers: it judges plans and books without trusting who made them."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from math import inf, isfinite, sqrt
from typing import Final, NamedTuple

import numpy as np

from service.analytics.backtest.book import RESTING_RATE, BacktestBook
from service.analytics.backtest.plan import NO_REASON, REASONS, TradingPlan
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats

EXACT: Final = 1e-9
"""How far two figures that must be the same may be apart: what adding in another order does, not a cent."""


class SurrogateEdge(NamedTuple):
    """The return on days that cannot be foreseen.

    `yearly_pct` of the equity, `errors` how many standard errors that is from zero, `days` with a position. Without
    such a day there is no standard error, so `errors` is None.
    """

    yearly_pct: float
    errors: float | None
    days: int


def digest_tape(tape: MarketTape) -> str:
    """Digest a tape: SHA-256, in hex, over its coins, its first day and its tables, row by row, as 64-bit floats."""
    seen = sha256(f"{','.join(tape.coins)}\n{tape.first_day}\n{len(tape.close)}\n".encode())
    for prices in (tape.open, tape.high, tape.low, tape.close, tape.volume, tape.funding):
        # Whatever NaN was made of, it says the same; the order of the bytes is that of most machines.
        seen.update(np.where(np.isnan(prices), np.nan, prices).astype("<f8").tobytes())
    return seen.hexdigest()


def rows_of(rows: int, spans: Iterable[range]) -> Flags:
    """Mark the rows of spans, of shape (rows,)."""
    flags = np.zeros(rows, np.bool_)
    for span in spans:
        flags[span.start : span.stop] = True
    return flags


def held_over(decided: Flags) -> Flags:
    """Mark the rows over which a position decided on the marked ones can be held: each is the row after."""
    return np.concatenate([np.zeros(1, np.bool_), decided[:-1]])


def first_difference(whole: TradingPlan, beginning: TradingPlan, rows: int) -> int | None:
    """Find the first row on which the plan of a tape of so many rows is not that of the whole one; none if none is.

    A plan that is not of that length was made of another tape: it differs from its first row on.
    """
    differs = np.zeros(rows, np.bool_)
    for long, short in (
        (whole.side, beginning.side),
        (whole.weight, beginning.weight),
        (whole.score, beginning.score),
        (whole.stop, beginning.stop),
        (whole.reason, beginning.reason),
    ):
        if short.shape != (rows, *long.shape[1:]):
            return 0
        if not np.array_equal(long[:rows], short, equal_nan=True):
            same = np.isclose(long[:rows], short, rtol=EXACT, atol=0.0, equal_nan=True)
            differs |= ~same.all(axis=1)
    return int(differs.argmax()) if differs.any() else None


def longest_holding(plan: TradingPlan) -> int:
    """For how many days at most a plan wants one side of a coin without a break."""
    side = plan.side
    row = np.arange(len(side))[:, None]
    changed = np.diff(side, axis=0, prepend=np.zeros((1, side.shape[1]), side.dtype)) != 0
    since = np.maximum.accumulate(np.where(changed, row, 0), axis=0)
    return int(np.where(side != 0, row - since + 1, 0).max(initial=0))


def plan_a_day_early(plan: TradingPlan) -> TradingPlan:
    """The plan of somebody who knows each close a day before: every row wants what the next does, the last stays."""
    ahead = np.minimum(np.arange(1, len(plan.side) + 1), len(plan.side) - 1)
    reason = plan.reason[ahead]
    reason[-1] = NO_REASON
    return TradingPlan(plan.side[ahead], plan.weight[ahead], plan.score[ahead], plan.stop[ahead], reason)


def surrogate_edge(parts: Sequence[Floats]) -> SurrogateEdge:
    """Measure what a plan earned on surrogate tapes.

    Where every day's move is as likely to be turned over as not, a day's part is symmetrical about zero given all days
    before it. So however wild the prices are, the sum is beyond x√y while the sum of squares is y at most with a
    probability of exp(-x²/2) at most (V. de la Peña, "A general class of exponential inequalities for martingales and
    ratios", 1999); over many days the sum over the root of the sum of squares is about normal.

    Args:
        parts: The price's part of each day, a share of equity, of any number of tapes.
    """
    daily = np.concatenate([*parts, np.zeros(1)])
    spread = sqrt(float(np.square(daily).sum()))
    total = float(daily.sum())
    errors = total / spread if spread else None
    return SurrogateEdge(total / max(daily.size - 1, 1) * 36_500, errors, int(np.count_nonzero(daily)))


def count_misfilled(tape: MarketTape, plan: TradingPlan, begin: int, end: int, book: BacktestBook) -> int:
    """Count the positions of a book that are not those of its plan: filled at the open of the row after the decision.

    What was wanted is read from the plan, prices from the tape; nothing the book says of itself is believed. A position
    has the weight that the plan gave it, is left at the open of its last row, or at the close of its last bar where the
    coin has none after it, and is held no longer than the plan wants its side.
    """
    trades, held = book.trades, book.open
    delisted = trades.reason == REASONS.index("delisted")
    last = np.minimum(trades.exit, len(tape.open) - 1)
    left_at = np.where(delisted, tape.close[last, trades.coin], tape.open[last, trades.coin])
    over = np.concatenate([trades.exit + delisted, np.full(len(held.coin), end)])
    coin = np.concatenate([trades.coin, held.coin])
    side = np.concatenate([trades.side, held.side])
    entry = np.concatenate([trades.entry, held.entry])
    price = np.concatenate([trades.entry_price, held.entry_price])
    went_on = delisted & ~np.isnan(tape.open[np.minimum(last + 1, len(tape.open) - 1), trades.coin])
    left_well = np.concatenate([(trades.exit_price == left_at) & ~went_on, np.ones(len(held.coin), np.bool_)])
    inside = (begin < entry) & (entry < over) & (over <= end)
    first, until = np.where(inside, entry - 1, 0), np.where(inside, over - 2, 0)
    runs = np.cumsum(np.diff(plan.side, axis=0, prepend=plan.side[:1]) != 0, axis=0)
    wanted = (plan.side[first, coin] == side) & (runs[first, coin] == runs[until, coin])
    filled = tape.open[first + 1, coin] == price
    filled &= plan.weight[first, coin] == np.concatenate([trades.weight, held.weight])
    return int(np.count_nonzero(~(inside & wanted & filled & left_well)))


def count_mismatched_days(tape: MarketTape, plan: TradingPlan, begin: int, end: int, book: BacktestBook) -> int:
    """Count the position-days that a plan wants and a book does not hold, or the other way.

    A plan's decision of rows `begin` to before `end` is held over the row after it, where the coin has a bar on both.
    After the day on which the equity is lost nothing is held; `accounting_error` checks that it is.
    """
    there = ~np.isnan(tape.open[begin:end])
    wanted = plan.side[begin : end - 1] * (there[:-1] & there[1:])
    wanted[len(wanted) if book.lost_on is None else book.lost_on :] = 0
    turns = np.zeros((end - begin + 1, wanted.shape[1]), np.int64)
    trades, standing = book.trades, book.open
    over = trades.exit + (trades.reason == REASONS.index("delisted"))
    for row, coin, side in (
        (trades.entry, trades.coin, trades.side),
        (standing.entry, standing.coin, standing.side),
        (over, trades.coin, -trades.side),
    ):
        np.add.at(turns, (np.clip(row - begin, 0, end - begin), coin), side)
    return int(np.count_nonzero(turns.cumsum(axis=0)[1:-1] != wanted))


def accounting_error(tape: MarketTape, begin: int, book: BacktestBook, costs: Floats) -> float:
    """How far the days and returns of a book are from those that its positions had.

    A position is a quantity here, what its weight of the equity bought at its entry. What it brought each day, and in
    all, is computed from it by prices, payments and costs: of the book, only what was held and when is believed.

    Args:
        tape: The market.
        begin: The first row of the book's days.
        book: What is published.
        costs: As for `simulate`.

    Returns:
        The largest difference: of a day as a share of its equity, or of its price's part if that is more than all of
        it; of a position's return as a share of its notional, or of that return if it is more. Infinite where a
        position is not held within those days.
    """
    rows, worth = len(tape.open), np.concatenate((np.ones(1), np.cumprod(1 + book.net)))
    following = np.vstack([tape.open[1:], np.full((1, tape.open.shape[1]), np.nan)])
    mark = np.where(np.isnan(following), tape.close, following)
    price, total = np.zeros((2, rows))
    apart = [0.0]
    for coin, side, entry, over, weight, published in _held(begin, book):
        days = slice(entry, over)
        if not begin <= entry < over <= begin + len(book.net):
            return inf
        quantity = side * weight * worth[entry - begin] / tape.open[entry, coin]
        unrecorded = RESTING_RATE if side > 0 else 0.0
        charged = np.where(np.isnan(tape.funding[days, coin]), unrecorded, tape.funding[days, coin])
        moved = quantity * (mark[days, coin] - tape.open[days, coin])
        brought = moved - quantity * tape.open[days, coin] * charged
        brought[0] -= abs(quantity) * tape.open[entry, coin] * costs[entry - 1, coin]
        brought[-1] -= abs(quantity) * mark[over - 1, coin] * costs[over - 1, coin]
        price[days] += moved
        total[days] += brought
        if quantity:
            returned = float(brought.sum()) / (weight * worth[entry - begin])
            apart.append(abs(returned - published / 100) / max(1.0, abs(returned)))
    opens = np.where(worth[:-1] > 0, worth[:-1], np.inf)
    booked = slice(begin, begin + len(book.net))
    moves, returns = price[booked] / opens, np.maximum(total[booked] / opens, -1.0)
    largest = np.maximum(1.0, np.abs(moves))
    apart += [float((np.abs(one) / largest).max(initial=0.0)) for one in (moves - book.price, returns - book.net)]
    return max(one if isfinite(one) else inf for one in apart)


def _held(begin: int, book: BacktestBook) -> Iterator[tuple[int, int, int, int, float, float]]:
    """Of every position: coin, side, first row, the row after its last, weight, and its return (percent)."""
    trades, held = book.trades, book.open
    over = trades.exit + (trades.reason == REASONS.index("delisted"))
    standing = np.full(len(held.coin), begin + len(book.net))
    columns = (
        (trades.coin, trades.side, trades.entry, over, trades.weight, trades.return_pct),
        (held.coin, held.side, held.entry, standing, held.weight, held.price_pct + held.funding_pct - held.cost_pct),
    )
    return chain.from_iterable(zip(*(one.tolist() for one in of), strict=True) for of in columns)
