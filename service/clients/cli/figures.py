"""Figures as people read them: prices, money, percent, times. What is not known is `-`.

A client's "now" is the `meta.ts` of the answer: the ages it tells are the service's, whatever the clock here says.
"""

from collections.abc import Iterator, Mapping
from math import floor, log10
from typing import Any, Final

from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Screen, Style, age, safe
from service.clock import iso, parse_iso

UNKNOWN: Final = "-"
_DIGITS: Final = 12
"""A venue's prices have fewer; what has more was worked out."""
_SIGNIFICANT: Final = 6
_SCALES: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_DAY_S: Final = 86_400
_SPANS: Final = ((2 * _DAY_S, _DAY_S, "days"), (3_600, 3_600, "h"), (60, 60, "min"), (0, 1, "s"))
_TRENDS: Final[Mapping[str, tuple[str, Style]]] = {"UP": ("▲", "good"), "DOWN": ("▼", "bad"), "HODL": ("◆", "warn")}


def price(value: float | None) -> str:
    """USD with the venue's own precision: `117,700`, `0.002197`; a mean, which has none, to six significant digits."""
    if value is None:
        return UNKNOWN
    finest = _DIGITS - 1 - floor(log10(abs(value))) if value else 0
    for places in range(max(finest, 0) + 1):
        written = f"{value:,.{places}f}"
        if float(written.replace(",", "")) == value:
            return written
    return f"{value:,.{max(2, _SIGNIFICANT - 1 - floor(log10(abs(value))))}f}"


def counted(count: int, thing: str) -> str:
    """So many of a thing: `1 wallet`, `428 movements`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def usd(value: float | None) -> str:
    """A price with its unit: `$117,700`."""
    return UNKNOWN if value is None else f"{'-' if value < 0 else ''}${price(abs(value))}"


def money(value: float | None) -> str:
    """A sum of USD, as coarse as its size allows: `$2.34T`, `$812.40k`, `$12.30`."""
    if value is None:
        return UNKNOWN
    sign, size = ("-" if value < 0 else ""), abs(value)
    for scale, letter in _SCALES:
        if size >= scale:
            return f"{sign}${size / scale:.2f}{letter}"
    return f"{sign}${size:.2f}"


def signed(value: float | None, decimals: int = 2, unit: str = " %") -> str:
    """A change, its sign always written: `+6.64 %`; nothing has none: `0.00 %`."""
    if value is None:
        return UNKNOWN
    rounded = round(value, decimals) + 0.0  # no "-0.00"
    return f"{rounded:{'+' if rounded else ''},.{decimals}f}{unit}"


def percent(value: float | None, decimals: int = 1) -> str:
    """A percentage that is no change: `41.2 %`."""
    return UNKNOWN if value is None else f"{value:,.{decimals}f} %"


def share(value: float | None, decimals: int = 1) -> str:
    """A part of one, in percent: `23.1 %`."""
    return UNKNOWN if value is None else f"{100 * value:.{decimals}f} %"


def direction(value: float | None) -> Style | None:
    """The colour of a change: by its sign, none where it is zero or unknown."""
    return None if not value else "good" if value > 0 else "bad"


def change(value: float | None, decimals: int = 2, unit: str = " %") -> Cell:
    """A change, painted by its sign."""
    return Cell(signed(value, decimals, unit), direction(value))


def trend(state: str | None) -> Cell:
    """A state of a trend, with a sign that needs no colour."""
    sign, style = _TRENDS.get(state or "", ("", None))
    return Cell(f"{sign} {state}" if sign else state, style)


def instant(text: object) -> int | None:
    """Epoch milliseconds of an instant as the service writes it, or of a UTC day; none where it is neither."""
    written = str(text)
    try:
        return parse_iso(written if "T" in written else f"{written}T00:00:00Z")
    except ValueError:
        return None


def day(text: object) -> str:
    """The UTC day of an instant: `2025-07-25`."""
    return UNKNOWN if text is None else safe(text)[:10]


def moment(text: object) -> str:
    """An instant in UTC, to the minute: `2025-07-25 23:59 UTC`; as it came, where it is none."""
    if text is None:
        return UNKNOWN
    at_ms = instant(text)
    return safe(text) if at_ms is None else f"{iso(at_ms)[:16].replace('T', ' ')} UTC"


def elapsed_s(since: object, until: object) -> float | None:
    """Seconds from one instant to another, none where one is not known."""
    start, end = instant(since), instant(until)
    return None if start is None or end is None else (end - start) / 1_000


def span(seconds: float | None) -> str:
    """How long something takes or took: `4 days`, `36 h`, `5 min`."""
    if seconds is None:
        return UNKNOWN
    least, unit_s, name = next(row for row in _SPANS if seconds >= row[0] or not row[0])
    return f"{int(max(seconds, least) // unit_s)} {name}"


def footer(screen: Screen, meta: Mapping[str, Any], *more: str) -> Iterator[str]:
    """The last line: from when the data is and how old, and where it comes from."""
    said = [*more, f"as of {moment(meta['as_of'])}", age(meta["data_age_seconds"])]
    return flow(screen, [Cell(" · ".join(said), "dim")])
