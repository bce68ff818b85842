"""Books as they are told: signals, positions, outcomes, and how each fold was trained. Imports numbers and so numpy."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.analytics.backtest.plan import REASONS
from service.analytics.backtest.statistics import annualised
from service.clock import DAY_MS, iso
from service.walkforward.run import FoldRecord
from service.walkforward.summary import perhaps, rounded
from service.walkforward.walk import Ground, WalkedFold
from service.wire.regime import Direction
from service.wire.walkforward import Strategy, WalkforwardOutcome, WalkforwardPosition, WalkforwardSignal

_DIRECTIONS: Final[dict[int, Direction]] = {1: "long", -1: "short"}

_VENUE_DIGITS: Final = 6
"""Significant digits of a price; the venue quotes five."""


class Teller:
    """Tells what one strategy did; the columns of a book become plain values here.

    A signal, the position it became and the outcome of that have one id: strategy, symbol and the day of the decision.
    It is the same in every run that makes the same decision.

    Args:
        strategy: Whose books.
        ground: What they were walked over.
    """

    def __init__(self, strategy: Strategy, ground: Ground) -> None:
        self._strategy = strategy
        self._coins, self._first_day = ground.tape.coins, ground.tape.first_day
        self._last_close = ground.tape.close[-1].tolist()

    def signals(self, tested: WalkedFold) -> list[WalkforwardSignal]:
        """What a fold decided to enter."""
        return [
            WalkforwardSignal(
                id=self._id(coin, row),
                symbol=self._coins[coin],
                scanDate=self._date(row),
                direction=_DIRECTIONS[side],
                strategy=self._strategy,
                score=perhaps(_known(score)),
                fold=tested.fold.number,
                entryPrice=_known(price),
            )
            for row, coin, side, score, _, price in _rows(tested.book.signals)
        ]

    def positions(self, tested: WalkedFold) -> list[WalkforwardPosition]:
        """What a fold still holds, at the last close."""
        return [
            WalkforwardPosition(
                id=self._id(coin, entry - 1),
                symbol=self._coins[coin],
                direction=_DIRECTIONS[side],
                entryDate=self._date(entry),
                entryPrice=price,
                currentPrice=self._last_close[coin],
                holdDays=days,
                unrealizedPct=rounded(price_pct),
                stop=_price(stop),
                strategy=self._strategy,
                fold=tested.fold.number,
            )
            for coin, side, entry, price, _, days, stop, price_pct, *_ in _rows(tested.book.open)
        ]

    def outcomes(self, tested: WalkedFold) -> list[WalkforwardOutcome]:
        """How a fold's positions ended."""
        return [
            WalkforwardOutcome(
                id=self._id(coin, entry - 1),
                symbol=self._coins[coin],
                direction=_DIRECTIONS[side],
                entryDate=self._date(entry),
                exitDate=self._date(over),
                entryPrice=price,
                exitPrice=exit_price,
                returnPct=rounded(brought),
                fundingPct=rounded(funding),
                costPct=rounded(cost),
                holdDays=days,
                exitReason=REASONS[reason],
                fold=tested.fold.number,
                strategy=self._strategy,
            )
            for coin, side, entry, over, price, exit_price, _, days, _, funding, cost, brought, reason in _rows(
                tested.book.trades
            )
        ]

    def fold(self, tested: WalkedFold) -> FoldRecord:
        """How a fold was trained."""
        fold, training = tested.fold, tested.training
        sharpes = [None if sharpe is None else rounded(annualised(sharpe)) for sharpe in training.sharpes]
        return FoldRecord(
            strategy=self._strategy,
            fold=fold.number,
            trained=[(self._date(span.start), self._date(span.stop - 1)) for span in [fold.training] if span],
            tested=(self._date(fold.begin), self._date(fold.end - 1)),
            chosen=dict(tested.chosen),
            trials=len(sharpes),
            train_sharpe=sharpes[training.chosen],
            sharpes=sharpes,
        )

    def _id(self, coin: int, decided: int) -> str:
        return f"{self._strategy}-{self._coins[coin]}-{self._date(decided)}"

    def _date(self, row: int) -> str:
        return iso((self._first_day + row) * DAY_MS)[:10]


def _rows(columns: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of equally long columns, as plain values."""
    return zip(*(column.tolist() for column in columns), strict=True)


def _price(value: float) -> float | None:
    """A price that was computed, with the venue's precision at the most."""
    return float(f"{value:.{_VENUE_DIGITS}g}") if value == value else None  # noqa: PLR0124 - NaN alone differs


def _known(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - NaN alone differs from itself
