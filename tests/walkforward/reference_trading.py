"""Trading once more, slow and obvious: coin after coin, then day after day by quantity and price.

A decision is made at the close of a day and filled at the next day's open. Nothing here knows a table.
"""

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
    """Everything that one simulation brought; daily figures are shares of the equity at the day's open."""

    def __init__(self) -> None:
        self.trades: list[Trade] = []
        self.held: list[Trade] = []
        self.signals: list[Signal] = []
        self.positions: list[Position] = []
        self.parts: dict[str, dict[int, float]] = {name: {} for name in ("net", "price", "exposure", "turnover")}
        self.known_days = self.position_days = 0

    def of_day(self, name: str, day: int) -> float:
        return self.parts[name].get(day, 0.0)


class Night(NamedTuple):
    """A day of a position: its open, the next one (or its close), and what a long pays of its worth."""

    opened: float
    mark: float
    rate: float


class Position:
    """One position, from its entry on; `sold` is the share that leaving it costs, though it may be held still."""

    def __init__(self, coin: str, decision: Decision, day: int, price: float, cost: float) -> None:
        self.cost, self.sold, self.over = cost, 0.0, False
        self.coin, self.side, self.weight, self.entered, self.entry = coin, decision.side, decision.weight, day, price
        self.days: dict[int, Night] = {}
        self.quantity = 0.0

    def live(self, books: Books, day: int, bar: Bar, mark: float, rate: float | None) -> None:
        """Hold it from a day's open until the next (at the price `mark`)."""
        self.days[day] = Night(bar.open, mark, (RESTING_RATE if self.side == 1 else 0.0) if rate is None else rate)
        books.position_days += 1
        books.known_days += rate is not None

    def leave(self, books: Books, left: int, price: float, cost: float, reason: str) -> None:
        """Leave it at a price; `left` is the day whose bar has the price."""
        self.sold, self.over = cost, True
        books.trades.append(self._told(left, price, reason))
        books.positions.append(self)

    def stand(self, books: Books, last: int, price: float, cost: float) -> None:
        """Value it at the last close, less what leaving it costs."""
        self.sold = cost
        books.held.append(self._told(last, price, None))
        books.positions.append(self)

    def _told(self, left: int, price: float, reason: str | None) -> Trade:
        funding = fsum(-self.side * night.rate * night.opened / self.entry for night in self.days.values())
        return Trade(
            self.coin,
            self.side,
            self.entered,
            left,
            self.entry,
            price,
            self.weight,
            self.side * (price / self.entry - 1),
            funding,
            self.cost + self.sold * price / self.entry,
            len(self.days),
            reason,
        )


def carry(books: Books, window: range) -> int | None:
    """Go through the days with one equity, in money: quantities are bought with it, and what they bring is added.

    Returns the day on which it is lost.
    """
    held = {day: [one for one in books.positions if day in one.days] for day in window}
    equity = 1.0
    for day in window:
        price = funding = costs = worth = traded = 0.0
        for one in held[day]:
            if day == one.entered:
                one.quantity = one.weight * equity / one.entry
                costs += one.quantity * one.entry * one.cost
                traded += one.quantity * one.entry
            opened, mark, rate = one.days[day]
            worth += one.quantity * opened
            price += one.side * one.quantity * (mark - opened)
            funding -= one.side * one.quantity * opened * rate
            if day == max(one.days):
                costs += one.quantity * mark * one.sold
                traded += one.quantity * mark * one.over
        after = max(equity + price + funding - costs, 0.0)
        for name, money in (
            ("net", after - equity), ("price", price), ("exposure", worth), ("turnover", traded)
        ):  # fmt: skip
            books.parts[name][day] = money / equity
        equity = after
        if not equity:
            return day
    return None


def simulate(
    history: History, plan: Plan, start: int, end: int, may_decide: Callable[[int], bool] = lambda _: True
) -> Books:
    """Trade what was decided on the days from `start` to before `end`, flat at the beginning.

    On the day on which the equity is lost everything is sold, so days are gone through again without what is left out.
    """
    lost = end
    while True:
        books = Books()
        for coin in sorted(history.bars):
            _trade(books, history, coin, plan.get(coin, {}), range(start, end), lost, may_decide)
        found = carry(books, range(start, end))
        if found is None or found == lost:
            return books
        lost = found


def _trade(
    books: Books,
    history: History,
    coin: str,
    decisions: dict[int, Decision],
    window: range,
    lost: int,
    may_decide: Callable[[int], bool],
) -> None:
    bars, paid, costs = history.bars[coin], history.paid.get(coin, {}), history.costs[coin]
    position: Position | None = None
    for day, bar in _bars_of(bars, window):
        decided = decisions.get(day, FLAT) if may_decide(day) else FLAT
        tomorrow = bars.get(day + 1)
        tape_ends, delisted = day + 1 == history.days.stop, tomorrow is None
        ends = day + 1 == window.stop or day >= lost
        if position:
            position.live(books, day, bar, tomorrow.open if tomorrow else bar.close, paid.get(day))
        if tape_ends:
            if position:
                position.stand(books, day, bar.close, costs[day])
            if day < lost and decided.side and decided.side != (position.side if position else 0):
                books.signals.append(Signal(coin, day, decided.side, decided.score, None))
        elif delisted:
            if position:
                position.leave(books, day, bar.close, costs[day], "delisted")
            position = None
        else:
            assert tomorrow
            if position and (ends or decided.side != position.side):
                by_plan = may_decide(day) and decided.side != position.side
                why = (by_plan and decided.reason) or "fold-end"
                position.leave(books, day + 1, tomorrow.open, costs[day], why)
                position = None
            if not position and decided.side and not ends:
                position = Position(coin, decided, day + 1, tomorrow.open, costs[day])
                books.signals.append(Signal(coin, day, decided.side, decided.score, tomorrow.open))


def _bars_of(bars: dict[int, Bar], window: range) -> Iterator[tuple[int, Bar]]:
    return ((day, bars[day]) for day in window if day in bars)
