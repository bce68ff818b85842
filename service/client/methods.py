"""The methods of `Verdict` and `AsyncVerdict`, one for each data route.

Parameters that are None are left out, so that the service's defaults hold. Units and meanings of the fields of an
answer are those of the structs in `service.wire`.
"""

from collections.abc import Sequence
from typing import Literal

from service.client.calls import ApiCall, ApiMethod
from service.wire.access import Entitlement
from service.wire.ask import Archetype, QuestionAnswer
from service.wire.coins import CoinLookup, Coins, Resolved, SortField, SortOrder
from service.wire.manifest import Manifest
from service.wire.market import (
    Baselines,
    CategoryInfo,
    Crossings,
    FundingAlerts,
    GlobalMarket,
    Historical,
    LivePrices,
    MarketHealth,
    RiskContext,
    Trend,
)
from service.wire.payment import ReceiptList, SignedReceipt
from service.wire.quality import SignalQuality, SignalType, VerdictQuality
from service.wire.regime import ActiveRegime, RegimeConfidence, RegimeHistory, RegimeSignals
from service.wire.rwa import AssetType, RwaAsset, RwaAssets
from service.wire.sentiment import CategorySentiment, Narratives, OneCoinSentiment, SentimentCategories, SentimentItems
from service.wire.transcripts import Highlights, TranscriptSources
from service.wire.verdict import Label, Signal
from service.wire.walkforward import WalkforwardOutcomes, WalkforwardPositions, WalkforwardSignals
from service.wire.wallets import Movements, Watchlist


class ApiMethods:
    """One method for each data route; each call uses up a question if its route is priced.

    A method of `Verdict` returns an `ApiResult`, one of `AsyncVerdict` a coroutine of it.

    Raises:
        VerdictError: If there is no answer; see its subclasses.
    """

    @ApiMethod
    def manifest(self) -> ApiCall[Manifest]:
        """Routes, prices, plans and limits of the service. Needs no token."""
        return ApiCall("manifest", Manifest)

    @ApiMethod
    def billing_tier(self) -> ApiCall[Entitlement]:
        """Identity and plan of the caller. Costs nothing."""
        return ApiCall("billing.tier", Entitlement)

    @ApiMethod
    def question(self, text: str, archetype: Archetype = "base") -> ApiCall[QuestionAnswer]:
        """An answer in words to a question in English, with the steps and sources that it rests on."""
        return ApiCall(
            "question", QuestionAnswer, {"messages": [{"role": "user", "content": text}], "archetype": archetype}
        )

    @ApiMethod
    def coin_risk(self, symbol: str) -> ApiCall[RiskContext]:
        """Price, trends, funding, carry, sentiment and correlation of one coin now."""
        return ApiCall("coin.risk", RiskContext, {"symbol": symbol})

    @ApiMethod
    def coins(
        self,
        *,
        sort: SortField = "rank",
        order: SortOrder | None = None,
        limit: int = 100,
        category: str | None = None,
        trend: Trend | None = None,
        verdict: Label | None = None,
        min_volume: int | None = None,
        symbols: Sequence[str] | None = None,
    ) -> ApiCall[Coins]:
        """The table of all coins and measures, filtered and ordered, 1 to 1000 coins a page. `min_volume` is in USD."""
        values = {
            "sort": sort, "order": order, "limit": limit, "category": category, "trend": trend, "verdict": verdict,
            "min_volume": min_volume, "symbols": None if symbols is None else ",".join(symbols),
        }  # fmt: skip
        return ApiCall("coins", Coins, values)

    @ApiMethod
    def coin_historical(self, symbol: str, count: int = 24, unit: Literal["h", "d"] = "h") -> ApiCall[Historical]:
        """Price and funding of one coin over the last hours or days, 1 to 1000."""
        return ApiCall("coin.historical", Historical, {"symbol": symbol, "count": count, "unit": unit})

    @ApiMethod
    def signal(self, symbol: str, as_of: str | None = None) -> ApiCall[Signal]:
        """The verdict on one coin, now or by what was known at an ISO 8601 instant."""
        return ApiCall("signal", Signal, {"symbol": symbol, "as_of": as_of})

    @ApiMethod
    def signal_quality(self, asset: str, signal_type: SignalType = "mean_reversion") -> ApiCall[SignalQuality]:
        """The out-of-sample record of one strategy on one coin."""
        return ApiCall("signal.quality", SignalQuality, {"asset": asset, "signal_type": signal_type})

    @ApiMethod
    def verdict_quality(self, asset: str) -> ApiCall[VerdictQuality]:
        """The record of past verdicts, of all coins and of one."""
        return ApiCall("signal.quality", VerdictQuality, {"asset": asset, "signal_type": "verdict"})

    @ApiMethod
    def category_info(self, name: str) -> ApiCall[CategoryInfo]:
        """Trends of the coins of a category, by its exact name."""
        return ApiCall("category.info", CategoryInfo, {"name": name})

    @ApiMethod
    def category_sentiment(self, name: str) -> ApiCall[CategorySentiment]:
        """Sentiment of a category and its coins, by its exact name."""
        return ApiCall("category.sentiment", CategorySentiment, {"name": name})

    @ApiMethod
    def coin_lookup(self, symbol: str) -> ApiCall[CoinLookup]:
        """A coin by its ticker: identity, present trend, past trends, SuperTrend bands."""
        return ApiCall("coin.lookup", CoinLookup, {"symbol": symbol})

    @ApiMethod
    def coin_by_id(self, coin_id: str) -> ApiCall[CoinLookup]:
        """A coin by its CoinGecko id (`bitcoin`)."""
        return ApiCall("coin.by-id", CoinLookup, {"id": coin_id})

    @ApiMethod
    def coin_by_name(self, name: str) -> ApiCall[CoinLookup]:
        """A coin by its full name."""
        return ApiCall("coin.by-name", CoinLookup, {"name": name})

    @ApiMethod
    def coin_by_contract(self, address: str, chain: str) -> ApiCall[CoinLookup]:
        """A coin by the contract of its token on a chain (`ethereum`, `solana`)."""
        return ApiCall("coin.by-contract", CoinLookup, {"address": address, "chain": chain})

    @ApiMethod
    def resolve(self, q: str, limit: int = 5) -> ApiCall[Resolved]:
        """Which coins and real-world assets a text means, 1 to 50 matches, the best first."""
        return ApiCall("resolve", Resolved, {"q": q, "limit": limit})

    @ApiMethod
    def market_prices(self, symbols: Sequence[str] = (), *, baselines: bool = False) -> ApiCall[LivePrices]:
        """Live prices of some coins, or of all; with `baselines` also those of 4 h, 24 h and 7 d ago."""
        return ApiCall("market.prices", LivePrices, {"symbols": ",".join(symbols), "baselines": int(baselines)})

    @ApiMethod
    def market_baselines(self, symbols: Sequence[str] = (), horizons: Sequence[str] = ()) -> ApiCall[Baselines]:
        """Prices of some coins, or of all, some of `4h`, `24h` and `7d` ago, or all three."""
        values = {"symbols": ",".join(symbols), "horizons": ",".join(horizons)}
        return ApiCall("market.baselines", Baselines, values)

    @ApiMethod
    def market_global(self) -> ApiCall[GlobalMarket]:
        """The whole market: value, volume, shares of the largest coins."""
        return ApiCall("market.global", GlobalMarket)

    @ApiMethod
    def rwa_asset(self, asset_id: str) -> ApiCall[RwaAsset]:
        """A real-world asset by its id (`xyz:AAPL`)."""
        return ApiCall("rwa.asset", RwaAsset, {"id": asset_id})

    @ApiMethod
    def coin_sentiment(self, symbol: str) -> ApiCall[OneCoinSentiment]:
        """Stance, score, its change over 24 hours, and mentions of one coin."""
        return ApiCall("coin.sentiment", OneCoinSentiment, {"symbol": symbol})

    @ApiMethod
    def sentiment(self, action: Literal["market", "latest"] = "market") -> ApiCall[SentimentItems]:
        """Sentiment of the market, or the newest of every coin and category with news."""
        return ApiCall("sentiment", SentimentItems, {"action": action})

    @ApiMethod
    def sentiment_categories(self) -> ApiCall[SentimentCategories]:
        """Scores of all categories, the most mentioned first."""
        return ApiCall("sentiment", SentimentCategories, {"action": "categories"})

    @ApiMethod
    def narratives(self) -> ApiCall[Narratives]:
        """Categories that news and podcasts talk about this week, the most mentioned first."""
        return ApiCall("narratives", Narratives)

    @ApiMethod
    def market_health(self, *, context: bool = False) -> ApiCall[MarketHealth]:
        """Breadth of the market on the last closed day; with `context` also leaders, laggards and divergences."""
        return ApiCall("market.health", MarketHealth, {"context": int(context)})

    @ApiMethod
    def market_crossing(self) -> ApiCall[Crossings]:
        """Days on which rising coins came to outnumber falling ones, or the reverse."""
        return ApiCall("market.crossing", Crossings)

    @ApiMethod
    def funding_alerts(
        self, symbol: str | None = None, since: str | None = None, limit: int = 50
    ) -> ApiCall[FundingAlerts]:
        """Funding-rate alerts, newest first, 1 to 200 a page."""
        return ApiCall("funding.alerts", FundingAlerts, {"symbol": symbol, "since": since, "limit": limit})

    @ApiMethod
    def regime(self) -> ApiCall[ActiveRegime]:
        """The market's regime and the positions that it holds."""
        return ApiCall("regime", ActiveRegime, {"action": "active"})

    @ApiMethod
    def regime_signals(self) -> ApiCall[RegimeSignals]:
        """The last regime change of each coin, with reasons."""
        return ApiCall("regime", RegimeSignals, {"action": "signals"})

    @ApiMethod
    def regime_confidence(self) -> ApiCall[RegimeConfidence]:
        """How certain the regime of each coin is."""
        return ApiCall("regime", RegimeConfidence, {"action": "confidence"})

    @ApiMethod
    def regime_history(self, symbol: str) -> ApiCall[RegimeHistory]:
        """Past regime trades of one coin, after costs."""
        return ApiCall("regime", RegimeHistory, {"action": "history", "symbol": symbol})

    @ApiMethod
    def rwa_assets(self, type: AssetType | None = None, top: int = 200) -> ApiCall[RwaAssets]:  # noqa: A002 - the API's name
        """Real-world assets, the most traded first."""
        return ApiCall("rwa.assets", RwaAssets, {"type": type, "top": top})

    @ApiMethod
    def rwa_symbol(self, symbol: str) -> ApiCall[RwaAsset]:
        """One real-world asset by ticker, such as AAPL."""
        return ApiCall("rwa.symbol", RwaAsset, {"symbol": symbol})

    @ApiMethod
    def walkforward_signals(self, symbol: str | None = None, limit: int = 50) -> ApiCall[WalkforwardSignals]:
        """Entry signals of the walk-forward strategies, newest first."""
        return ApiCall("walkforward", WalkforwardSignals, {"action": "signals", "symbol": symbol, "limit": limit})

    @ApiMethod
    def walkforward_positions(self, symbol: str | None = None, limit: int = 50) -> ApiCall[WalkforwardPositions]:
        """Open walk-forward positions."""
        return ApiCall("walkforward", WalkforwardPositions, {"action": "positions", "symbol": symbol, "limit": limit})

    @ApiMethod
    def walkforward_outcomes(self, symbol: str | None = None, limit: int = 50) -> ApiCall[WalkforwardOutcomes]:
        """Closed walk-forward positions, and the summary of the run."""
        return ApiCall("walkforward", WalkforwardOutcomes, {"action": "outcomes", "symbol": symbol, "limit": limit})

    @ApiMethod
    def transcripts(
        self, coin: str | None = None, sector: str | None = None, macro: str | None = None, limit: int = 50
    ) -> ApiCall[Highlights]:
        """Highlights of podcasts and videos, newest first."""
        return ApiCall("transcripts", Highlights, {"coin": coin, "sector": sector, "macro": macro, "limit": limit})

    @ApiMethod
    def transcript_sources(self) -> ApiCall[TranscriptSources]:
        """The podcasts and videos that are read."""
        return ApiCall("transcripts", TranscriptSources, {"action": "sources"})

    @ApiMethod
    def wallets(self, limit: int = 50) -> ApiCall[Watchlist]:
        """Watched wallets and the tokens that moved."""
        return ApiCall("wallets", Watchlist, {"action": "watchlist", "limit": limit})

    @ApiMethod
    def wallet_movements(self, contract: str, limit: int = 50) -> ApiCall[Movements]:
        """Movements of one token in and out of watched wallets."""
        return ApiCall("wallets", Movements, {"action": "movements", "contract": contract, "limit": limit})

    @ApiMethod
    def receipts(self, limit: int = 50) -> ApiCall[ReceiptList]:
        """The caller's payment receipts, newest first."""
        return ApiCall("receipts.list", ReceiptList, {"limit": limit})

    @ApiMethod
    def receipt(self, receipt_id: str) -> ApiCall[SignedReceipt]:
        """One signed receipt."""
        return ApiCall("receipts.get", SignedReceipt, {"id": receipt_id})
