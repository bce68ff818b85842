"""The rules of trading written out once more, slowly: one coin and one day at a time, in decimals, by its cash.

Nothing of the code under test is used but the shapes it takes. Every morning what was wanted at yesterday's close is
done at the open, for all coins out of one purse; every night the purse holds what the positions have brought so far.
"""

from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from math import isnan
from typing import NamedTuple

from service.analytics.backtest.plan import TradingPlan
from service.analytics.backtest.tape import MarketTape
from service.analytics.bars import Floats
from service.wire.walkforward import WalkforwardExit

getcontext().prec = 40

HOURLY = Decimal("0.0000125")
REASONS: tuple[WalkforwardExit, ...] = (
    "trend-turned",
    "stop",
    "rank-lost",
    "funding-normal",
    "time",
    "universe-left",
    "delisted",
    "fold-end",
)
ZERO = Decimal(0)


class Ended(NamedTuple):
    """A trade, in the order of `Trades`; percentages of the notional at entry."""

    coin: int
    side: int
    entry: int
    exit: int
    entry_price: float
    exit_price: float
    weight: float
    days: int
    price_pct: float
    funding_pct: float
    cost_pct: float
    return_pct: float
    reason: int


class Signal(NamedTuple):
    row: int
    coin: int
    side: int
    score: float
    weight: float
    entry_price: float


@dataclass
class Held:
    """A position: contracts bought for the purse's money, and what they have brought per dollar put in."""

    coin: int
    side: int
    entry: int
    price: Decimal
    weight: Decimal
    contracts: Decimal
    paid: Decimal
    funding: Decimal = ZERO
    days: int = 0
    value: Decimal = ZERO

    def gain(self, price: Decimal) -> Decimal:
        """What the price has brought so far, for each dollar put in."""
        return (price - self.price) / self.price * self.side


@dataclass
class Accounts:
    """What the books must say; daily figures by row of the tape, in dollars until the day is closed."""

    purse: Decimal = Decimal(1)
    trades: list[Ended] = field(default_factory=list)
    open: list[Held] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    net: dict[int, Decimal] = field(default_factory=dict)
    price: dict[int, Decimal] = field(default_factory=dict)
    exposure: dict[int, Decimal] = field(default_factory=dict)
    turnover: dict[int, Decimal] = field(default_factory=dict)
    position_days: int = 0
    known_days: int = 0

    @property
    def ruined(self) -> bool:
        return not self.purse

    def ruins(self, row: int) -> bool:
        """Whether a day leaves nothing in the purse."""
        return self.purse + self.net.get(row, ZERO) <= 0

    def close(self, row: int) -> None:
        """End a day: its dollars become shares of the morning's purse."""
        morning, self.purse = self.purse, max(self.purse + self.net.get(row, ZERO), ZERO)
        for days in (self.net, self.price, self.exposure, self.turnover):
            days[row] = days.get(row, ZERO) / morning if morning else ZERO
        if morning and not self.purse:
            self.net[row] = Decimal(-1)


def account(tape: MarketTape, plan: TradingPlan, start: int, end: int, costs: Floats, allowed: list[bool]) -> Accounts:
    books, rows = Accounts(), len(tape.open)
    clerks = [Clerk(tape, plan, start, end, costs, allowed, coin, books) for coin in range(len(tape.coins))]
    for row in range(start + 1, end + 1):
        for clerk in clerks:
            if row < rows:
                clerk.leaves(row)
            else:
                clerk.last_night(row - 1)
        if books.ruins(row - 1):
            for clerk in clerks if row < rows else ():
                clerk.sells(row)
        books.close(row - 1)
        for clerk in clerks if row < end and not books.ruined else ():
            clerk.enters(row)
        for clerk in clerks if row == rows and not books.ruined else ():
            clerk.last_wish(row - 1)
        for clerk in clerks if row < end else ():
            clerk.day(row)
    books.trades.sort(key=lambda trade: (trade.entry, trade.coin))
    books.open.sort(key=lambda held: (held.entry, held.coin))
    books.signals.sort(key=lambda signal: (signal.row, signal.coin))
    return books


@dataclass
class Clerk:
    """Who trades one coin."""

    tape: MarketTape
    plan: TradingPlan
    start: int
    end: int
    costs: Floats
    allowed: list[bool]
    coin: int
    books: Accounts
    held: Held | None = None

    def has_bar(self, row: int) -> bool:
        return not isnan(self.tape.open[row, self.coin])

    def wanted(self, row: int) -> int:
        """What counts of the plan at the close of a row."""
        return int(self.plan.side[row, self.coin]) if self.allowed[row] and self.has_bar(row) else 0

    def target(self, row: int) -> int:
        return self.wanted(row - 1) if row < self.end else 0

    def leaves(self, row: int) -> None:
        if self.held and self.held.side != self.target(row):
            self.sells(row)

    def sells(self, row: int) -> None:
        """Leave what is held at the open."""
        if self.held:
            price = Decimal(float(self.tape.open[row, self.coin]))
            self.leave(row, row - 1, price, self.why(row - 1, self.held.side))

    def enters(self, row: int) -> None:
        if self.has_bar(row) and self.target(row) and not self.held:
            self.enter(row, self.target(row), Decimal(float(self.tape.open[row, self.coin])))

    def why(self, row: int, side: int) -> int:
        if self.allowed[row] and self.plan.side[row, self.coin] != side:
            return int(self.plan.reason[row, self.coin])
        return REASONS.index("fold-end")

    def enter(self, row: int, side: int, price: Decimal) -> None:
        weight = Decimal(float(self.plan.weight[row - 1, self.coin]))
        dollars, share = weight * self.books.purse, self.share(row - 1)
        self.held = Held(self.coin, side, row, price, weight, dollars / price, share)
        self.signal(row - 1, side, float(price))
        book(self.books.turnover, row, dollars)
        book(self.books.net, row, -dollars * share)

    def signal(self, row: int, side: int, price: float) -> None:
        score, weight = float(self.plan.score[row, self.coin]), float(self.plan.weight[row, self.coin])
        self.books.signals.append(Signal(row, self.coin, side, score, weight, price))

    def share(self, decided: int) -> Decimal:
        return Decimal(float(self.costs[decided, self.coin]))

    def day(self, row: int) -> None:
        """Funding falls due; at night the price says what it was worth, if nothing else then by its close."""
        if not self.held:
            return
        recorded = float(self.tape.funding[row, self.coin])
        rate = Decimal(recorded) if not isnan(recorded) else (HOURLY * 24 if self.held.side > 0 else ZERO)
        worth = Decimal(float(self.tape.open[row, self.coin]))
        self.held.funding -= self.held.side * rate * worth / self.held.price
        self.held.days += 1
        self.books.position_days += 1
        self.books.known_days += not isnan(recorded)
        book(self.books.exposure, row, self.held.contracts * worth)
        book(self.books.net, row, -self.held.side * rate * self.held.contracts * worth)
        if row + 1 < len(self.tape.open) and self.has_bar(row + 1):
            self.night(row, Decimal(float(self.tape.open[row + 1, self.coin])))
            return
        close = Decimal(float(self.tape.close[row, self.coin]))
        self.night(row, close)
        if row + 1 < len(self.tape.open):
            self.leave(row, row, close, REASONS.index("delisted"))

    def night(self, row: int, price: Decimal) -> None:
        assert self.held
        gained = self.held.gain(price) - self.held.value
        self.held.value += gained
        for days in (self.books.net, self.books.price):
            book(days, row, self.held.contracts * self.held.price * gained)

    def leave(self, row: int, booked: int, price: Decimal, reason: int) -> None:
        held = self.held
        assert held
        share = self.share(booked)
        book(self.books.turnover, booked, held.contracts * price)
        book(self.books.net, booked, -held.contracts * price * share)
        gain, funding = held.gain(price) * 100, held.funding * 100
        cost = 100 * (held.paid + share * price / held.price)
        self.books.trades.append(
            Ended(
                self.coin,
                held.side,
                held.entry,
                row,
                float(held.price),
                float(price),
                float(held.weight),
                held.days,
                float(gain),
                float(funding),
                float(cost),
                float(gain + funding - cost),
                reason,
            )
        )
        self.held = None

    def last_night(self, row: int) -> None:
        if self.held:
            close, share = Decimal(float(self.tape.close[row, self.coin])), self.share(row)
            self.held.paid += share * close / self.held.price
            book(self.books.net, row, -self.held.contracts * close * share)
            self.books.open.append(self.held)

    def last_wish(self, row: int) -> None:
        """What would be entered at the open after the tape."""
        target = self.wanted(row)
        if target and target != (self.held.side if self.held else 0):
            self.signal(row, target, float("nan"))


def book(days: dict[int, Decimal], row: int, amount: Decimal) -> None:
    days[row] = days.get(row, ZERO) + amount
