"""What `verdict serve` reads of its command line, and says of its settings."""

import textwrap
from typing import Final

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
    from service.settings import describe  # noqa: PLC0415 - msgspec is loaded for this help only

    rows = []
    for row in describe():
        default = row.default.replace(",", ", ") or "unset"
        rows.append(f"{_filled(f'{row.variable} ({default})', '  ')}\n{_filled(row.description, _MARGIN)}\n")
    return "\nsettings (environment variables, with their defaults):\n" + "".join(rows)


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=_MARGIN)
