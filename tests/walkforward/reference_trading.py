"""Trading once more, slow and obvious: one coin after the other, one day after the other, every position by itself.

A decision is made at the close of a day and filled at the next day's open. Nothing here knows a table.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from math import fsum
from typing import NamedTuple

from tests.walkforward.reference_bars import Bar, History

RESTING_RATE = 0.0000125 * 24


class Decision(NamedTuple):
    """What a coin's position should be from the next open on; `reason` is why the one of the day before is left."""

    side: int
    weight: float = 0.0
    score: float | None = None
    stop: float | None = None
    reason: str | None = None


FLAT = Decision(0)

Plan = dict[str, dict[int, Decision]]
"""By coin and day; a day that is missing wants nothing."""


class Signal(NamedTuple):
    """A decision to enter; the price is that of the next open, none while that is to come."""

    coin: str
    day: int
    side: int
    score: float | None
    price: float | None


class Trade(NamedTuple):
    """A position that has ended (or, without an exit, is held); the three parts are fractions of its entry notional."""

    coin: str
    side: int
    entered: int
    left: int
    entry: float
    exit: float
    weight: float
    price: float
    funding: float
    cost: float
    held_days: int
    reason: str | None

    @property
    def brought(self) -> float:
        return self.price + self.funding - self.cost


class Books:
    """Everything that one simulation brought; daily figures are shares of the capital."""

    def __init__(self) -> None:
        self.trades: list[Trade] = []
        self.held: list[Trade] = []
        self.signals: list[Signal] = []
        self.parts: dict[str, dict[int, list[float]]] = {
            name: defaultdict(list) for name in ("net", "price", "exposure", "turnover")
        }
        self.known_days = self.position_days = 0

    def of_day(self, name: str, day: int) -> float:
        return fsum(self.parts[name].get(day, ()))

    def book(self, name: str, day: int, share: float) -> None:
        self.parts[name][day].append(share)


class Position:
    """One position, from its entry on."""

    def __init__(self, coin: str, decision: Decision, day: int, price: float, cost: float) -> None:
        self.cost = cost
        self.coin, self.side, self.weight, self.entered, self.entry = coin, decision.side, decision.weight, day, price
        self.price: list[float] = []
        self.funding: list[float] = []
        self.held_days = 0

    def live(self, books: Books, day: int, bar: Bar, mark: float, rate: float | None) -> None:
        """Hold it from a day's open until the next (at the price `mark`)."""
        moved = self.side * (mark - bar.open) / self.entry
        charged = (RESTING_RATE if self.side == 1 else 0.0) if rate is None else rate
        paid = -self.side * charged * bar.open / self.entry
        self.price.append(moved)
        self.funding.append(paid)
        self.held_days += 1
        books.position_days += 1
        books.known_days += rate is not None
        books.book("price", day, self.weight * moved)
        books.book("net", day, self.weight * (moved + paid))
        books.book("exposure", day, self.weight)
        if day == self.entered:
            books.book("net", day, -self.weight * self.cost)
            books.book("turnover", day, self.weight)

    def leave(self, books: Books, last: int, left: int, price: float, cost: float, reason: str) -> None:
        """Leave it at a price; `last` is the last day it was held over, `left` the day whose bar has the price."""
        books.book("net", last, -self.weight * cost * price / self.entry)
        books.book("turnover", last, self.weight * price / self.entry)
        gained = self.side * (price / self.entry - 1)
        books.trades.append(self._told(left, price, gained, self.cost + cost * price / self.entry, reason))

    def standing(self, last: int, price: float) -> Trade:
        return self._told(last, price, self.side * (price / self.entry - 1), self.cost, None)

    def _told(self, left: int, price: float, gained: float, cost: float, reason: str | None) -> Trade:
        assert abs(fsum(self.price) - gained) < 1e-9 * max(1, abs(gained)), "the days of a position make its return"
        funding = fsum(self.funding)
        return Trade(
            self.coin,
            self.side,
            self.entered,
            left,
            self.entry,
            price,
            self.weight,
            gained,
            funding,
            cost,
            self.held_days,
            reason,
        )


def simulate(
    history: History, plan: Plan, start: int, end: int, may_decide: Callable[[int], bool] = lambda _: True
) -> Books:
    """Trade what was decided on the days from `start` to before `end`, flat at the beginning."""
    books = Books()
    over = history.days.stop
    for coin in sorted(history.bars):
        _trade(books, history, coin, plan.get(coin, {}), range(start, end), over, may_decide)
    return books


def _trade(
    books: Books,
    history: History,
    coin: str,
    decisions: dict[int, Decision],
    window: range,
    over: int,
    may_decide: Callable[[int], bool],
) -> None:
    bars, paid, costs = history.bars[coin], history.paid.get(coin, {}), history.costs[coin]
    position: Position | None = None
    for day, bar in _bars_of(bars, window):
        decided = decisions.get(day, FLAT) if may_decide(day) else FLAT
        tomorrow = bars.get(day + 1)
        tape_ends, fold_ends, delisted = day + 1 == over, day + 1 == window.stop, tomorrow is None
        if position:
            position.live(books, day, bar, tomorrow.open if tomorrow else bar.close, paid.get(day))
        if tape_ends:
            if position:
                books.held.append(position.standing(day, bar.close))
            if decided.side and decided.side != (position.side if position else 0):
                books.signals.append(Signal(coin, day, decided.side, decided.score, None))
        elif delisted:
            if position:
                position.leave(books, day, day, bar.close, costs[day], "delisted")
            position = None
        else:
            assert tomorrow
            if position and (fold_ends or decided.side != position.side):
                by_plan = may_decide(day) and decided.side != position.side
                why = (by_plan and decided.reason) or "fold-end"
                position.leave(books, day, day + 1, tomorrow.open, costs[day], why)
                position = None
            if not position and decided.side and not fold_ends:
                position = Position(coin, decided, day + 1, tomorrow.open, costs[day])
                books.signals.append(Signal(coin, day, decided.side, decided.score, tomorrow.open))


def _bars_of(bars: dict[int, Bar], window: range) -> Iterator[tuple[int, Bar]]:
    return ((day, bars[day]) for day in window if day in bars)
