"""Breadth over time: the published days as areas and rows, and the days on which UP and DOWN changed places."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from service.analytics.breadth import Breadth, crossings
from service.clock import DAY_MS, iso
from service.market.daily_report.models import BreadthDay, RegimeRun
from service.pages.svg import WIDTH, stacked_areas

SHOWN_DAYS: Final = 180
"""How far back breadth is drawn."""

_FEWEST: Final = 2
"""One day is no course of time."""


class BreadthDayRow(Struct, frozen=True):
    """A closed day: its close (ISO 8601 UTC), counts, and shares in percent."""

    at: str
    up: int
    hodl: int
    down: int
    up_pct: float
    down_pct: float
    crossed: str


class CrossingMark(Struct, frozen=True):
    """A crossing: where it stands in the drawing, when (ISO 8601 UTC), and who came to outnumber whom."""

    x: float
    at: str
    direction: str


class RegimeBand(Struct, frozen=True):
    """A run of one regime within the drawing."""

    x: float
    width: float
    regime: str


class BreadthChart(Struct, frozen=True):
    """Breadth drawn: areas of UP, HODL and DOWN, crossings, the market's regimes below, and each day as a row."""

    areas: Sequence[str]
    marks: Sequence[CrossingMark]
    bands: Sequence[RegimeBand]
    days: Sequence[BreadthDayRow]


def breadth_chart(published: Sequence[BreadthDay], runs: Sequence[RegimeRun]) -> BreadthChart | None:
    """Draw breadth over time.

    Args:
        published: Every published day, oldest first.
        runs: The market's regimes, oldest first.

    Returns:
        The last 180 days; null while there are fewer than two.
    """
    shown = [Breadth(day.day, day.up, day.hodl, day.down) for day in published if day.up + day.hodl + day.down]
    shown = shown[-SHOWN_DAYS:]
    if len(shown) < _FEWEST:
        return None
    turns = {found.current.day: str(found.direction) for found in crossings(shown)}
    days = [_day(found, turns.get(found.day, "")) for found in shown]
    step = WIDTH / (len(shown) - 1)
    marks = [CrossingMark(round(step * place, 1), day.at, day.crossed) for place, day in enumerate(days) if day.crossed]
    shares = [found.shares_pct for found in shown]
    areas = stacked_areas([[share["UP"] for share in shares], [share["HODL"] for share in shares]])
    span = (shown[0].day + 1) * DAY_MS, (shown[-1].day + 1) * DAY_MS
    return BreadthChart(areas, marks, list(_bands(runs, *span)), days)


def _day(found: Breadth, crossed: str) -> BreadthDayRow:
    shares = found.shares_pct
    at = iso((found.day + 1) * DAY_MS)
    return BreadthDayRow(at, found.up, found.hodl, found.down, shares["UP"], shares["DOWN"], crossed)


def _bands(runs: Sequence[RegimeRun], first_ms: int, last_ms: int) -> list[RegimeBand]:
    scale = WIDTH / (last_ms - first_ms)
    bands = []
    for place, run in enumerate(runs):
        until_ms = runs[place + 1].since_ms if place + 1 < len(runs) else last_ms
        begin, end = max(run.since_ms, first_ms), min(until_ms, last_ms)
        if begin < end:
            bands.append(RegimeBand(round((begin - first_ms) * scale, 1), round((end - begin) * scale, 1), run.regime))
    return bands
