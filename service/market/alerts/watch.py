"""State machine of one coin's funding: payments of 30 days, the current zone, and zone changes. No I/O, no clock."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final

from msgspec import Struct

from service.analytics.funding import LEAST_ROWS, Zone, can_enter, next_zone, percentile
from service.clock import DAY_MS, HOUR_MS
from service.market.models import PaymentRow
from service.units import apr_pct

WINDOW_MS: Final = 30 * DAY_MS
"""A rate is ranked among the coin's payments of this window."""

PAST_MS: Final = 7 * DAY_MS
"""Events this long before the first start are found in payments."""

WARM_UP_MS: Final = 7 * DAY_MS
"""The machine runs this long before them, to know the zone at their beginning."""

READ_MS: Final = WINDOW_MS + WARM_UP_MS + PAST_MS
"""Span of payments that is read."""

_paid_at: Final = itemgetter(0)


class ZoneChange(Struct, frozen=True):
    """A change of zone (null: none) at a rate of `apr` percent per year.

    `price` is USD, if known at that time.
    """

    at_ms: int
    before: Zone | None
    after: Zone | None
    apr: float
    percentile: float
    interval_hours: float
    price: float | None = None


class WatchUpdate(Struct, frozen=True):
    """Zone changes of a coin in order of time, and the zone after them.

    `since_ms` is set when a coin's past was read for the first time: events that ended before it are not stored.
    """

    venue_symbol: str
    changes: Sequence[ZoneChange]
    zone: Zone | None
    since_ms: int | None = None


class FundingScan(Struct, frozen=True):
    """A scan of current rates: time of the newest rate, and coins that are no longer listed."""

    through_ms: int
    gone: Collection[str] = ()


class FundingWatch:
    """State machine of one coin.

    Args:
        zone: Current zone.
        through_ms: Time of the last judgement: earlier payments are only ranked, never judged again.

    Attributes:
        zone: As above.
        through_ms: As above.
        newest_ms: Time of the newest payment; 0 before the first.
    """

    def __init__(self, zone: Zone | None, through_ms: int) -> None:
        self.zone = zone
        self.through_ms = through_ms
        self.newest_ms = 0
        # Arrays: one machine per coin, and tuples would take five times the memory.
        self._paid_ms = array("q")
        self._aprs = array("d")
        self._ranked = array("d")

    def pay(self, payments: Sequence[PaymentRow]) -> Iterator[ZoneChange]:
        """Add payments, oldest first. Those after `through_ms` are judged in order.

        A payment is ranked among those before it; nothing later enters.

        Yields:
            Zone changes, dated by the payment.
        """
        first = bisect_right(payments, self.newest_ms, key=_paid_at)
        judged = max(first, bisect_right(payments, self.through_ms, key=_paid_at))
        if first < judged:
            self._add_unjudged(payments[first:judged])
        for paid_ms, rate, interval_hours in payments[judged:]:
            apr = apr_pct(rate)
            yield from self.judge(paid_ms, apr, interval_hours)
            self.newest_ms = paid_ms
            self._paid_ms.append(paid_ms)
            self._aprs.append(apr)
            insort(self._ranked, apr)

    def judge(self, at_ms: int, apr: float, interval_hours: float, price: float | None = None) -> Iterator[ZoneChange]:
        """Judge the rate of an instant. Without a week of payments there is no result.

        Args:
            at_ms: Observation time of the rate, not before `through_ms`.
            apr: Percent per year.
            interval_hours: Hours between two payments.
            price: USD, if known.

        Yields:
            The zone change, if any.
        """
        self.through_ms = at_ms
        self._forget(at_ms - WINDOW_MS)
        if self.zone is None and not can_enter(apr):
            return
        rank = percentile(apr, self._ranked)
        if rank is None or len(self._ranked) < LEAST_ROWS:
            return
        before, self.zone = self.zone, next_zone(self.zone, rank, apr)
        if self.zone != before:
            yield ZoneChange(at_ms, before, self.zone, apr, rank, interval_hours, price)

    def _add_unjudged(self, payments: Sequence[PaymentRow]) -> None:
        """Add many payments at once: a month per coin at a start."""
        aprs = [apr_pct(rate) for _, rate, _ in payments]
        self._paid_ms.extend(map(_paid_at, payments))
        self._aprs.extend(aprs)
        self._ranked = array("d", sorted([*self._ranked, *aprs]))
        self.newest_ms = self._paid_ms[-1]

    def _forget(self, until_ms: int) -> None:
        gone = bisect_right(self._paid_ms, until_ms)
        for apr in self._aprs[:gone]:
            del self._ranked[bisect_left(self._ranked, apr)]
        del self._paid_ms[:gone], self._aprs[:gone]


def earliest_judged(now_ms: int) -> int:
    """Payments after this instant are judged; earlier ones are only ranked."""
    return now_ms - WARM_UP_MS - PAST_MS


def oldest_present(now_ms: int) -> int:
    """A coin whose newest payment is older is not watched: its history is still being fetched."""
    return now_ms // HOUR_MS * HOUR_MS - HOUR_MS


def judge_past(coin: str, payments: Sequence[PaymentRow], now_ms: int) -> tuple[FundingWatch, WatchUpdate]:
    """Judge the payments of a coin that was not watched yet.

    Args:
        coin: Venue symbol.
        payments: Of the last `READ_MS`, oldest first.
        now_ms: Epoch milliseconds.

    Returns:
        Its machine, which can continue, and the update.
    """
    watch = FundingWatch(None, earliest_judged(now_ms))
    return watch, update_of(coin, watch, watch.pay(payments), now_ms - PAST_MS)


def update_of(
    coin: str, watch: FundingWatch, changes: Iterable[ZoneChange], since_ms: int | None = None
) -> WatchUpdate:
    """The update after a machine made `changes`."""
    listed = list(changes)  # consuming the iterator moves the machine, so read the zone after it
    return WatchUpdate(coin, listed, watch.zone, since_ms)
