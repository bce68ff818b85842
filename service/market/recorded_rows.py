"""Rows of a recording as they are stored, read by whole columns: with the bounds and checks of the venue's adapter."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat
from typing import Any, Protocol

from service.clock import HOUR_MS
from service.market.observed import REACH_MS, SETTLE_MS, BarRow, PaymentRow
from service.market.sources.hyperliquid_wire import (
    BAR_COLUMNS,
    FUNDING_PAGE,
    PAYMENT_COLUMNS,
    BarColumns,
    payments_of,
)
from service.units import INTERVAL_MS, Interval


class Recorded(Protocol):
    """A recording of the first venue."""

    def coins(self) -> Sequence[str]:
        """Venue symbols of every market, delisted coins included."""

    def delisted(self) -> Sequence[str]:
        """Venue symbols of the main market's delisted coins."""

    def columns(self, kind: str, coin: str) -> bytes | None:
        """Rows of one kind (`candles-1d`, `candles-1h`, `funding`) by column, as JSON; null where there are none."""

    def now(self) -> tuple[int, int]:
        """Now in recorded time, and what is added to recorded time on the way out; epoch milliseconds."""


def main_coins(recorded: Recorded) -> list[str]:
    """Venue symbols of the main market, delisted coins included."""
    return [coin for coin in recorded.coins() if ":" not in coin]


def first_hour(now_ms: int) -> int:
    """The first hour that is loaded: where the refresh loops begin, which would never ask for what lies before."""
    return (now_ms - REACH_MS) // HOUR_MS * HOUR_MS


def closed_bars(recorded: Recorded, interval: Interval, coins: Iterable[str], since_ms: int) -> dict[str, list[BarRow]]:
    """Closed bars of coins that opened at or after an instant, oldest first.

    Raises:
        ValueError: If the recording does not have the venue's format.
    """
    at_ms, shift_ms = recorded.now()
    step_ms = INTERVAL_MS[interval]
    until_ms = at_ms // 1_000 * 1_000 - SETTLE_MS - step_ms + shift_ms
    found: dict[str, list[BarRow]] = {}
    for coin in coins:
        text = recorded.columns(f"candles-{interval}", coin)
        if text is not None:
            columns = BAR_COLUMNS.decode(text)
            found[coin] = [row for row in _shifted(columns, shift_ms, step_ms) if since_ms <= row[0] <= until_ms]
    return found


def funding_payments(recorded: Recorded, coins: Iterable[str], since_ms: int) -> dict[str, list[PaymentRow]]:
    """Payments of funding of coins, from an instant on, oldest first.

    Raises:
        ValueError: If the recording does not have the venue's format.
    """
    at_ms, shift_ms = recorded.now()
    found: dict[str, list[PaymentRow]] = {}
    for coin in coins:
        text = recorded.columns("funding", coin)
        if text is not None:
            columns = PAYMENT_COLUMNS.decode(text)
            paid = zip(accumulate(columns.times), _filled(columns.rates, len(columns.times)), strict=True)
            rows = [(paid_ms + shift_ms, rate) for paid_ms, rate in paid if paid_ms <= at_ms]
            rows = [row for row in rows if row[0] >= since_ms]
            pages = (rows[first : first + FUNDING_PAGE] for first in range(0, len(rows), FUNDING_PAGE))
            found[coin] = [payment for page in pages for payment in payments_of(page)]
    return found


def _shifted(columns: BarColumns, shift_ms: int, step_ms: int) -> Iterable[BarRow]:
    """Sound bars of a coin, in present time."""
    cells = (columns.open, columns.high, columns.low, columns.close, columns.volumes)
    length = len(columns.times)
    filled = (_filled(cell, length) for cell in cells)
    rows = zip(accumulate(columns.times), *filled, accumulate(columns.trades), strict=True)
    for open_ms, first, high, low, last, volume, count in rows:
        if open_ms % step_ms == 0 and 0 < low <= first <= high and low <= last <= high:
            yield open_ms + shift_ms, first, high, low, last, volume, count


def _filled(cells: object, length: int) -> Iterable[Any]:
    return cells if isinstance(cells, list) else repeat(cells, length)
