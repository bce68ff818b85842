"""Renders the Markdown of answers for a terminal, line by line as they arrive."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from service.cli.layout import table, wrap
from service.cli.terminal import Cell, Display, Span, Style

_MARKED: Final = re.compile(r"(\*\*(?=\S).+?(?<=\S)\*\*|`[^`]+`|(?<!\w)_(?=\S).+?(?<=\S)_(?!\w))")
_ITEM: Final = re.compile(r"(?P<indent> {0,8})(?P<mark>[-*]|\d{1,3}[.)]) +(?P<text>.*)")
_HEADING: Final = re.compile(r"#{1,6} +(?P<text>.*?) *#*")
_RULE: Final = re.compile(r"[|:\- ]+")
_FIGURE: Final = re.compile(r"[-+]?\$?[\d.,]+( ?[%a-zA-Z/ ]{0,12})?|-|")
_STYLES: Final[dict[str, tuple[int, Style]]] = {"*": (2, "strong"), "`": (1, "accent"), "_": (1, "dim")}


def render(screen: Display, lines: Iterable[str]) -> Iterator[str]:
    """Render Markdown lines without their ends. A table is shown after its last row, other lines at once."""
    rows: list[str] = []
    for line in lines:
        if line.lstrip().startswith("|"):
            rows.append(line)
            continue
        yield from _table(screen, rows)
        rows = []
        yield from _line(screen, line.rstrip())
    yield from _table(screen, rows)


def _line(screen: Display, line: str) -> Iterator[str]:
    if not line:
        yield ""
    elif heading := _HEADING.fullmatch(line):
        yield from wrap(screen, [(text, style or "strong") for text, style in spans(heading["text"])])
    elif item := _ITEM.fullmatch(line):
        mark = "•" if item["mark"] in "-*" else item["mark"]
        first = f"{item['indent']}{mark} "
        yield from wrap(screen, spans(item["text"]), first, " " * len(first))
    else:
        yield from wrap(screen, spans(line))


def spans(text: str) -> Iterator[Span]:
    """The pieces of a line: bold, code and emphasis, each without its marks."""
    for part in _MARKED.split(_plain(text)):
        if _MARKED.fullmatch(part):
            marks, style = _STYLES[part[0]]
            yield part[marks:-marks], style
        elif part:
            yield part, None


def _plain(text: str) -> str:
    """Unescape quoted text of other sites, which answers contain in HTML's escapes."""
    if "&" not in text:
        return text
    from html import unescape  # noqa: PLC0415 - few answers need it

    return unescape(text)


def _table(screen: Display, lines: Iterable[str]) -> Iterator[str]:
    found = [line.strip() for line in lines]
    grid = [[_cell(text.strip()) for text in line.strip("|").split("|")] for line in found if not _RULE.fullmatch(line)]
    if not grid:
        return
    heads, *rows = ([*row, *[Cell("")] * len(grid[0])][: len(grid[0])] for row in grid)
    columns = ([row[place] for row in rows] for place in range(len(heads)))
    right = "".join("r" if all(_FIGURE.fullmatch(cell.text) for cell in column) else "l" for column in columns)
    yield from table(screen, [head.text for head in heads], rows, right=right, whole=True)


def _cell(text: str) -> Cell:
    parts = list(spans(text))
    return Cell("".join(part for part, _ in parts), parts[0][1] if len(parts) == 1 else None)
