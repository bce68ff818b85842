"""Pictures made of letters: curves in braille dots under rulers, bars, gauges, shares.

Decision: they are drawn here rather than by plotext, which takes an eighth of a second to be loaded, writes prices as
`1.2e5` and paints its own background; a curve takes forty lines.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final

from service.cli.formatting import price
from service.cli.terminal import Display, Style, cells, cut, safe

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille letter, by row and column of its dots (Unicode, block 2800)."""
_BLANK: Final = 0x2800
_LEAST_SPAN: Final = 1e-300
"""Values nearer to each other are drawn as one: there is no round value between them."""
_DOTTED: Final = 3
_ROWS: Final = 12
_ROWS_A_TICK: Final = 2
_NOISE: Final = 1e-9
_STEPS: Final = (1, 2, 2.5, 5, 10)
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_MOST_CELLS: Final = 160


class Series:
    """A curve, or points.

    Args:
        xs: Where, rising.
        ys: How high; nothing is drawn where it is not known.
        style: How it is painted.
        name: What the legend calls it; it has no place there without a name.
        dotted: Whether the curve is drawn with gaps, so that it differs from another one without colour.
        mark: A letter that stands at each point instead of a curve between them.
    """

    def __init__(
        self,
        xs: Sequence[float],
        ys: Sequence[float | None],
        style: Style | None = None,
        name: str = "",
        *,
        dotted: bool = False,
        mark: str = "",
    ) -> None:
        self.points = [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None]
        self.runs = _runs(xs, ys)
        self.style = style
        self.name = name
        self.dotted = dotted
        self.mark = mark


def _runs(xs: Sequence[float], ys: Sequence[float | None]) -> list[list[tuple[float, float]]]:
    """The stretches between gaps."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if y is None:
            runs.append([])
        else:
            runs[-1].append((x, y))
    return [run for run in runs if run]


class _Canvas:
    """Cells of 2 by 4 dots; the lowest row is the last."""

    def __init__(self, width: int, rows: int) -> None:
        self._bits = [[0] * width for _ in range(rows)]
        self._marks = [[""] * width for _ in range(rows)]
        self._styles: list[list[Style | None]] = [[None] * width for _ in range(rows)]
        self.columns = 2 * width - 1
        self.height = 4 * rows - 1

    def dot(self, x: int, y: int, style: Style | None) -> None:
        row, column = (self.height - y) // 4, x // 2
        self._bits[row][column] |= _DOTS[(self.height - y) % 4][x % 2]
        self._styles[row][column] = style

    def mark(self, x: int, y: int, letter: str, style: Style | None) -> None:
        row, column = (self.height - y) // 4, x // 2
        self._marks[row][column] = letter
        self._styles[row][column] = style

    def lines(self, screen: Display) -> Iterator[str]:
        for bits, marks, styles in zip(self._bits, self._marks, self._styles, strict=True):
            letters = [mark or (chr(_BLANK | dots) if dots else " ") for dots, mark in zip(bits, marks, strict=True)]
            yield _painted(screen, letters, styles)


def _painted(screen: Display, letters: Sequence[str], styles: Sequence[Style | None]) -> str:
    """Letters side by side, each stretch of a style painted at once."""
    starts = [place for place in range(len(letters)) if not place or styles[place] != styles[place - 1]]
    return "".join(
        screen.paint(styles[start], "".join(letters[start:end])) for start, end in pairwise([*starts, len(letters)])
    )


def line(
    screen: Display,
    xs: Sequence[float],
    ys: Sequence[float | None],
    style: Style | None = "accent",
    *,
    rows: int = _ROWS,
    tick: Callable[[float], str] = price,
    marks: Sequence[tuple[float, str]] = (),
) -> Iterator[str]:
    """One curve, its last value written beside it. See `lines`."""
    return lines(screen, [Series(xs, ys, style)], rows=rows, tick=tick, marks=marks)


def lines(
    screen: Display,
    series: Sequence[Series],
    *,
    rows: int = _ROWS,
    tick: Callable[[float], str] = price,
    marks: Sequence[tuple[float, str]] = (),
) -> Iterator[str]:
    """Curves over one ruler, those named in a legend above; nothing where no value is known.

    Args:
        screen: Where it is read; the picture is as wide.
        series: The later is drawn over the earlier; the last value of the first is written beside it.
        rows: Lines of the picture itself.
        tick: How a value is written at the left and the right.
        marks: What is written below, and where; what would run into what stands before it is left out.
    """
    points = [point for one in series for point in one.points]
    if not points:
        return
    across = _Scale([x for x, _ in points])
    up = _Scale([y for _, y in points])
    ticks = {up.place(value, 4 * rows - 1) // 4: tick(value) for value in up.ticks(rows // _ROWS_A_TICK)}
    last = next((one.points[-1][1] for one in series if one.points), 0.0)
    beside = {up.place(last, 4 * rows - 1) // 4: tick(last)}
    left = max(map(cells, [*ticks.values(), ""]))
    wide = min(screen.width, _MOST_CELLS) - left - 3 - max(map(cells, beside.values()))
    canvas = _Canvas(max(wide, 1), rows)
    for one in series:
        _draw(canvas, one, across, up)
    yield from _legend(screen, series)
    for row, drawn in zip(reversed(range(rows)), canvas.lines(screen), strict=True):
        ruler = screen.paint("dim", f"{ticks.get(row, ''):>{left}} {'┤' if row in ticks else '│'}")
        yield f"{ruler}{drawn} {screen.paint('strong', beside.get(row, ''))}".rstrip()
    yield from _below(screen, [(across.place(x, canvas.columns) // 2, text) for x, text in marks], left, max(wide, 1))


class _Scale:
    """From values to dots."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values), max(values)
        if self.high - self.low < _LEAST_SPAN:
            least = abs(self.low) / 100 if abs(self.low) > _LEAST_SPAN else 1.0
            self.low, self.high = self.low - least, self.high + least

    def place(self, value: float, last: int) -> int:
        """The dot that a value stands at: 0 for the lowest, `last` for the highest."""
        return round((value - self.low) / (self.high - self.low) * last)

    def ticks(self, most: int) -> list[float]:
        """Round values, so many at the most."""
        rough = (self.high - self.low) / max(most, 1)
        size = 10.0 ** floor(log10(rough))
        step = next(size * times for times in _STEPS if size * times >= rough or times == _STEPS[-1])
        places = max(0, 2 - floor(log10(step)))
        first, last = ceil(self.low / step - _NOISE), floor(self.high / step + _NOISE)
        return [round(step * times, places) + 0.0 for times in range(first, last + 1)]


def _draw(canvas: _Canvas, series: Series, across: _Scale, up: _Scale) -> None:
    for run in series.runs:
        dots = [(across.place(x, canvas.columns), up.place(y, canvas.height)) for x, y in run]
        if series.mark:
            for x, y in dots:
                canvas.mark(x, y, series.mark, series.style)
            continue
        canvas.dot(*dots[0], series.style)
        for (x0, y0), (x1, y1) in pairwise(dots):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(1, steps + 1):
                x, y = x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)
                if not series.dotted or not x % _DOTTED:
                    canvas.dot(x, y, series.style)


def _legend(screen: Display, series: Sequence[Series]) -> Iterator[str]:
    named = [
        screen.paint(one.style, one.mark or ("⠂⠐" if one.dotted else "⠒⠒")) + f" {safe(one.name)}"
        for one in series
        if one.name
    ]
    if named:
        yield "   ".join(named)


def _below(screen: Display, marks: Sequence[tuple[int, str]], left: int, wide: int) -> Iterator[str]:
    """The lower ruler, and what is written under it."""
    ruler, written = ["─"] * wide, ""
    for place, text in marks:
        start = max(min(place - cells(text) // 2, wide - cells(text)), 0)
        if written and start < cells(written) + 2:
            continue
        ruler[place] = "┬"
        written = written.ljust(start) + text
    yield screen.paint("dim", f"{'':>{left}} └{''.join(ruler)}")
    if written:
        yield screen.paint("dim", f"{'':>{left}}  {written}")


def bar(value: float | None, low: float, high: float, width: int) -> str:
    """A bar from zero to a value, on a scale from `low` (at most zero) to `high`; always `width` cells.

    To the right it ends at an eighth of a cell; to the left at a half, for there are no finer letters.
    """
    zero = round(-low / (high - low) * width) if high > low else 0
    if value is None or high <= low:
        return " " * width
    if value < 0:
        halves = min(round(-value / -low * zero * 2), zero * 2) if low < 0 else 0
        drawn = "▐" * (halves % 2) + "█" * (halves // 2)
        return drawn.rjust(zero).ljust(width)
    eighths = min(round(value / high * (width - zero) * 8), (width - zero) * 8) if high > 0 else 0
    drawn = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return (" " * zero + drawn).ljust(width)


def bars(
    screen: Display,
    rows: Sequence[tuple[str, float | None, Style | None]],
    *,
    text: Callable[[float | None], str],
    width: int | None = None,
) -> Iterator[str]:
    """A bar a row on one scale: label, value, bar.

    Args:
        screen: Where it is read.
        rows: Label, value, and how its bar is painted.
        text: How a value is written.
        width: Cells of the bars; what is left of the line where it is not given.
    """
    known = [0.0, *(value for _, value, _ in rows if value is not None)]
    low, high = min(known), max(known)
    labels = [cut(safe(label), 24) for label, _, _ in rows]
    first, second = max(map(cells, [*labels, ""])), max(map(cells, [*(text(value) for _, value, _ in rows), ""]))
    wide = max(min(screen.width, _MOST_CELLS) - first - second - 4, 1)
    wide = wide if width is None else min(wide, width)
    for label, (_, value, style) in zip(labels, rows, strict=True):
        lead = label + " " * (first - cells(label))
        yield f"{lead}  {text(value):>{second}}  {screen.paint(style, bar(value, low, high, wide).rstrip())}".rstrip()


def gauge(value: float, low: float, high: float, width: int) -> str:
    """Where a value stands between two ends: `├───┼──●──┤`, the cross where nothing counts."""
    cells_ = ["─"] * width
    cells_[0], cells_[-1] = "├", "┤"
    for at, letter in ((0.0, "┼"), (value, "●")):
        cells_[round((min(max(at, low), high) - low) / (high - low) * (width - 1))] = letter
    return "".join(cells_)


def shares(screen: Display, parts: Sequence[tuple[float, Style | None, str]], width: int) -> str:
    """One bar made of parts, each as long as its share: (how much, how painted, the letter it is made of)."""
    total = sum(size for size, _, _ in parts)
    drawn, upto, done = "", 0.0, 0
    for size, style, letter in parts:
        upto += size
        end = round(upto / total * width) if total else 0
        drawn += screen.paint(style, letter * (end - done))
        done = end
    return drawn
