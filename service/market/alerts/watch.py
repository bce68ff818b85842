"""One coin's funding, watched: what it paid in 30 days, the zone it is in, and when that changes. No I/O, no clock."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from msgspec import Struct

from service.analytics.funding import LEAST_ROWS, Zone, can_enter, next_zone, percentile
from service.clock import DAY_MS
from service.market.observed import PaymentRow
from service.units import apr_pct

WINDOW_MS: Final = 30 * DAY_MS
"""What a rate is ranked within: the coin's payments of so long before."""

_paid_at: Final = itemgetter(0)


class Change(Struct, frozen=True):
    """A coin's funding passed from one zone to another (null: none), on a rate of `apr` percent a year.

    `price` is USD where it was known at once.
    """

    at_ms: int
    before: Zone | None
    after: Zone | None
    apr: float
    percentile: float
    interval_hours: float
    price: float | None = None


class Watch:
    """The machine of one coin.

    Args:
        zone: The zone it is in.
        through_ms: Up to when it has looked: what was paid until then is ranked within, and never judged again.

    Attributes:
        zone: As above.
        through_ms: As above.
        newest_ms: When the newest payment was made that it has been told; 0 before the first.
    """

    def __init__(self, zone: Zone | None, through_ms: int) -> None:
        self.zone = zone
        self.through_ms = through_ms
        self.newest_ms = 0
        # Numbers one after the other: there is one of these for each coin, and tuples would take five times as much.
        self._paid_ms = array("q")
        self._aprs = array("d")
        self._ranked = array("d")

    def pay(self, payments: Sequence[PaymentRow]) -> Iterator[Change]:
        """Take over payments, oldest first; those after `through_ms` are judged as they were made.

        A payment is ranked within those before it, as the rate is that will be paid next: nothing later enters.

        Yields:
            The changes of zone, dated by the payment.
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

    def judge(self, at_ms: int, apr: float, interval_hours: float, price: float | None = None) -> Iterator[Change]:
        """Look at the rate of an instant; with less than a week of payments to rank it within, nothing is said.

        Args:
            at_ms: When the rate was observed, not before `through_ms`.
            apr: Percent a year.
            interval_hours: Between two payments.
            price: USD, if known.

        Yields:
            The change of zone, if there is one.
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
            yield Change(at_ms, before, self.zone, apr, rank, interval_hours, price)

    def _add_unjudged(self, payments: Sequence[PaymentRow]) -> None:
        """Take over many payments at once: a month of each coin at a start."""
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
