"""Trading a plan: every decision is filled at the open of the next day, at a cost, with funding paid and received.

All positions share one equity. Each is entered with a share of it, and from then on it is a quantity: its value is the
quantity times the price, and nothing resizes it. What a day brings all positions, over the equity at the day's open, is
the day's return. Equity that reaches zero is lost: that day returns -100 %, what is held is left at its end, and
nothing is entered after it.

What is simulated is a state: the position over day d is what the plan wanted at the close of day d-1, and a trade is
one unbroken run of one side. So a turn is two trades at one open, and a plan that already wants a side on the first row
is followed from the next open on.
"""

from math import fsum
from typing import Final, NamedTuple

import numpy as np

from service.analytics.backtest.book import RESTING_RATE, BacktestBook, ClosedTrades, EntrySignals, OpenPositions
from service.analytics.backtest.plan import REASONS, Int8, TradingPlan
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Flags, Floats, Indices

_DELISTED: Final = REASONS.index("delisted")
_FOLD_END: Final = REASONS.index("fold-end")
_PCT: Final = 100


class _Runs(NamedTuple):
    """Positions, by entry and then by coin; `over` is the first row they are no longer held on."""

    coin: Indices
    side: Indices
    entry: Indices
    over: Indices
    weight: Floats
    entry_price: Floats

    def chosen(self, which: Flags) -> "_Runs":
        coin, side, entry, over = (column[which] for column in (self.coin, self.side, self.entry, self.over))
        return _Runs(coin, side, entry, over, self.weight[which], self.entry_price[which])


class _Days(NamedTuple):
    """The days of all positions, one after another: whose, which row, and shares of the position's notional at entry.

    `value` is what the position is worth at the day's open, `price` and `funding` what the day brought, `cost` what its
    fills cost, and `traded` what was entered and left. `left` is the price that each position could last be left at:
    its exit, or its mark when the tape ends, which is charged as an exit though nothing is traded.
    """

    run: Indices
    row: Indices
    value: Floats
    price: Floats
    funding: Floats
    cost: Floats
    traded: Floats
    known: Flags
    left: Floats


def simulate(
    tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None = None
) -> BacktestBook:
    """Trade what a plan decided on the rows from `start` to before `end`.

    Nothing is held on the first of them. What is held on row `end` is left at its open; if the tape ends there, it is
    reported as held. A coin without a bar on the next day is left at its last close, and not entered: neither on a day
    without a bar nor by a decision of one. A decision that could never be filled is no signal, nor is an entry on the
    last row of a window that ends before the tape, which would be left at the open that it is entered at. Nor is one
    on the row on which the equity is lost, or later.

    Args:
        tape: The market.
        plan: What is wanted, a row for every row of the tape.
        start: The first row that decides.
        end: The row after the last that decides.
        costs: What a fill costs, a fraction of its notional, by the row that decided it; see `costs.fill_costs`.
        allowed: Shape (days,): rows that may decide; on others nothing is wanted. All where it is not given. A position
            decided on the last allowed row is left one open later, so that its one day lies on the row after.

    Returns:
        The books. A position that was left though the plan did not say so ends by `fold-end`, at a loss of all equity
        too.

    Raises:
        ValueError: If the rows are not those of the tape, or the plan breaks its contract: a position without a weight
            that is finite and not negative, or left without a reason.
    """
    _check(tape, plan, start, end, costs, allowed)
    wanted = _wanted(tape, plan, start, end, allowed)
    book = _trade(tape, plan, wanted, start, end, costs, allowed)
    if book.lost_on is not None:
        wanted[book.lost_on :] = 0
        book = _trade(tape, plan, wanted, start, end, costs, allowed)
    return book


def _trade(
    tape: MarketTape, plan: TradingPlan, wanted: Int8, start: int, end: int, costs: Floats, allowed: Flags | None
) -> BacktestBook:
    """Trade what counts of a plan; the equity may be lost before positions end."""
    held = _held(tape, wanted, start, end)
    runs = _runs(tape, plan, held, start)
    days = _days(tape, runs, costs)
    ended = runs.over < len(tape.open)
    signals = _signals(tape, plan, runs, wanted[-1:] if end == len(tape.open) else wanted[:0], held[-2:-1])
    if not (np.isfinite(signals.weight).all() and (signals.weight >= 0).all()):
        raise ValueError("a position has a weight that is negative or not finite")
    return BacktestBook(
        _trades(tape, plan, runs, days, ended, allowed),
        _positions(plan, runs, days, ~ended),
        signals,
        *_carry(runs, days, start, end),
        len(days.row),
        int(days.known.sum()),
    )


def _check(tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: Flags | None) -> None:
    rows = len(tape.open)
    if not 0 <= start <= end <= rows:
        raise ValueError(f"rows {start} to {end} are not all on a tape of {rows}")
    tables = (*plan, costs)
    if any(table.shape != tape.open.shape for table in tables) or (allowed is not None and allowed.shape != (rows,)):
        raise ValueError("the plan, its costs, or what it is allowed, is not of this tape")


def _wanted(tape: MarketTape, plan: TradingPlan, start: int, end: int, allowed: Flags | None) -> Int8:
    """What counts of the plan, shape (end - start, coins): nothing on rows without a bar or not allowed."""
    window = slice(start, end)
    counts = ~np.isnan(tape.open[window])
    if allowed is not None:
        counts &= allowed[window, None]
    return plan.side[window] * counts


def _held(tape: MarketTape, wanted: Int8, start: int, end: int) -> Int8:
    """The position over each day from `start` on, and a last row of nothing: shape (end - start + 1, coins)."""
    held = np.zeros((len(wanted) + 1, wanted.shape[1]), np.int8)
    held[1:-1] = wanted[:-1] * ~np.isnan(tape.open[start + 1 : max(end, start + 1)])
    return held


def _runs(tape: MarketTape, plan: TradingPlan, held: Int8, start: int) -> _Runs:
    """Find the unbroken runs of one side: of every coin as many begin as end, in turn."""
    by_coin = held.T
    turned = by_coin[:, 1:] != by_coin[:, :-1]
    coin, begun = np.nonzero(turned & (by_coin[:, 1:] != 0))
    _, ended = np.nonzero(turned & (by_coin[:, :-1] != 0))
    order = np.lexsort((coin, begun))
    coin, entry = coin[order], begun[order] + start + 1
    side = held[entry - start, coin].astype(np.int64)
    return _Runs(coin, side, entry, ended[order] + start + 1, plan.weight[entry - 1, coin], tape.open[entry, coin])


def _days(tape: MarketTape, runs: _Runs, costs: Floats) -> _Days:
    """Go through the days of every position: each lasts from its open to the next, or to its close if there is none."""
    lasted = runs.over - runs.entry
    before = np.cumsum(lasted) - lasted
    run = np.repeat(np.arange(len(lasted)), lasted)
    row = np.arange(len(run)) + (runs.entry - before)[run]
    coins = tape.open.shape[1]
    cell, last = row * coins + runs.coin[run], row + 1 == len(tape.open)
    opens, closes, rates = tape.open.ravel(), tape.close.ravel(), tape.funding.ravel()
    following = np.where(last, np.nan, opens[np.where(last, cell, cell + coins)])
    mark = np.where(np.isnan(following), closes[cell], following)
    side, entry_price, rate = runs.side[run], runs.entry_price[run], rates[cell]
    known = ~np.isnan(rate)
    charged = np.where(known, rate, np.where(side > 0, RESTING_RATE, 0.0))
    value, end = opens[cell] / entry_price, before + lasted - 1
    left, cost, traded = mark[end], np.zeros(len(run)), np.zeros(len(run))
    moved, ended = left / runs.entry_price, runs.over < len(tape.open)
    cost[before] = costs[runs.entry - 1, runs.coin]
    cost[end] += costs[runs.over - 1, runs.coin] * moved
    traded[before] = 1.0
    traded[end] += np.where(ended, moved, 0.0)
    price = side * (mark - opens[cell]) / entry_price
    return _Days(run, row, value, price, -side * charged * value, cost, traded, known, left)


def _trades(
    tape: MarketTape, plan: TradingPlan, runs: _Runs, days: _Days, ended: Flags, allowed: Flags | None
) -> ClosedTrades:
    done, exit_price = runs.chosen(ended), days.left[ended]
    last, delisted = done.over - 1, np.isnan(tape.open[done.over, done.coin])
    reason = np.where(
        delisted, _DELISTED, np.where(_meant(plan, done, allowed), plan.reason[last, done.coin], _FOLD_END)
    )
    if not ((reason >= 0) & (reason < len(REASONS))).all():
        raise ValueError("a position is left without a reason")
    moved = exit_price / done.entry_price
    price, (funding, cost) = _PCT * done.side * (moved - 1), _paid(days, runs, ended)
    return ClosedTrades(
        coin=done.coin,
        side=done.side,
        entry=done.entry,
        exit=np.where(delisted, last, done.over),
        entry_price=done.entry_price,
        exit_price=exit_price,
        weight=done.weight,
        days=done.over - done.entry,
        price_pct=price,
        funding_pct=funding,
        cost_pct=cost,
        return_pct=price + funding - cost,
        reason=reason,
    )


def _meant(plan: TradingPlan, done: _Runs, allowed: Flags | None) -> Flags:
    """Whether the plan itself wanted out, on a row on which it was asked."""
    last = done.over - 1
    turned: Flags = plan.side[last, done.coin] != done.side
    return turned if allowed is None else turned & allowed[last]


def _paid(days: _Days, runs: _Runs, which: Flags) -> tuple[Floats, Floats]:
    """Funding and costs of positions over all of their days, percent."""
    sums = np.zeros((2, len(runs.entry)))
    np.add.at(sums[0], days.run, days.funding)  # in their order: the same sums on every machine
    np.add.at(sums[1], days.run, days.cost)
    return _PCT * sums[0, which], _PCT * sums[1, which]


def _positions(plan: TradingPlan, runs: _Runs, days: _Days, standing: Flags) -> OpenPositions:
    kept, mark = runs.chosen(standing), days.left[standing]
    funding, cost = _paid(days, runs, standing)
    return OpenPositions(
        coin=kept.coin,
        side=kept.side,
        entry=kept.entry,
        entry_price=kept.entry_price,
        weight=kept.weight,
        days=kept.over - kept.entry,
        stop=plan.stop[kept.over - 1, kept.coin],
        price_pct=_PCT * kept.side * (mark / kept.entry_price - 1),
        funding_pct=funding,
        cost_pct=cost,
    )


def _signals(tape: MarketTape, plan: TradingPlan, runs: _Runs, newest: Int8, held: Int8) -> EntrySignals:
    """Every entry, and what the tape's last row wants (`newest`: that row, or none) but is not `held` over it."""
    row, coin = np.nonzero((newest != 0) & (newest != held[: len(newest)]))
    row = row + len(tape.open) - 1
    rows, coins = np.concatenate((runs.entry - 1, row)), np.concatenate((runs.coin, coin))
    return EntrySignals(
        row=rows,
        coin=coins,
        side=plan.side[rows, coins].astype(np.int64),
        score=plan.score[rows, coins],
        weight=plan.weight[rows, coins],
        entry_price=np.concatenate((runs.entry_price, np.full(len(row), np.nan))),
    )


def _carry(runs: _Runs, days: _Days, start: int, end: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Carry the equity from day to day: net, price, exposure and turnover over the equity at each day's open.

    A position's notional at entry, as a share of the equity of the day, is its weight when it is entered, and shrinks
    as the equity grows: in money it stays what it was.
    """
    net, price, exposure, turnover = np.zeros((4, end - start))
    brought, share = days.price + days.funding - days.cost, runs.weight.copy()
    order = np.argsort(days.row, kind="stable")
    begins = np.searchsorted(days.row[order], np.arange(start, end + 1))
    for day in np.flatnonzero(np.diff(begins)).tolist():
        places = order[begins[day] : begins[day + 1]]
        run = days.run[places]
        for column, of_notional in (
            (net, brought), (price, days.price), (exposure, days.value), (turnover, days.traded)
        ):  # fmt: skip
            column[day] = fsum((share[run] * of_notional[places]).tolist())
        if net[day] <= -1:
            net[day] = -1.0
            break
        share[run] /= 1 + net[day]
    return net, price, exposure, turnover
