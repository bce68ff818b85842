"""The site over routes that answer what the service once answered, and over a market of a few coins."""

import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from msgspec import Raw

from service.clock import DAY_MS, SECOND_MS, parse_iso
from service.errors import ServiceError
from service.http.openapi import document
from service.market.daily_report.models import BreadthDay, DailyReport, RegimeRun
from service.market.models import CoinChart, CoinView, MarketSnapshot, MarketState, Quote
from service.market.past_prices import PastPrice, PastPrices, instant_before
from service.market.plausibility.quarantine import QuarantinedValue, QuarantineReport
from service.market.plausibility.rules import RejectReason
from service.market.service import MarketService
from service.pages.rendering import HtmlPage
from service.pages.site import PageSite, open_site
from service.routes.call import Bound, Call, WaitingRoute
from service.routes.table import RouteServices
from service.storage.documents import Document, DocumentState, FetchFailure
from service.verdict.scorecard import Scorecard, Scorecards
from service.wire.coins import CoinRow, Coins
from service.wire.envelope import Answer, encode
from service.wire.market import MarketHealth, PageMeta, TrendCounts, TrendShares
from tests.fakes.clock import FakeClock

ANSWERS = Path(__file__).resolve().parent.parent / "client" / "answers"
NOW_MS = parse_iso("2025-07-25T23:59:59.999Z")
TODAY = NOW_MS // DAY_MS
OPENAPI = document("https://verdict.example")
LINES = {"coin.risk": ["verdict coin risk BTC"]}

Change = Callable[[Any], None]


def answered(name: str, change: Change | None = None) -> Answer:
    """What a route once answered, changed if so."""
    document = json.loads((ANSWERS / f"{name}.json").read_text())
    if change is not None:
        change(document["data"])
    return Answer(Raw(encode(document["data"])), parse_iso(document["meta"]["as_of"]))


def quote(symbol: str, price: float | None = 100.0, funding: float | None = 0.0000125, **changes: Any) -> Quote:
    """A coin as it was seen a second ago."""
    seen_ms = NOW_MS - SECOND_MS
    known: dict[str, Any] = {
        "venue_symbol": symbol, "symbol": symbol, "volume_usd": 1e6, "price": price,
        "price_ms": None if price is None else seen_ms, "funding": funding,
        "funding_ms": None if funding is None else seen_ms, "open_interest": 5.0, "prev_price": 80.0,
    }  # fmt: skip
    return Quote(**{**known, **changes})


CHART = CoinChart(NOW_MS // DAY_MS * DAY_MS, "UP", NOW_MS - 3 * DAY_MS, "DOWN", NOW_MS - 9 * DAY_MS, 0.5)


def row(coin: CoinView, **changes: Any) -> CoinRow:
    """A row of the table as the quote has it; what no quote has is fixed."""
    known: dict[str, Any] = {
        "symbol": coin.symbol, "name": f"{coin.symbol} Coin", "rank": 1, "price": coin.price, "change_1h": 0.5,
        "change_24h": coin.change_24h, "change_7d": -1.25, "change_30d": 12.0, "volume_24h_usd": coin.volume_usd,
        "open_interest_usd": coin.open_interest_usd, "market_cap": None, "funding_apr": coin.funding_apr,
        "trend_daily": coin.trend_daily, "trend_weekly": coin.trend_weekly, "streak_days": 3, "regime": "neutral",
        "verdict": "bull", "score": 1.25, "sentiment_stance": "neutral", "btc_correlation": coin.btc_correlation,
        "categories": [], "changes_from": {}, "stale_fields": [],
    }  # fmt: skip
    return CoinRow(**{**known, **changes})


def _drawer(counted: Scorecard | None) -> Document[Scorecard]:
    """What is kept, or nothing."""
    kept = DocumentState(counted, NOW_MS, "x")
    return cast("Document[Scorecard]", SimpleNamespace(on_change=lambda show: show(kept)))


class Stage:
    """The site, and all that stands behind it.

    Attributes:
        answers: By offer id, what the route does.
        asked: Offers that were asked.
        clock: All of its time.
    """

    def __init__(
        self,
        live: Scorecard | None = None,
        backtested: Scorecard | None = None,
        source: str = "fixtures",
        history: Any = None,
    ) -> None:
        self.clock = FakeClock(NOW_MS)
        self.asked: list[str] = []
        self.answers: dict[str, Callable[[Call[Any, Any]], Answer]] = {
            "market.health": lambda _: answered("market.health.context"),
            "regime": lambda call: answered(f"regime.{call.parameters.action}"),
            "funding.alerts": lambda _: answered("funding.alerts"),
            "rwa.assets": lambda _: answered("rwa.assets"),
            "rwa.symbol": lambda call: answered("rwa.symbol", lambda data: data.update(symbol=call.parameters.symbol)),
            "coin.risk": lambda _: answered("coin.risk"),
            "coin.historical": lambda _: answered("coin.historical.days"),
            "signal": lambda _: answered("signal"),
            "transcripts": lambda call: answered(f"transcripts.{call.parameters.action}"),
            "walkforward": lambda _: answered("walkforward.outcomes"),
            "wallets": lambda _: answered("wallets.watchlist"),
            "coins": lambda _: Answer(Raw(encode(Coins(self.rows(), PageMeta(0, None)))), NOW_MS),
        }
        self.coins = MarketService(self.clock)
        self.conclusions = SimpleNamespace(current=DocumentState(None))
        self.quarantine = SimpleNamespace(current=DocumentState(None))
        self.show()
        self.history: Any = history or SimpleNamespace(loaded=None)
        self.fear_greed: tuple[int, int] | None = (54, NOW_MS)
        scorecards = Scorecards(_drawer(live), _drawer(backtested), lambda: "x")
        market = SimpleNamespace(coins=self.coins, daily_report=self.conclusions, quarantine=self.quarantine)
        services = SimpleNamespace(
            market=market,
            table=SimpleNamespace(history=self.history),
            sentiment=SimpleNamespace(fear_greed=lambda: self.fear_greed),
            verdict=SimpleNamespace(scorecards=scorecards),
        )
        self.site: PageSite = open_site(
            source, self.clock, self._endpoints(), cast("RouteServices", services), OPENAPI, LINES
        )

    def show(self, *quotes: Quote, failure: FetchFailure | None = None, venue: str | None = "hyperliquid") -> None:
        """Have the market know these coins: BTC and SOL where none are named."""
        state = MarketState("x", 1, NOW_MS - SECOND_MS, NOW_MS, failure, venue)
        coins = quotes or (quote("BTC", 117_700.0, volume_usd=9e9), quote("SOL", 187.0, -0.0001, prev_price=200.0))
        self.coins.show(MarketSnapshot(state, [(each, CHART) for each in coins]))
        at_ms = instant_before(NOW_MS, DAY_MS)
        past = {
            each.venue_symbol: {at_ms: PastPrice(each.prev_price, at_ms)}
            for each in coins
            if each.prev_price is not None
        }
        self.coins.set_past_prices(PastPrices(past))

    def rows(self) -> list[CoinRow]:
        """The table of the coins that the market knows."""
        stale = ["price"] if self.coins.state.venue is None else []
        return [row(coin, stale_fields=stale) for coin in self.coins.view().values()]

    def conclude(self, days: list[tuple[int, int, int]], runs: list[RegimeRun] | None = None) -> None:
        """Publish days of breadth (up, hodl, down), the last one of yesterday."""
        first = TODAY - len(days)
        breadth = [BreadthDay(first + place, *counts) for place, counts in enumerate(days)]
        health = MarketHealth(
            "2025-07-24", 1, TrendCounts(1, 0, 0), TrendShares(100, 0, 0), hasExtremes=False, extremes=[]
        )
        self.conclusions.current = DocumentState(
            DailyReport(TODAY * DAY_MS, breadth, health, [], None, runs or [], [], [], [], {}), NOW_MS
        )

    def quarantine_values(self, *coins: str) -> None:
        """Have a new price of each coin fail the plausibility check (`*`: the whole answer)."""
        held = [QuarantinedValue("hyperliquid", coin, "price", RejectReason.PRICE_MOVED, NOW_MS) for coin in coins]
        self.quarantine.current = DocumentState(QuarantineReport(held), NOW_MS)

    def fail(self, offer_id: str, error: ServiceError) -> None:
        """Have a route fail."""

        def failing(_: Call[Any, Any]) -> Answer:
            raise error

        self.answers[offer_id] = failing

    async def page(self, path: str, segment: str = "", **query: str) -> HtmlPage:
        """Ask for a page."""
        return await self.site.answer(path, segment, query)

    async def text(self, path: str, segment: str = "", **query: str) -> str:
        """What a page says."""
        return text_of(await self.page(path, segment, **query))

    def _endpoints(self) -> Mapping[str, Bound]:
        def now(offer_id: str) -> Callable[[Call[Any, Any]], Answer]:
            def answer(call: Call[Any, Any]) -> Answer:
                self.asked.append(offer_id)
                return self.answers[offer_id](call)

            return answer

        def later(offer_id: str) -> WaitingRoute:
            answer = now(offer_id)

            async def run(call: Call[Any, Any]) -> Answer:
                return answer(call)

            return WaitingRoute(run, lambda _: None)

        slow = {"coin.historical", "signal", "funding.alerts", "transcripts", "walkforward"}
        return {offer_id: later(offer_id) if offer_id in slow else now(offer_id) for offer_id in self.answers}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def text_of(page: HtmlPage) -> str:
    """The text of a page, its blanks as single spaces, its minus signs as hyphens, what is not known as `_`."""
    parser = _Text()
    parser.feed(page.body.decode())
    said = " ".join(parser.pieces).translate({0x2212: "-", 0x2013: "_"})
    return re.sub(r"\s+", " ", said)
