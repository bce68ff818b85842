"""Rows under headers, and what becomes of them where the screen is too narrow."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.clients.cli.prose import facts, flow
from service.clients.cli.screen import Cell, Screen, cells, cut

_GAP: Final = "  "
_NARROWEST: Final = 8
"""Cells that are left to a column of words."""


def table(
    screen: Screen,
    headers: Sequence[str],
    rows: Sequence[Sequence[Cell | object]],
    *,
    right: str = "",
    whole: bool = False,
) -> Iterator[str]:
    """Rows under headers, columns aligned; the widest column of words gives way where the screen is too narrow.

    Half a figure is a wrong one: where words cannot give way far enough, what each row holds stands below itself.

    Args:
        screen: Where it is read.
        headers: One for each column; a column without one belongs to that before it.
        rows: Cells, or what is shown by `str` (None as `-`).
        right: One letter a column, `r` for figures, set against their right edge (`lrr`); left where there is none.
        whole: Whether nothing gives way, words neither.
    """
    grid = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    heads = [Cell(header, "dim") for header in headers]
    sides = right.ljust(len(headers), "l")
    widths = [max(cells(row[place].text) for row in (heads, *grid)) for place in range(len(headers))]
    if not _narrow(widths, sides, screen.width - len(_GAP) * (len(widths) - 1), whole=whole):
        for cell_row in grid:
            yield from _below_itself(screen, headers, cell_row)
        return
    for row in (heads, *grid):
        shown = [_set(screen, cell, width, side) for cell, width, side in zip(row, widths, sides, strict=True)]
        yield _GAP.join(shown).rstrip()


def _narrow(widths: list[int], sides: str, room: int, *, whole: bool) -> bool:
    """Have columns of words give way; whether they fit now."""
    over = sum(widths) - room
    giving = [] if whole else [place for place, side in enumerate(sides) if side == "l"]
    while over > 0 and (giving := [place for place in giving if widths[place] > _NARROWEST]):
        widths[max(giving, key=widths.__getitem__)] -= 1
        over -= 1
    return over <= 0


def _below_itself(screen: Screen, headers: Sequence[str], row: Sequence[Cell]) -> Iterator[str]:
    """A row as a title and what belongs to it, a line each."""
    said: list[tuple[str, list[Cell]]] = []
    for header, cell in zip(headers, row, strict=True):
        if said and not (header.strip() and said[-1][0]):
            said[-1] = (said[-1][0] or header, [*said[-1][1], cell])
        else:
            said.append((header, [cell]))
    yield from flow(screen, [Cell(cell.text, cell.style or "strong") for cell in said[0][1]])
    yield from facts(screen, [(f"  {Cell(header).text}", parts) for header, parts in said[1:]])


def _set(screen: Screen, cell: Cell, width: int, side: str) -> str:
    text = cut(cell.text, width)
    space = " " * (width - cells(text))
    painted = screen.paint(cell.style, text)
    return space + painted if side == "r" else painted + space
