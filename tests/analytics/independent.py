"""The published definitions computed by others: TA-Lib, the standard library's calendar and statistics.

No code under test is used; numpy appears only because TA-Lib takes its arrays.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np
import talib

Row = tuple[int, float, float, float, float]
Series = dict[date, tuple[float, float, float, float]]


def daily(rows: Sequence[Row]) -> Series:
    return {datetime.fromtimestamp(row[0] / 1000, UTC).date(): row[1:] for row in rows}


def weekly(bars: Series) -> Series:
    """ISO weeks, keyed by their Monday; the last one only if its Sunday is there."""
    weeks: dict[date, list[tuple[date, tuple[float, float, float, float]]]] = {}
    for day, bar in sorted(bars.items()):
        weeks.setdefault(day - timedelta(days=day.isoweekday() - 1), []).append((day, bar))
    if weeks and max(bars).isoweekday() != 7:
        del weeks[max(weeks)]
    return {
        monday: (days[0][1][0], max(bar[1] for _, bar in days), min(bar[2] for _, bar in days), days[-1][1][3])
        for monday, days in weeks.items()
    }


def ratio(base: Series, quote: Series) -> Series:
    made = {}
    for day in base.keys() & quote.keys():
        four = [ours / theirs for ours, theirs in zip(base[day], quote[day], strict=True)]
        made[day] = (four[0], max(four), min(four), four[3])
    return made


def directions(bars: Series) -> dict[date, int]:
    """TA-Lib's SuperTrend direction of every bar that has one."""
    if len(bars) <= 10:
        return {}
    days = sorted(bars)
    high, low, close = (np.array([bars[day][field] for day in days]) for field in (1, 2, 3))
    _, direction = talib.SUPERTREND(high, low, close, timeperiod=10, multiplier=3.0)
    return {day: int(value) for day, value in zip(days[10:], direction[10:], strict=True)}


def charts(coin: str, history: Mapping[str, Sequence[Row]]) -> list[Series]:
    own = daily(history[coin])
    return [own, *(ratio(own, daily(history[other])) for other in ("BTC", "ETH") if other != coin)]


def states(own: Sequence[Series]) -> dict[date, str]:
    """The state of every bar on which every chart has a direction, oldest first."""
    votes = [directions(chart) for chart in own]
    found = {}
    for day in sorted(set.intersection(*(set(vote) for vote in votes))):
        now = {vote[day] for vote in votes}
        found[day] = "UP" if now == {1} else "DOWN" if now == {-1} else "HODL"
    return found


def trend(own: Sequence[Series], bar_days: int) -> tuple[str, int] | None:
    """State and `since` (epoch ms) of the run on the last bar on which every chart has a direction."""
    found = states(own)
    if not found:
        return None
    days, said = list(found), list(found.values())
    run = next((back for back, state in enumerate(reversed(said)) if state != said[-1]), len(said))
    known = datetime.combine(days[-run] + timedelta(days=bar_days), datetime.min.time(), UTC)
    return said[-1], int(known.timestamp()) * 1000


def breadths(history: Mapping[str, Sequence[Row]]) -> dict[date, dict[str, int]]:
    """Coins by state on every day on which any has one."""
    counts: dict[date, dict[str, int]] = {}
    for coin in history:
        for day, state in states(charts(coin, history)).items():
            counts.setdefault(day, {"UP": 0, "HODL": 0, "DOWN": 0})[state] += 1
    return dict(sorted(counts.items()))


def crossings(counts: Mapping[date, Mapping[str, int]]) -> list[tuple[date, date, str]]:
    """The day before with a sign, the day of the change, and who overtook whom."""
    found: list[tuple[date, date, str]] = []
    last: tuple[date, bool] | None = None
    for day, count in counts.items():
        if count["UP"] == count["DOWN"]:
            continue
        above = count["UP"] > count["DOWN"]
        if last is not None and last[1] is not above:
            found.append((last[0], day, "UP over DOWN" if above else "DOWN over UP"))
        last = day, above
    return found


def volatility(closes: Sequence[float]) -> list[float | None]:
    """Realised volatility at each close, percent a year."""
    moves = [math.log(after / before) for before, after in pairwise(closes)]
    return [
        None if at < 30 else statistics.stdev(moves[at - 30 : at]) * math.sqrt(365) * 100 for at in range(len(closes))
    ]


def percentile(value: float, among: Sequence[float]) -> float:
    """The mid-rank of a value, 0 to 100."""
    return 100 * statistics.fmean(0.5 if other == value else float(other < value) for other in among)


def correlation(one: Series, other: Series) -> float | None:
    days = sorted(one.keys() & other.keys())[-90:]
    if len(days) < 30:
        return None
    returns = [
        [math.log(bars[after][3] / bars[before][3]) for before, after in pairwise(days)] for bars in (one, other)
    ]
    return statistics.correlation(*returns)
