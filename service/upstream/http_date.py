"""HTTP's dates (RFC 9110 §5.6.7), which are whole seconds."""

from email.utils import formatdate, mktime_tz, parsedate_tz

from service.clock import LATEST_MS, SECOND_MS


def parse_http_date(text: str) -> int | None:
    """Read a `Date` or `Retry-After` date.

    Returns:
        Epoch milliseconds UTC, or null where it is not a date between 1970 and 9999.
    """
    try:
        parts = parsedate_tz(text)
        at_ms = mktime_tz(parts) * SECOND_MS if parts else -1
    except (ValueError, OverflowError):
        return None
    return at_ms if 0 <= at_ms <= LATEST_MS else None


def http_date(at_ms: int) -> str:
    """Write an instant, epoch milliseconds UTC, as IMF-fixdate; the milliseconds are cut off."""
    return formatdate(at_ms // SECOND_MS, usegmt=True)
