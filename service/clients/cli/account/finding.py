"""What is said of one thing that was looked at."""

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from service.clients.cli.screen import Screen, Style, safe

_INDENT = " " * 9


class Check(NamedTuple):
    """One thing that was looked at.

    Attributes:
        check: What it is.
        said: What was found.
        finding: What is wrong with it; None where all is well.
        remedy: What to do about that.
    """

    check: str
    said: str
    finding: str | None = None
    remedy: str | None = None


def lines(found: Check, on: Screen) -> Iterator[str]:
    """What a person reads of it, as the operator's `doctor` writes it."""
    mark: str
    style: Style
    mark, style = ("FINDING", "bad") if found.finding else ("ok", "good")
    first, *rest = _wrap(f"{mark:<9}{found.check}: {found.said}", on)
    yield on.paint(style, mark) + first[len(mark) :]
    yield from rest
    if found.finding:
        yield from _wrap(f"{_INDENT}- {found.finding}", on)
        yield from _wrap(f"{_INDENT}What to do: {found.remedy}.", on)


def _wrap(line: str, on: Screen) -> list[str]:
    return textwrap.wrap(
        safe(line), on.width, subsequent_indent=_INDENT + "  ", break_long_words=False, break_on_hyphens=False
    )
