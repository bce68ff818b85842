"""Values of the operator's options: worker numbers, durations, and the help on settings."""

import re
import textwrap
from typing import Any, Final, NamedTuple, get_type_hints

from service.client.errors import MISUSED, RefusalError
from service.clock import DAY_MS, HOUR_MS, LATEST_MS, MINUTE_MS

_WIDTH: Final = 80
_MARGIN: Final = " " * 6
_MOST_WORKERS: Final = 64


def workers(text: str) -> int:
    """A number of processes.

    Raises:
        ValueError: If it is none, or one that no machine needs.
    """
    if text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_WORKERS:
        return int(text)
    raise ValueError(f"takes 1 to {_MOST_WORKERS}, not {text!r}")


def settings() -> str:
    """Every setting with its default and meaning."""
    rows = []
    for row in describe():
        default = row.default.replace(",", ", ") or "unset"
        rows.append(f"{_filled(f'{row.variable} ({default})', '  ')}\n{_filled(row.description, _MARGIN)}\n")
    return "\nsettings (environment variables, with their defaults):\n" + "".join(rows)


class SettingRow(NamedTuple):
    """One line of the documentation of settings."""

    variable: str
    default: str
    description: str


def describe() -> list[SettingRow]:
    """Every setting in order, for `verdict serve --help` and `docs/settings.md`."""
    import msgspec  # noqa: PLC0415 - loaded for this help only

    from service.settings import Settings, variable  # noqa: PLC0415 - as above

    hints = get_type_hints(Settings, include_extras=True)
    return [
        SettingRow(
            variable(field.name), _default(field.name, field.default), hints[field.name].__metadata__[0].description
        )
        for field in msgspec.structs.fields(Settings)
    ]


def _default(name: str, value: Any) -> str:
    if name == "data_dir":
        return "the platform's data folder"
    if name == "fixtures_dir":
        return "fixtures/upstream"
    if name == "wallets_rpc":
        return ",".join(url.text for url in value)
    return "" if value in (None, ()) else str(value)


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=_MARGIN)


_UNITS_MS: Final = {"m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([mhdw])\Z")


def end_of(text: str | None, now_ms: int) -> int | None:
    """When something ends that begins now.

    Args:
        text: `90m`, `12h`, `30d`, `52w`, or nothing for never.
        now_ms: Now, epoch milliseconds.

    Returns:
        Epoch milliseconds; `None` for never.

    Raises:
        RefusalError: If the text is no such duration.
    """
    if text is None:
        return None
    found = _DURATION.match(text)
    if not found:
        raise RefusalError(f"--expires takes a number and a unit, such as 90m, 12h, 30d or 52w, not {text!r}", MISUSED)
    return min(now_ms + int(found[1]) * _UNITS_MS[found[2]], LATEST_MS)
