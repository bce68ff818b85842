"""Lines and areas as SVG paths, for browsers without scripts; the script draws the same figures interactively."""

from collections.abc import Sequence
from typing import Final, NamedTuple

WIDTH: Final = 600
HEIGHT: Final = 180
"""Units of a drawing; it is stretched to its place."""

SPARK_WIDTH: Final = 87
SPARK_HEIGHT: Final = 24

_ROOM: Final = 0.06
"""Of the range, kept free above and below a line."""


class SvgLine(NamedTuple):
    """A line, and what its lower and upper edge stand for."""

    path: str
    low: float
    high: float


def line_path(values: Sequence[float]) -> SvgLine:
    """Draw values at equal distances, from the left edge to the right one.

    Args:
        values: Two at least.
    """
    least, most = min(values), max(values)
    margin = (most - least) * _ROOM or abs(most) * _ROOM or 1.0
    low, high = least - margin, most + margin
    return SvgLine(_path(values, low, high), low, high)


def stacked_areas(parts: Sequence[Sequence[float]]) -> list[str]:
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


def sparkline(values: Sequence[float]) -> str:
    """Draw a line of whole units in a field of `SPARK_WIDTH` by `SPARK_HEIGHT`.

    Args:
        values: Two at least.
    """
    low, scale = min(values), SPARK_HEIGHT / ((max(values) - min(values)) or 1.0)
    step = SPARK_WIDTH / (len(values) - 1)
    points = [f"{step * place:.0f} {SPARK_HEIGHT - (value - low) * scale:.0f}" for place, value in enumerate(values)]
    return f"M{'L'.join(points)}"
