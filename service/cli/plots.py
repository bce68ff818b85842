"""Charts made of characters: a curve in braille dots over rulers, sparklines, bars, gauges, shares.

Decision: plotext is not used, because it takes an eighth of a second to load, writes prices as `1.2e5` and paints its
own background.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final

from service.cli.formatting import price
from service.cli.terminal import Display, Style, cells

_DOTS: Final = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""Bits of a braille letter, by row from below and column of its dots (Unicode, block 2800)."""
_BLANK: Final = 0x2800
_LEAST_SPAN: Final = 1e-300
"""Values that are closer together are drawn as one."""
_ROWS: Final = 12
_ROWS_A_TICK: Final = 2
_NOISE: Final = 1e-9
_STEPS: Final = (1, 2, 2.5, 5, 10)
_MOST_CELLS: Final = 160
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_BARS: Final = "▁▂▃▄▅▆▇█"


def line(
    screen: Display,
    xs: Sequence[float],
    ys: Sequence[float],
    style: Style | None = "accent",
    *,
    rows: int = _ROWS,
    tick: Callable[[float], str] = price,
    marks: Sequence[tuple[float, str]] = (),
) -> Iterator[str]:
    """A curve between two rulers with its last value beside it; no lines without values.

    Args:
        screen: The output; the chart has its width.
        xs: x values, rising.
        ys: y values.
        style: Style of the curve.
        rows: Lines of the curve.
        tick: Formats a y value.
        marks: Labels below, with their x values. A label that would overlap the one before is left out.
    """
    if not xs:
        return
    across, up = _Scale(xs), _Scale(ys)
    top = 4 * rows - 1
    ticks = {up.place(value, top) // 4: tick(value) for value in up.ticks(rows // _ROWS_A_TICK)}
    beside = {up.place(ys[-1], top) // 4: tick(ys[-1])}
    left = max(map(cells, [*ticks.values(), ""]))
    wide = max(min(screen.width, _MOST_CELLS) - left - 3 - max(map(cells, beside.values())), 1)
    bits = [[_BLANK] * wide for _ in range(rows)]
    for x, y in _between([(across.place(x, 2 * wide - 1), up.place(y, top)) for x, y in zip(xs, ys, strict=True)]):
        bits[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
    for row in reversed(range(rows)):
        drawn = "".join(map(chr, bits[row])).replace(chr(_BLANK), " ")
        painted = re.sub("[^ ]+", lambda found: screen.paint(style, found[0]), drawn)
        ruler = screen.paint("dim", f"{ticks.get(row, ''):>{left}} {'┤' if row in ticks else '│'}")
        yield f"{ruler}{painted} {screen.paint('strong', beside.get(row, ''))}".rstrip()
    yield from _below(screen, [(across.place(x, 2 * wide - 1) // 2, text) for x, text in marks], left, wide)


class _Scale:
    """Maps values to dots."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values), max(values)
        if self.high - self.low < _LEAST_SPAN:
            least = abs(self.low) / 100 if abs(self.low) > _LEAST_SPAN else 1.0
            self.low, self.high = self.low - least, self.high + least

    def place(self, value: float, last: int) -> int:
        """The dot of a value: 0 for the lowest, `last` for the highest."""
        return round((value - self.low) / (self.high - self.low) * last)

    def ticks(self, most: int) -> list[float]:
        """At most `most` round values."""
        rough = (self.high - self.low) / max(most, 1)
        size = 10.0 ** floor(log10(rough))
        step = next(size * times for times in _STEPS if size * times >= rough or times == _STEPS[-1])
        places = max(0, 2 - floor(log10(step)))
        first, last = ceil(self.low / step - _NOISE), floor(self.high / step + _NOISE)
        return [round(step * times, places) + 0.0 for times in range(first, last + 1)]


def _between(dots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The dots, and those on the straight lines between them."""
    yield dots[0]
    for (x0, y0), (x1, y1) in pairwise(dots):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(1, steps + 1):
            yield x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)


def _below(screen: Display, marks: Sequence[tuple[int, str]], left: int, wide: int) -> Iterator[str]:
    """The lower ruler and the labels under it."""
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


def sparkline(values: Sequence[float | None], width: int) -> str:
    """A row of bars with the heights of the values; gaps for unknown values.

    With more values than cells, a cell shows the value of its part that differs most from the mean, so peaks remain.
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span, mean, many = min(known), max(known) - min(known), sum(known) / len(known), len(values)
    steps, places = len(_BARS) - 1, min(many, width)
    drawn = ""
    for place in range(places):
        stretch = values[place * many // places : (place + 1) * many // places]
        value = max((v for v in stretch if v is not None), key=lambda v: abs(v - mean), default=None)
        drawn += " " if value is None else _BARS[round((value - low) / span * steps) if span else steps // 2]
    return drawn


def bar(value: float | None, low: float, high: float, width: int) -> str:
    """A bar from zero to a value, on a scale from `low` (at most zero) to `high`; always `width` cells.

    The resolution is an eighth of a cell to the right and half a cell to the left: there are no finer characters.
    """
    zero = round(-low / (high - low) * width) if high > low else 0
    if value is None or high <= low:
        return " " * width
    if value < 0:
        halves = min(round(value / low * zero * 2), zero * 2) if low < 0 else 0
        return ("▐" * (halves % 2) + "█" * (halves // 2)).rjust(zero).ljust(width)
    eighths = min(round(value / high * (width - zero) * 8), (width - zero) * 8) if high > 0 else 0
    return (" " * zero + "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(width)


def gauge(value: float, low: float, high: float, width: int) -> str:
    """The position of a value between two ends: `├───┼──●──┤`, with a cross at zero."""
    drawn = ["├", *"─" * (width - 2), "┤"]
    for at, letter in ((0.0, "┼"), (value, "●")):
        drawn[round((min(max(at, low), high) - low) / (high - low) * (width - 1))] = letter
    return "".join(drawn)


def shares(screen: Display, parts: Sequence[tuple[float, Style | None, str]], width: int) -> str:
    """One bar of parts (size, style, character), each as long as its share."""
    total = sum(size for size, _, _ in parts)
    drawn, upto, done = "", 0.0, 0
    for size, style, letter in parts:
        upto += size
        end = round(upto / total * width) if total else 0
        drawn += screen.paint(style, letter * (end - done))
        done = end
    return drawn
