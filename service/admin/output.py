"""What commands print: aligned text of at most 80 columns, or one JSON document."""

import json
import sys
from collections.abc import Collection, Sequence
from typing import Final

WIDTH: Final = 80
_GAP: Final = "  "
_NARROWEST: Final = 8


def print_json(document: object) -> None:
    """Print one JSON document on a line of its own."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")


def print_table(
    headers: Sequence[str], rows: Sequence[Sequence[object]], *, nothing: str, whole: Collection[str] = ()
) -> None:
    """Print rows under headers, columns aligned; the widest column gives way where 80 columns are not enough.

    Args:
        headers: One for each column.
        rows: Cells are shown by `str`; `None` is shown as `-`.
        nothing: What to say where there are no rows.
        whole: Headers of columns that never give way: what has to be typed again.
    """
    if not rows:
        sys.stdout.write(nothing + "\n")
        return
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - WIDTH
    giving = [place for place, header in enumerate(headers) if header not in whole]
    while over > 0 and widths[widest := max(giving, key=widths.__getitem__)] > _NARROWEST:
        widths[widest] -= 1
        over -= 1
    for line in (headers, *cells):
        shown = [_fit(cell, width) for cell, width in zip(line, widths, strict=True)]
        sys.stdout.write(_GAP.join(shown).rstrip() + "\n")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    # A name may hold anything its owner typed: it must not steer the operator's terminal.
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(value))


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
