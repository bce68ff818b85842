"""Funding payments on their venue's schedule, and the means of what was paid over a window."""

from collections.abc import Iterable
from math import fsum

from service.analytics.funding import least_hours
from service.clock import HOUR_MS
from service.market.models import PaymentRow, StampedPayment
from service.market.plausibility.rules import PAYMENT_LATE_MS
from service.units import apr_pct


def scheduled(stamp_ms: int, hours: float) -> int | None:
    """The instant of the schedule that a payment belongs to.

    Args:
        stamp_ms: Time that the venue gives the payment, epoch milliseconds.
        hours: Hours between two payments, by the venue's metadata; payments are made at multiples of them, UTC.

    Returns:
        Epoch milliseconds; null if the stamp is further than `PAYMENT_LATE_MS` from every instant of the schedule.
    """
    step_ms = round(hours * HOUR_MS)
    at_ms = (stamp_ms + step_ms // 2) // step_ms * step_ms
    return at_ms if abs(stamp_ms - at_ms) <= PAYMENT_LATE_MS else None


def on_schedule(stamped: Iterable[StampedPayment], hours: float) -> list[PaymentRow]:
    """Payments to store, oldest first: each at its instant of the schedule, its rate spread over the hours before it.

    A payment beside the schedule is left out, and so is a second one of the same instant. A missed payment is a gap: it
    does not change the hours of the others.

    Args:
        stamped: Payments as the venue shows them, in any order.
        hours: As `scheduled`.
    """
    found: dict[int, float] = {}
    for stamp_ms, rate in sorted(stamped):
        at_ms = scheduled(stamp_ms, hours)
        if at_ms is not None:
            found.setdefault(at_ms, rate)
    return [(at_ms, rate / hours, hours) for at_ms, rate in found.items()]


def mean_rate(payments: Iterable[PaymentRow], since_ms: int, until_ms: int) -> float | None:
    """The mean of what was paid in (`since_ms`, `until_ms`], each payment weighted by its hours.

    Returns:
        Fraction per hour; null unless the payments cover `least_hours` of the full hours that ended in the window.
    """
    paid = [(rate, hours) for paid_ms, rate, hours in payments if since_ms < paid_ms <= until_ms]
    covered, whole = fsum(hours for _, hours in paid), until_ms // HOUR_MS - since_ms // HOUR_MS
    if not covered or covered < least_hours(whole):
        return None
    return fsum(rate * hours for rate, hours in paid) / covered


def mean_apr(payments: Iterable[PaymentRow], since_ms: int, until_ms: int) -> float | None:
    """As `mean_rate`, in percent per year, 4 decimals."""
    rate = mean_rate(payments, since_ms, until_ms)
    return None if rate is None else apr_pct(rate) + 0.0  # JSON would show a negative zero


def aprs_of_bars(payments: Iterable[PaymentRow], unit_ms: int, until_ms: int) -> dict[int, float]:
    """The mean of each bar by its open time, as `mean_apr`; of a bar that still runs, of its part until `until_ms`.

    A payment belongs to the bar that it ends, because it covers the hours before it. Bars without a mean are left out.
    """
    bars: dict[int, list[PaymentRow]] = {}
    for payment in payments:
        bars.setdefault((payment[0] - 1) // unit_ms * unit_ms, []).append(payment)
    means = {open_ms: mean_apr(paid, open_ms, min(open_ms + unit_ms, until_ms)) for open_ms, paid in bars.items()}
    return {open_ms: apr for open_ms, apr in means.items() if apr is not None}
