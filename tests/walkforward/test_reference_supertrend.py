"""The reference's SuperTrend is TA-Lib's, for every parameter set that a walk-forward may choose."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import talib

from tests.market.recordings import needs_recordings
from tests.walkforward.reference_bars import Bar, History, bundled, recorded
from tests.walkforward.reference_plans import TREND
from tests.walkforward.reference_supertrend import supertrend

MARKETS = [
    pytest.param(bundled, id="bundled"),
    pytest.param(recorded, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
]


@pytest.mark.slow
@pytest.mark.parametrize("market", MARKETS)
@pytest.mark.parametrize(TREND.parameters, TREND.grid)
def test_it_says_what_talib_says_of_every_bar(market: Callable[[], History], period: int, multiplier: float) -> None:
    for coin in sorted(market().bars)[::8]:
        history = market().bars[coin]
        bars = [history[day] for day in sorted(history)]
        lines, directions = _published(bars, period, multiplier)
        own = supertrend(bars, period, multiplier)
        assert own[:period] == [None] * period
        for said, line, direction in zip(own[period:], lines[period:], directions[period:], strict=True):
            assert said is not None
            assert said.direction == direction
            assert said.line == pytest.approx(line, rel=1e-9)


def _published(bars: Sequence[Bar], period: int, multiplier: float) -> tuple[Sequence[float], Sequence[int]]:
    high, low, close = (np.array([bar[field] for bar in bars]) for field in (1, 2, 3))
    lines, directions = talib.SUPERTREND(high, low, close, timeperiod=period, multiplier=multiplier)
    return lines, directions
