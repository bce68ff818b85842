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

    rows = [f"  {row.variable} ({row.default or 'unset'})\n{_indented(row.description)}\n" for row in describe()]
    return "\nsettings (environment variables, with their defaults):\n" + "".join(rows)


def _indented(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=_MARGIN, subsequent_indent=_MARGIN)
