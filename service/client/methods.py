"""The methods of `Verdict` and `AsyncVerdict`, one for each data route.

`route` takes the parameters from the struct that the service decodes; a method in full has more convenient ones.
Parameters that are None are left out, so that the service's defaults hold. Units and meanings of the fields of an
answer are those of the structs in `service.wire`. A list, such as `symbols`, is a sequence or a text with commas.
"""

from collections.abc import Sequence
from typing import Literal

from service.client.calls import ApiCall, ApiMethod, route
from service.wire.access import Entitlement
from service.wire.ask import Archetype, QuestionAnswer
from service.wire.coins import (
    CoinLookup,
    Coins,
    LookupQuery,
    OfCoinName,
    OfContract,
    Resolved,
    ResolveQuery,
    SortField,
    SortOrder,
)
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
from service.wire.queries import AlertsQuery, HistoricalQuery, NoParameters, OfCategory, OfSymbol, ReceiptsQuery
from service.wire.regime import ActiveRegime, RegimeConfidence, RegimeHistory, RegimeSignals
from service.wire.rwa import AssetType, OfRwaSymbol, RwaAsset, RwaAssets
from service.wire.sentiment import CategorySentiment, Narratives, OneCoinSentiment, SentimentCategories, SentimentItems
from service.wire.transcripts import Highlights, TranscriptSources
from service.wire.verdict import Label, Signal
from service.wire.walkforward import WalkforwardOutcomes, WalkforwardPositions, WalkforwardSignals
from service.wire.wallets import Movements, Watchlist


def _with_commas(values: str | Sequence[str] | None) -> str | None:
    return values if values is None or isinstance(values, str) else ",".join(values)


class ApiMethods:
    """One method for each data route; each call uses up a question if its route is priced.

    A method of `Verdict` returns an `ApiResult`, one of `AsyncVerdict` a coroutine of it.

    Raises:
        VerdictError: If there is no answer; see its subclasses.
    """

    manifest = route("manifest", Manifest, NoParameters)
    billing_tier = route("billing.tier", Entitlement, NoParameters)
    coin_risk = route("coin.risk", RiskContext, OfSymbol)
    coin_historical = route("coin.historical", Historical, HistoricalQuery)
    category_info = route("category.info", CategoryInfo, OfCategory)
    category_sentiment = route("category.sentiment", CategorySentiment, OfCategory)
    coin_lookup = route("coin.lookup", CoinLookup, LookupQuery)
    coin_by_name = route("coin.by-name", CoinLookup, OfCoinName)
    coin_by_contract = route("coin.by-contract", CoinLookup, OfContract)
    resolve = route("resolve", Resolved, ResolveQuery)
    market_global = route("market.global", GlobalMarket, NoParameters)
    coin_sentiment = route("coin.sentiment", OneCoinSentiment, OfSymbol)
    sentiment_categories = route(
        "sentiment", SentimentCategories, NoParameters, "Sentiment of all categories, the most mentioned first",
        action="categories",
    )  # fmt: skip
    narratives = route("narratives", Narratives, NoParameters)
    market_crossing = route("market.crossing", Crossings, NoParameters)
    funding_alerts = route("funding.alerts", FundingAlerts, AlertsQuery)
    regime = route("regime", ActiveRegime, NoParameters, "The market regime and the open positions", action="active")
    regime_signals = route("regime", RegimeSignals, NoParameters, "Regime changes, newest first", action="signals")
    regime_confidence = route(
        "regime", RegimeConfidence, NoParameters, "Confidence in each coin's regime, 0 to 1", action="confidence"
    )
    regime_history = route(
        "regime", RegimeHistory, OfSymbol, "Every position that a coin's regime has had, oldest first", action="history"
    )
    rwa_symbol = route("rwa.symbol", RwaAsset, OfRwaSymbol)
    transcript_sources = route(
        "transcripts", TranscriptSources, NoParameters, "The feeds that highlights come from", action="sources"
    )
    receipts = route("receipts.list", ReceiptList, ReceiptsQuery)

    @ApiMethod
    def question(self, text: str, archetype: Archetype = "base") -> ApiCall[QuestionAnswer]:
        """An answer in words to a question in English, with the steps and sources that it rests on."""
        return ApiCall(
            "question", QuestionAnswer, {"messages": [{"role": "user", "content": text}], "archetype": archetype}
        )

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
        symbols: str | Sequence[str] | None = None,
    ) -> ApiCall[Coins]:
        """The table of all coins and measures, filtered and ordered, 1 to 1000 coins a page. `min_volume` is in USD."""
        values = {
            "sort": sort, "order": order, "limit": limit, "category": category, "trend": trend, "verdict": verdict,
            "min_volume": min_volume, "symbols": _with_commas(symbols),
        }  # fmt: skip
        return ApiCall("coins", Coins, values)

    @ApiMethod
    def signal(self, symbol: str, as_of: str | None = None) -> ApiCall[Signal]:
        """The verdict on one coin, now or by what was known at an ISO 8601 instant."""
        return ApiCall("signal", Signal, {"symbol": symbol, "as_of": as_of})

    @ApiMethod
    def signal_quality(self, asset: str, signal_type: SignalType) -> ApiCall[SignalQuality]:
        """The out-of-sample record of one strategy on one coin."""
        return ApiCall("signal.quality", SignalQuality, {"asset": asset, "signal_type": signal_type})

    @ApiMethod
    def verdict_quality(self, asset: str) -> ApiCall[VerdictQuality]:
        """The record of past verdicts, of all coins and of one."""
        return ApiCall("signal.quality", VerdictQuality, {"asset": asset, "signal_type": "verdict"})

    @ApiMethod
    def coin_by_id(self, coin_id: str) -> ApiCall[CoinLookup]:
        """A coin by its CoinGecko id (`bitcoin`)."""
        return ApiCall("coin.by-id", CoinLookup, {"id": coin_id})

    @ApiMethod
    def market_prices(
        self, symbols: str | Sequence[str] | None = None, *, baselines: bool = False
    ) -> ApiCall[LivePrices]:
        """Live prices of some coins, or of all; with `baselines` also those of 4 h, 24 h and 7 d ago."""
        return ApiCall("market.prices", LivePrices, {"symbols": _with_commas(symbols), "baselines": int(baselines)})

    @ApiMethod
    def market_baselines(
        self, symbols: str | Sequence[str] | None = None, horizons: str | Sequence[str] | None = None
    ) -> ApiCall[Baselines]:
        """Prices of some coins, or of all, some of `4h`, `24h` and `7d` ago, or all three."""
        values = {"symbols": _with_commas(symbols), "horizons": _with_commas(horizons)}
        return ApiCall("market.baselines", Baselines, values)

    @ApiMethod
    def rwa_asset(self, asset_id: str) -> ApiCall[RwaAsset]:
        """A real-world asset by its id (`xyz:AAPL`)."""
        return ApiCall("rwa.asset", RwaAsset, {"id": asset_id})

    @ApiMethod
    def sentiment(self, action: Literal["market", "latest"] = "market") -> ApiCall[SentimentItems]:
        """Sentiment of the market, or the newest of every coin and category with news."""
        return ApiCall("sentiment", SentimentItems, {"action": action})

    @ApiMethod
    def market_health(self, *, context: bool = False) -> ApiCall[MarketHealth]:
        """Breadth of the market on the last closed day; with `context` also leaders, laggards and divergences."""
        return ApiCall("market.health", MarketHealth, {"context": int(context)})

    @ApiMethod
    def rwa_assets(self, type: AssetType | None = None, top: int = 200) -> ApiCall[RwaAssets]:  # noqa: A002 - the API's name
        """Real-world assets, the most traded first."""
        return ApiCall("rwa.assets", RwaAssets, {"type": type, "top": top})

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
    def wallets(self, limit: int = 50) -> ApiCall[Watchlist]:
        """Watched wallets and the tokens that moved."""
        return ApiCall("wallets", Watchlist, {"action": "watchlist", "limit": limit})

    @ApiMethod
    def wallet_movements(self, contract: str, limit: int = 50) -> ApiCall[Movements]:
        """Movements of one token in and out of watched wallets."""
        return ApiCall("wallets", Movements, {"action": "movements", "contract": contract, "limit": limit})

    @ApiMethod
    def receipt(self, receipt_id: str) -> ApiCall[SignedReceipt]:
        """One signed receipt."""
        return ApiCall("receipts.get", SignedReceipt, {"id": receipt_id})
