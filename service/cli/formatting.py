"""`service.formats` for a terminal: unknown values are `-`, changes and trends have a colour, instants are read.

"Now" is the `meta.ts` of the answer, so ages do not depend on the local clock.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Concatenate, Final, ParamSpec

from service import formats
from service.cli.layout import flow
from service.cli.terminal import Cell, Display, Style, age, safe
from service.clock import iso, parse_iso

UNKNOWN: Final = "-"
_TREND_STYLES: Final[Mapping[str, Style]] = {"UP": "good", "DOWN": "bad", "HODL": "warn"}
_Options = ParamSpec("_Options")


def _or_unknown(
    write: Callable[Concatenate[float, _Options], str],
) -> Callable[Concatenate[float | None, _Options], str]:
    def written(value: float | None, /, *args: _Options.args, **options: _Options.kwargs) -> str:
        return UNKNOWN if value is None else write(value, *args, **options)

    return written


price = _or_unknown(formats.price)
usd = _or_unknown(formats.usd)
money = _or_unknown(formats.money)
signed = _or_unknown(formats.change)
percent = _or_unknown(formats.percent)
share = _or_unknown(formats.share)
number = _or_unknown(formats.number)
span = _or_unknown(formats.duration)


def direction(value: float | None) -> Style | None:
    """The colour of a change, by its sign; None if it is zero or unknown."""
    return None if not value else "good" if value > 0 else "bad"


def change(value: float | None, decimals: int = 2, unit: str = " %") -> Cell:
    """A change, painted by its sign."""
    return Cell(signed(value, decimals, unit), direction(value))


def trend(state: str | None) -> Cell:
    """A state of a trend, with a sign that needs no colour."""
    return Cell(state and formats.trend(state), _TREND_STYLES.get(state or ""))


def instant(text: object) -> int | None:
    """Epoch milliseconds of an instant as the service writes it, or of a UTC day; None if it is neither."""
    written = str(text)
    try:
        return parse_iso(written if "T" in written else f"{written}T00:00:00Z")
    except ValueError:
        return None


def day(text: object) -> str:
    """The UTC day of an instant: `2025-07-25`."""
    return UNKNOWN if text is None else formats.day(safe(text))


def moment(text: object) -> str:
    """An instant in UTC, to the minute: `2025-07-25 23:59 UTC`; any other text unchanged."""
    if text is None:
        return UNKNOWN
    at_ms = instant(text)
    return safe(text) if at_ms is None else formats.moment(iso(at_ms))


def elapsed_s(since: object, until: object) -> float | None:
    """Seconds from one instant to another; None if one is not known."""
    start, end = instant(since), instant(until)
    return None if start is None or end is None else (end - start) / 1_000


def footer(screen: Display, meta: Mapping[str, Any], *more: str) -> Iterator[str]:
    """The last line: the time and age of the data."""
    said = [*more, f"as of {moment(meta['as_of'])}", age(meta["data_age_seconds"])]
    return flow(screen, [Cell(" · ".join(said), "dim")])
