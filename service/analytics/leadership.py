"""Who leads and who lags, and where BTC and the many disagree."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from service.analytics.breadth import Breadth
from service.analytics.findings import DivergenceFinding, RelativeReturn
from service.analytics.panel import BTC, Panel
from service.analytics.states import HODL, NAMES, UNKNOWN
from service.clock import DAY_MS

RETURN_DAYS: Final = 30
"""Days of the return that ranks leaders and laggards."""

EXTREME_BARS: Final = 20
"""Bars of BTC, the last included, of which a divergence wants it to close at the highest or lowest."""

DIVERGENCE_POINTS: Final = 10.0
"""Percentage points by which net breadth must fall short of its own best (worst) of those bars."""


def relative_returns(panel: Panel) -> list[RelativeReturn]:
    """Rank the universe of the last day by its return over 30 days, relative to its median.

    Args:
        panel: The coins.

    Returns:
        Best first (equal ones by name): every coin whose trend is known on the last day and which has a close on it and
        30 days before it.
    """
    if len(panel.close) <= RETURN_DAYS:
        return []
    now, before, states = panel.close[-1], panel.close[-1 - RETURN_DAYS], panel.states[-1]
    columns = np.flatnonzero(~np.isnan(now) & ~np.isnan(before) & (states != UNKNOWN))
    if not columns.size:
        return []
    returns = (now[columns] / before[columns] - 1) * 100
    excess = returns - np.median(returns)
    ranked = [
        RelativeReturn(panel.coins[column], round(gained, 4), round(over, 4), NAMES[state])
        for column, gained, over, state in zip(
            columns.tolist(), returns.tolist(), excess.tolist(), states[columns].tolist(), strict=True
        )
    ]
    return sorted(ranked, key=lambda standing: (-standing.return_pct, standing.coin))


def divergences(panel: Panel, breadths: Sequence[Breadth]) -> list[DivergenceFinding]:
    """Say where BTC's last close is not confirmed by the many.

    Bearish: BTC closes above the 19 bars before it while net breadth is at least 10 points under its highest of those
    20 days: fewer coins carry the new high. Bullish: the mirror image at a new low.

    Args:
        panel: The coins.
        breadths: Of every row.

    Returns:
        One at most; none unless BTC has a bar on the last day.
    """
    btc = panel.column(BTC)
    if btc < 0 or not len(panel.close) or np.isnan(panel.close[-1, btc]):
        return []
    rows = np.flatnonzero(~np.isnan(panel.close[:, btc]))[-EXTREME_BARS:].tolist()
    *earlier, last = panel.close[rows, btc].tolist()
    if len(rows) < EXTREME_BARS or min(earlier) <= last <= max(earlier):
        return []
    side = 1 if last > max(earlier) else -1
    net = breadths[-1].net_pct
    reference = max((breadths[row] for row in rows), key=lambda breadth: side * breadth.net_pct)
    if side * (reference.net_pct - net) < DIVERGENCE_POINTS:
        return []
    return [
        DivergenceFinding(
            code="bearish-breadth" if side > 0 else "bullish-breadth",
            at_ms=(panel.last_day + 1) * DAY_MS,
            net_pct=net,
            reference_net_pct=reference.net_pct,
            reference_ms=(reference.day + 1) * DAY_MS,
        )
    ]


def opposed(panel: Panel) -> list[str]:
    """The coins that go UP on the last day while BTC goes DOWN, or DOWN while BTC goes UP."""
    btc = panel.column(BTC)
    if btc < 0 or not len(panel.states):
        return []
    state = int(panel.states[-1, btc])
    if state in (HODL, UNKNOWN):
        return []
    return [panel.coins[column] for column in np.flatnonzero(panel.states[-1] == -state).tolist()]
