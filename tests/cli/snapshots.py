"""What commands show, kept as text and read by a person before it is kept.

`VERDICT_SNAPSHOTS=write` writes the files anew; each that changed is to be read again before it is committed.
"""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from service.cli.terminal import Display, cells

KEPT = Path(__file__).resolve().parent / "snapshots"
NARROW = (80, 40)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

Render = Callable[[Display], Iterable[str]]


def check(name: str, render: Render, widths: Iterable[int] = (80, 120)) -> None:
    """Hold what is shown to what was kept, within the width (but for a cursor), and the same in colour as without."""
    for width in widths:
        shown = list(render(Display(width, colour=False)))
        assert [line for line in shown if cells(line) > width and "--cursor" not in line] == []
        assert [line for line in shown if line != line.rstrip()] == []
        assert [uncoloured(line).rstrip() for line in render(Display(width, colour=True))] == shown
        kept = KEPT / f"{name}.{width}.txt"
        text = "".join(f"{line}\n" for line in shown)
        if os.environ.get("VERDICT_SNAPSHOTS") == "write":
            kept.write_text(text)
        assert text == kept.read_text(), f"{kept.name} differs; if it is meant to, VERDICT_SNAPSHOTS=write and read it"


def uncoloured(text: str) -> str:
    """A text without its colours."""
    return _ESCAPE.sub("", text)
