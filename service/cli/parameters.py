"""Types of parameters that several commands share."""

import re
from typing import Any, Final

import click

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS

_UNITS_MS: Final = {"m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
_DURATION: Final = re.compile(r"([0-9]{1,6})([mhdw])\Z", re.ASCII)
_INTEGER: Final = re.compile(r"-?[0-9]+", re.ASCII)
_MOST: Final = 2**63


class Utf8Text(click.ParamType[str]):
    """Text in UTF-8. Shells pass any bytes."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself."""
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("not valid UTF-8.", param, ctx)
        return str(value)


class WholeNumber(click.ParamType[int]):
    """An integer in ASCII digits."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, int):
            return value
        if not _INTEGER.fullmatch(value):
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return int(value)


class Duration(click.ParamType[int]):
    """`90m`, `12h`, `30d` or `52w`, as milliseconds.

    Args:
        zero: Whether `0m` is one.
    """

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Milliseconds."""
        if isinstance(value, int):
            return value
        found = _DURATION.match(value)
        if not found or not (int(found[1]) or self._zero):
            self.fail(f"a duration is a number and a unit, such as 90m, 12h, 30d or 52w, not {value!r}.", param, ctx)
        return int(found[1]) * _UNITS_MS[found[2]]


class Usdc(click.ParamType[int]):
    """An amount of USDC in decimal notation, as micro-USD."""

    name = "usdc"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Micro-USD."""
        from service.client.config import read_usdc  # noqa: PLC0415 - this module is loaded at every start

        try:
            return value if isinstance(value, int) else read_usdc(value)
        except ValueError as error:
            self.fail(f"{error}.".replace("..", "."), param, ctx)


class RowId(click.ParamType[int]):
    """The id of a user, grant or other row: an integer from 1 to 2^63 - 1."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, int):
            return value
        if not (value.isascii() and value.isdigit() and 0 < int(value[:20]) < _MOST):
            self.fail(f"{value!r} is not a whole number from 1.", param, ctx)
        return int(value)
