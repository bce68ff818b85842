"""The page of a coin: price, trend, the verdict's arithmetic with its evidence, and what its regime and funding did.

Its verdict is the rules' answer to what was last written down of the coin, a quarter of an hour ago at most: a new
verdict is an entry of the ledger, and free page views must not make that grow.
"""

from collections.abc import Mapping
from typing import Final

from service.clock import iso
from service.errors import ServiceError
from service.pages.chart import SPANS, SYMBOL_LENGTH, span_of
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage
from service.pages.route_client import RouteResult
from service.pages.snapshot import notices
from service.pages.svg import SvgLine, line_path
from service.wire.market import FundingAlerts, Historical, RiskContext
from service.wire.regime import RegimeHistory
from service.wire.transcripts import Highlights
from service.wire.verdict import Signal

TRADES: Final = 8
ALERTS: Final = 6
TALK: Final = 4
EXAMPLES: Final = ("Should I long {}?", "Why did {} move today?", "{} funding last 7 days", "{} vs BTC this month")
_FEWEST: Final = 2
_GAUGE: Final = 4.0


class CoinPage:
    """Shows a coin.

    Args:
        dependencies: What it reads.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, segment: str, query: Mapping[str, str]) -> HtmlPage:
        """Show a coin.

        Args:
            segment: Its ticker, in any case.
            query: `span`, one of `SPANS`.

        Raises:
            ServiceError: UNKNOWN_SYMBOL with candidates; BAD_REQUEST for another span; as the risk route where nothing
                can be said.
        """
        span = span_of(query)
        symbol = self._dependencies.coins.find(segment[: SYMBOL_LENGTH + 1])
        return await self._dependencies.cache.page(("coin", symbol, span), lambda: self._make(symbol, span))

    async def _make(self, symbol: str, span: str) -> HtmlPage:
        dependencies, ask = self._dependencies, self._dependencies.routes.try_ask
        risk = await dependencies.routes.ask("coin.risk", RiskContext, symbol=symbol)
        history = await ask(
            "coin.historical", Historical, symbol=symbol, count=SPANS[span].count, unit=SPANS[span].unit
        )
        now_ms = dependencies.clock.now_ms()
        verdict = await ask("signal", Signal, symbol=symbol, as_of=iso(now_ms))
        return dependencies.templates.page(
            "coin.html",
            now_ms=now_ms,
            symbol=symbol,
            coin=dependencies.coins.view().get(symbol),
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
            talk=await ask("transcripts", Highlights, coin=symbol, limit=TALK),
            examples=[example.format(symbol) for example in EXAMPLES],
            notices=notices(dependencies.coins.state, dependencies.quarantine.current.value, symbol),
        )


def _draw(history: RouteResult[Historical] | ServiceError) -> SvgLine | None:
    """The price as a line; null while too little of it is known."""
    if isinstance(history, ServiceError) or len(history.data.series) < _FEWEST:
        return None
    return line_path([point.priceUSD for point in history.data.series])


def _needle(verdict: RouteResult[Signal] | ServiceError) -> float | None:
    """Where a score stands on its scale, 0 (most bearish) to 100."""
    return None if isinstance(verdict, ServiceError) else (verdict.data.score + _GAUGE) / (2 * _GAUGE) * 100
