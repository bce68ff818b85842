"""The data of a coin's chart: bars with funding and open interest, as JSON for its script."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage, compressed
from service.table.daily import PastBar
from service.wire.envelope import encode

KEPT_S: Final = 15.0
SYMBOL_LENGTH: Final = 20
_HOURLY_DAYS: Final = 30
"""Spans up to this have hourly bars: the service keeps them for 90 days."""


class ChartSpan(Struct, frozen=True):
    """A stretch of time that a chart shows: its name, its days, and the unit of the table below the chart."""

    name: str
    days: int
    unit: str = "d"

    @property
    def count(self) -> int:
        """Its length in units of the table."""
        return self.days * 24 if self.unit == "h" else self.days


SPANS: Final[Mapping[str, ChartSpan]] = {
    "24h": ChartSpan("24 h", 1, "h"),
    "7d": ChartSpan("7 days", 7, "h"),
    "30d": ChartSpan("30 days", 30),
    "90d": ChartSpan("90 days", 90),
    "1y": ChartSpan("1 year", 365),
    "all": ChartSpan("All", 10_000),
}
USUAL: Final = "90d"


class ChartBar(Struct, frozen=True, array_like=True):
    """A bar: its open time (epoch seconds UTC), prices in USD, volume in USD.

    `funding` is the mean of what was paid in it, by hours (percent per year), `interest` the open interest at its end
    (USD); null where not known.
    """

    at: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    funding: float | None
    interest: float | None


class ChartData(Struct, frozen=True):
    """A coin's bars, oldest first; the last one may still change."""

    symbol: str
    bars: Sequence[ChartBar]


def span_of(query: Mapping[str, str]) -> str:
    """The span that a query names.

    Raises:
        ServiceError: BAD_REQUEST if there is no such span.
    """
    span = query.get("span", USUAL)
    if span not in SPANS:
        raise ServiceError(
            "BAD_REQUEST", f"The parameter span takes {', '.join(SPANS)}.", details={"parameter": "span"}
        )
    return span


class ChartPage:
    """Shows the data of a chart.

    Args:
        dependencies: What it reads.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, segment: str, query: Mapping[str, str]) -> HtmlPage:
        """The bars of a coin.

        Args:
            segment: Its ticker, in any case.
            query: `span`, one of `SPANS`.

        Raises:
            ServiceError: UNKNOWN_SYMBOL with candidates; BAD_REQUEST for another span; UNAVAILABLE while history loads.
        """
        span = span_of(query)
        symbol = self._dependencies.coins.find(segment[: SYMBOL_LENGTH + 1])
        return await self._dependencies.cache.page(("chart", symbol, span), lambda: self._make(symbol, span), KEPT_S)

    async def _make(self, symbol: str, span: str) -> HtmlPage:
        history, now_ms, days = self._dependencies.history, self._dependencies.clock.now_ms(), SPANS[span].days
        since_ms = max(0, now_ms - days * DAY_MS)
        unit_ms = HOUR_MS if days <= _HOURLY_DAYS else DAY_MS
        if unit_ms == HOUR_MS:
            bars = await history.hourly(symbol, since_ms)
        else:
            today = await history.today(symbol)
            bars = (await history.daily()).bars(symbol, since_ms) + ([] if today is None else [today])
        paid = await history.funding_of_bars(symbol, unit_ms, since_ms, now_ms)
        interests = await history.open_interest(symbol, [bar.open_ms + unit_ms for bar in bars])
        data = ChartData(
            symbol, [_bar(bar, paid.get(bar.open_ms), interests.get(bar.open_ms + unit_ms)) for bar in bars]
        )
        return compressed(HtmlPage(encode(data), content_type=b"application/json"))


def _bar(bar: PastBar, funding: float | None, interest: float | None) -> ChartBar:
    return ChartBar(
        bar.open_ms // SECOND_MS,
        bar.open,
        bar.high,
        bar.low,
        bar.close,
        round(bar.volume_usd, 2),
        funding,
        interest,
    )
