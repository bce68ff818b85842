"""How figures are written for people: prices, percentages, amounts, instants; what is unknown is `-`."""

from typing import Final

from service.clients.cli.screen import Style

UNKNOWN: Final = "-"

_WHOLE_FROM: Final = 1_000
_CENTS: Final = 2
_SIGNIFICANT: Final = 6
_SCALES: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def price(value: float | None) -> str:
    """A price in USD, to six significant digits: `117,700`, `213.90`, `0.000961`."""
    if value is None:
        return UNKNOWN
    if abs(value) >= _WHOLE_FROM:
        return f"{value:,.2f}".removesuffix(".00")
    digits, _, exponent = f"{value:.{_SIGNIFICANT - 1}e}".partition("e")
    places = max(_CENTS, len(digits.lstrip("-").rstrip("0")) - 2 - int(exponent)) if value else _CENTS
    return f"{value:.{places}f}"


def signed(value: float | None, decimals: int = 2, unit: str = " %") -> str:
    """A change, its sign always written: `+6.64 %`."""
    return UNKNOWN if value is None else f"{value:+,.{decimals}f}{unit}"


def share(value: float | None, decimals: int = 1) -> str:
    """A part of one, in percent: `23.1 %`."""
    return UNKNOWN if value is None else f"{100 * value:.{decimals}f} %"


def money(value: float | None) -> str:
    """An amount of USD in four significant digits: `$13.23 M`."""
    if value is None:
        return UNKNOWN
    for scale, letter in _SCALES:
        if abs(value) >= scale:
            return f"${value / scale:.4g} {letter}"
    return f"${value:,.2f}"


def moment(instant: str | None) -> str:
    """An ISO 8601 instant in UTC, to the minute: `2025-07-25 23:59 UTC`."""
    return UNKNOWN if instant is None else f"{instant[:10]} {instant[11:16]} UTC"


def day(instant: str | None) -> str:
    """The day of an ISO 8601 instant: `2025-07-25`."""
    return UNKNOWN if instant is None else instant[:10]


def direction(value: float | None) -> Style | None:
    """The colour of a change: by its sign, none where it is zero or unknown."""
    return None if not value else "good" if value > 0 else "bad"
