"""Lines and areas as SVG paths, for who has no script; the script draws the same figures anew, to be pointed at."""

from collections.abc import Sequence
from typing import Final, NamedTuple

WIDTH: Final = 600
HEIGHT: Final = 180
"""Units of a drawing; it is stretched to its place."""

_ROOM: Final = 0.06
"""Of the range, kept free above and below a line."""


class Line(NamedTuple):
    """A line, and what its lower and upper edge stand for."""

    path: str
    low: float
    high: float


def line(values: Sequence[float]) -> Line:
    """Draw values at equal distances, from the left edge to the right one.

    Args:
        values: Two at least.
    """
    least, most = min(values), max(values)
    room = (most - least) * _ROOM or abs(most) * _ROOM or 1.0
    low, high = least - room, most + room
    return Line(_path(values, low, high), low, high)


def stack(parts: Sequence[Sequence[float]]) -> list[str]:
    """Draw shares that add up to 100 as areas, the first one lowest.

    Args:
        parts: Equally many of each, two at least.
    """
    below = [0.0] * len(parts[0])
    areas = []
    for part in parts:
        above = [under + value for under, value in zip(below, part, strict=True)]
        top, bottom = _path(above, 0, 100), _points(below, 0, 100)[::-1]
        areas.append(f"{top} L{' L'.join(bottom)} Z")
        below = above
    return areas


def _path(values: Sequence[float], low: float, high: float) -> str:
    return "M" + " L".join(_points(values, low, high))


def _points(values: Sequence[float], low: float, high: float) -> list[str]:
    step = WIDTH / (len(values) - 1)
    scale = HEIGHT / (high - low)
    return [f"{step * place:.1f} {HEIGHT - (value - low) * scale:.1f}" for place, value in enumerate(values)]
