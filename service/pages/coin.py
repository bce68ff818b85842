"""The page of a coin: price, trend, the verdict's arithmetic with its evidence, and what its regime and funding did.

Its verdict is the rules' answer to what was last written down of the coin, a quarter of an hour ago at most: a new
verdict is an entry of the ledger, and strangers that look at pages for nothing must not make that grow.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.clock import iso
from service.errors import ServiceError
from service.pages.asking import Told
from service.pages.drawing import Line, line
from service.pages.market import notices
from service.pages.page import Page
from service.pages.rooms import Rooms
from service.wire.market import FundingAlerts, Historical, RiskContext
from service.wire.regime import RegimeHistory
from service.wire.verdict import Signal

TRADES: Final = 8
ALERTS: Final = 6
_FEWEST: Final = 2
_SYMBOL_LENGTH: Final = 20
_GAUGE: Final = 4.0


class Span(Struct, frozen=True):
    """A stretch of time that a chart shows: how it is called, and how the route is asked for it."""

    name: str
    count: int
    unit: str


SPANS: Final[Mapping[str, Span]] = {
    "7d": Span("7 days", 168, "h"),
    "90d": Span("90 days", 90, "d"),
    "1y": Span("1 year", 365, "d"),
}
_USUAL: Final = "90d"


class CoinView:
    """Shows a coin.

    Args:
        rooms: Whom it asks.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def show(self, segment: str, query: Mapping[str, str]) -> Page:
        """Show a coin.

        Args:
            segment: Its ticker, in any case.
            query: `span`: `7d`, `90d` or `1y`.

        Raises:
            ServiceError: UNKNOWN_SYMBOL with candidates; BAD_REQUEST for another span; as the risk route where nothing
                can be said.
        """
        span = query.get("span", _USUAL)
        if span not in SPANS:
            raise ServiceError("BAD_REQUEST", f"span is one of {', '.join(SPANS)}", details={"parameter": "span"})
        symbol = self._rooms.coins.find(segment[: _SYMBOL_LENGTH + 1])
        return await self._rooms.lately.page(("coin", symbol, span), lambda: self._make(symbol, span))

    async def _make(self, symbol: str, span: str) -> Page:
        rooms, ask = self._rooms, self._rooms.asker.try_ask
        risk = await rooms.asker.ask("coin.risk", RiskContext, symbol=symbol)
        history = await ask(
            "coin.historical", Historical, symbol=symbol, count=SPANS[span].count, unit=SPANS[span].unit
        )
        now_ms = rooms.clock.now_ms()
        verdict = await ask("signal", Signal, symbol=symbol, as_of=iso(now_ms))
        return rooms.templates.page(
            "coin.html",
            now_ms=now_ms,
            symbol=symbol,
            coin=rooms.coins.view().get(symbol),
            risk=risk,
            history=history,
            drawn=_draw(history),
            span=span,
            spans=SPANS,
            verdict=verdict,
            needle=_needle(verdict),
            regime=await ask("regime", RegimeHistory, action="history", symbol=symbol),
            trades=TRADES,
            alerts=await ask("funding.alerts", FundingAlerts, symbol=symbol, limit=ALERTS),
            notices=notices(rooms.coins.state, rooms.quarantine.now.value, symbol),
        )


def _draw(history: Told[Historical] | ServiceError) -> Line | None:
    """The price as a line; null while too little of it is known."""
    if isinstance(history, ServiceError) or len(history.data.series) < _FEWEST:
        return None
    return line([point.priceUSD for point in history.data.series])


def _needle(verdict: Told[Signal] | ServiceError) -> float | None:
    """Where a score stands on its scale, 0 (most bearish) to 100."""
    return None if isinstance(verdict, ServiceError) else (verdict.data.score + _GAUGE) / (2 * _GAUGE) * 100
