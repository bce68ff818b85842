"""Converts books to wire records: signals, positions, outcomes, and the training of each fold. Needs numpy."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.analytics.backtest.plan import REASONS
from service.analytics.backtest.statistics import annualised
from service.clock import DAY_MS, iso
from service.walkforward.records import FoldRecord
from service.walkforward.summary import rounded, rounded_or_none
from service.walkforward.walk import WalkContext, WalkedFold
from service.wire.regime import Direction
from service.wire.walkforward import Strategy, WalkforwardOutcome, WalkforwardPosition, WalkforwardSignal

_DIRECTIONS: Final[dict[int, Direction]] = {1: "long", -1: "short"}

_VENUE_DIGITS: Final = 6
"""Significant digits of a price; the venue quotes five."""


class WalkSerializer:
    """Converts the books of one strategy.

    A signal, its position and its outcome share one id: strategy, symbol and day of the decision. The id is the same in
    every run with the same decision.

    Args:
        strategy: The strategy.
        context: Shared inputs of the walk.
    """

    def __init__(self, strategy: Strategy, context: WalkContext) -> None:
        self._strategy = strategy
        self._coins, self._first_day = context.tape.coins, context.tape.first_day
        self._last_close = context.tape.close[-1].tolist()

    def signals(self, tested: WalkedFold) -> list[WalkforwardSignal]:
        """The entries that a fold decided."""
        return [
            WalkforwardSignal(
                id=self._id(coin, row),
                symbol=self._coins[coin],
                scanDate=self._date(row),
                direction=_DIRECTIONS[side],
                strategy=self._strategy,
                score=rounded_or_none(_null_if_nan(score)),
                fold=tested.fold.number,
                entryPrice=_null_if_nan(price),
            )
            for row, coin, side, score, _, price in _rows(tested.book.signals)
        ]

    def positions(self, tested: WalkedFold) -> list[WalkforwardPosition]:
        """The open positions of a fold, at the last close."""
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
        """The closed positions of a fold."""
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
    """A computed price, rounded to the precision of the venue; null for NaN."""
    return float(f"{value:.{_VENUE_DIGITS}g}") if value == value else None  # noqa: PLR0124 - NaN alone differs


def _null_if_nan(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - NaN alone differs from itself
