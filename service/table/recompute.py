"""From all closed days to `DailyHistory`. Needs numpy; runs on a worker thread."""

from array import array
from collections.abc import Sequence

from service.analytics.bars import Floats
from service.analytics.recomputed import Codes
from service.clock import DAY_MS
from service.market.daily_report.models import BreadthDay
from service.market.series import ClosedDays
from service.market.symbols import canonical
from service.table.daily import QUARTERS, CoinDays, DailyHistory
from service.verdict.recompute import recompute_verdicts
from service.verdict.ruleset import CURRENT

_CLOSE, _VOLUME = 4, 5


def recompute_days(days: ClosedDays, published: Sequence[BreadthDay]) -> DailyHistory:
    """Compute the states of every coin on every closed day.

    Args:
        days: All closed days.
        published: Published breadths, which the regime of the market follows.
    """
    market, inputs, judged = recompute_verdicts(days, published)
    of_market, _ = market.regimes_by_day
    scores = (judged.score * QUARTERS).round()
    scores[judged.verdict < 0] = 0
    listed = {coin.venue_symbol for coin in days.coins if coin.listed}
    coins: dict[str, CoinDays] = {}
    # Listed coins last: a delisted one with the same ticker is replaced.
    for venue_symbol in sorted(inputs.coins, key=listed.__contains__):
        column, bars = market.panel.column(venue_symbol), days.bars[venue_symbol]
        opened = [int(open_ms) // DAY_MS for open_ms, *_ in bars]
        rows = [day - inputs.first_day for day in opened]

        def codes(table: Codes | Floats, column: int = column, rows: Sequence[int] = rows) -> "array[int]":
            return array("b", table[rows, column].astype("int8").tobytes())

        coins[canonical(venue_symbol)] = CoinDays(
            array("i", opened),
            array(
                "d", [number for bar in bars.with_volumes() for number in (*bar[1:_VOLUME], bar[_VOLUME] * bar[_CLOSE])]
            ),
            codes(inputs.states["risk.trend_daily"].codes),
            codes(inputs.states["risk.trend_weekly"].codes),
            codes(inputs.states["regime.coin"].codes),
            codes(judged.verdict),
            codes(scores),
        )
    return DailyHistory(
        coins,
        frozenset(map(canonical, listed)),
        market.panel.first_day,
        list(of_market),
        [grade.verdict for grade in CURRENT.tables.grades],
    )
