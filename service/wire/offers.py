"""THE table: every route, what it takes, what it gives, what it costs. Everything public is made from it."""

from collections.abc import Sequence
from typing import Final

from service.wire import (
    access,
    ask,
    coins,
    market,
    quality,
    queries,
    regime,
    rwa,
    sentiment,
    streams,
    transcripts,
    verdict,
    walkforward,
    wallets,
)
from service.wire.account_offers import OF_ACCOUNTS, OF_RECEIPTS
from service.wire.manifest import Manifest
from service.wire.offer import DATA_CALL, DEAR_CALL, UPSTREAM, Offer, data_call

QUESTION: Final = Offer(
    id="question",
    method="POST",
    path="/api/cli",
    summary="Ask a question in plain words; it is answered from the same data as the data routes",
    body=ask.Question,
    result=ask.QuestionAnswer,
    results=(ask.Findings,),
    price=DEAR_CALL,
    envelope=False,
    gate="question",
    also=UPSTREAM,
    bare_errors=True,
    forms=("text/plain", "text/event-stream", "application/json"),
)

WATCH: Final = Offer(
    id="watch",
    path="/api/cli/watch/{stream}",
    summary="Follow one of six live streams, one JSON object a line",
    parameters=streams.WatchQuery,
    result=streams.OpenLine,
    results=(streams.EventLine, streams.HeartbeatLine, streams.GapLine, streams.ErrorLine, streams.CloseLine),
    streaming=True,
    envelope=False,
    also=("UNKNOWN_STREAM",),
    forms=("application/x-ndjson",),
)

TRANSCRIPTS: Final = Offer(
    id="transcripts",
    path="/api/cli/transcripts",
    summary="Highlights of podcasts and videos on coins, sectors and the economy, or their sources",
    parameters=transcripts.TranscriptsQuery,
    result=transcripts.Highlights,
    results=(transcripts.TranscriptSources,),
    price=DATA_CALL,
    refresh_seconds=1800,
    also=("UNKNOWN_SYMBOL", "UNKNOWN_CATEGORY", "NOT_FOUND", *UPSTREAM),
)

WALLETS: Final = Offer(
    id="wallets",
    path="/api/cli/wallets",
    summary="Watched wallets, or the movements of one token in and out of them",
    parameters=wallets.WalletsQuery,
    result=wallets.Watchlist,
    results=(wallets.Movements,),
    price=DATA_CALL,
    refresh_seconds=60,
    also=("NOT_FOUND", *UPSTREAM),
)

# fmt: off
OFFERS: Final[Sequence[Offer]] = (
    QUESTION,
    Offer(
        id="manifest",
        path="/api/cli/manifest",
        summary="List priced routes with price and refresh interval",
        result=Manifest,
        gate="public",
    ),
    Offer(
        id="billing.tier",
        path="/api/cli/billing/tier",
        summary="Resolve the caller's entitlement",
        result=access.Entitlement,
        dated=False,
    ),
    data_call(
        "coin.risk", "/api/cli/coin/risk/{symbol}",
        "Bundled risk context of one asset",
        queries.OfSymbol, market.RiskContext, refresh=15, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "coins", "/api/cli/coins",
        "All coins and all measures in one table: filtered, ordered, by page",
        coins.CoinsQuery, coins.Coins, coins.SelectedCoins, refresh=15, also=("UNKNOWN_SYMBOL", "UNKNOWN_CATEGORY"),
    ),
    data_call(
        "coin.lookup", "/api/cli/coin/lookup",
        "A coin by its ticker: identity, present trend, past trends, SuperTrend bands",
        coins.LookupQuery, coins.CoinLookup, refresh=15, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "coin.by-id", "/api/cli/coin/by-id/{id}",
        "A coin by its CoinGecko id; the same answer as by ticker",
        coins.OfCoinId, coins.CoinLookup, refresh=15, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "coin.by-name", "/api/cli/coin/by-name/{name}",
        "A coin by its full name; the same answer as by ticker",
        coins.OfCoinName, coins.CoinLookup, refresh=15, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "coin.by-contract", "/api/cli/coin/by-contract/{address}",
        "A coin by the contract of its token; the same answer as by ticker",
        coins.OfContract, coins.CoinLookup, refresh=15, also=("NOT_FOUND",),
    ),
    data_call(
        "resolve", "/api/cli/resolve",
        "Coins and real-world assets that match a text: ticker, name, id, contract or a misspelling",
        coins.ResolveQuery, coins.Resolved, refresh=300,
    ),
    data_call(
        "coin.historical", "/api/cli/coin/historical/{symbol}",
        "Price and funding history of one coin",
        queries.HistoricalQuery, market.Historical, refresh=300, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "walkforward", "/api/cli/walkforward",
        "Walk-forward records of three strategies: signals, open positions, or outcomes with their summary",
        queries.WalkforwardQuery, walkforward.WalkforwardSignals, walkforward.WalkforwardPositions,
        walkforward.WalkforwardOutcomes, refresh=3600, also=("UNKNOWN_SYMBOL",), price=DEAR_CALL,
    ),
    data_call(
        "signal.quality", "/api/cli/signal-quality",
        "Out-of-sample record of one strategy on one coin, or of verdicts, and how far it can be trusted",
        queries.SignalQualityQuery, quality.SignalQuality, quality.VerdictQuality,
        refresh=3600, also=("UNKNOWN_SYMBOL",),
    ),
    TRANSCRIPTS,
    data_call(
        "signal", "/api/cli/signal/{symbol}",
        "Verdict on one coin by published rules, with its evidence, its arithmetic, its claims and its record",
        queries.SignalQuery, verdict.Signal, verdict.BriefSignal, refresh=15, also=("UNKNOWN_SYMBOL", "NOT_FOUND"),
    ),
    WALLETS,
    data_call(
        "category.sentiment", "/api/cli/category/sentiment/{name}",
        "Sentiment of a category: its news, and how its coins trade",
        queries.OfCategory, sentiment.CategorySentiment, refresh=600, also=("UNKNOWN_CATEGORY",),
    ),
    data_call(
        "coin.sentiment", "/api/cli/coin/sentiment/{symbol}",
        "Sentiment of one coin: stance, score and its change, mentions",
        queries.OfSymbol, sentiment.OneCoinSentiment, refresh=600, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "sentiment", "/api/cli/sentiment",
        "Sentiment of the market, coins, categories and narratives, and which of them rise",
        queries.SentimentQuery, sentiment.SentimentItems, sentiment.SentimentItems, sentiment.SentimentItem,
        sentiment.NarrativeAttention,
        sentiment.SentimentCategories, sentiment.SentimentHealth, sentiment.CategorySlopes, sentiment.CoinSlopes,
        sentiment.OneCoinSentiment, sentiment.OneSentiment, sentiment.OneSentiment,  # in the order of the actions
        refresh=600, also=("UNKNOWN_SYMBOL", "UNKNOWN_CATEGORY", "NOT_FOUND"),
    ),
    data_call(
        "narratives", "/api/cli/narratives",
        "Categories in this week's news and podcasts: mentions, recency, sentiment",
        queries.NoParameters, sentiment.Narratives, refresh=600,
    ),
    data_call(
        "category.info", "/api/cli/category/info/{name}",
        "Trend breakdown of a category and its coins",
        queries.OfCategory, market.CategoryInfo, refresh=300, also=("UNKNOWN_CATEGORY",),
    ),
    data_call(
        "regime", "/api/cli/regime",
        "Market regime: active positions, signals, confidence, or a coin's history",
        queries.RegimeQuery, regime.ActiveRegime, regime.RegimeSignals, regime.RegimeConfidence, regime.RegimeHistory,
        refresh=300, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "rwa.symbol", "/api/cli/rwa/symbol/{symbol}",
        "A real-world asset (equity, fund, metal, commodity, index, currency) by ticker",
        rwa.OfRwaSymbol, rwa.RwaAsset, refresh=30, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "rwa.asset", "/api/cli/rwa/asset/{id}",
        "A real-world asset by its id (xyz:AAPL); the same answer as by ticker",
        rwa.OfRwaId, rwa.RwaAsset, refresh=30, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "rwa.assets", "/api/cli/rwa/assets",
        "List real-world assets, the most traded first",
        rwa.RwaAssetsQuery, rwa.RwaAssets, refresh=3600,
    ),
    data_call(
        "market.prices", "/api/cli/market/prices",
        "Live prices of many coins in one call, with those of 4 h, 24 h and 7 d ago if asked for",
        queries.PricesQuery, market.LivePrices, refresh=15, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "market.baselines", "/api/cli/market/baselines",
        "Prices of many coins 4 h, 24 h and 7 d ago",
        queries.BaselinesQuery, market.Baselines, refresh=3600, also=("UNKNOWN_SYMBOL",),
    ),
    data_call(
        "market.global", "/api/cli/market/global",
        "Value, volume and dominance of the whole market",
        queries.NoParameters, market.GlobalMarket, refresh=300,
    ),
    data_call(
        "market.health", "/api/cli/market/health",
        "Market breadth on the last closed day, and what it means",
        queries.HealthQuery, market.MarketHealth, refresh=300,
    ),
    data_call(
        "market.crossing", "/api/cli/market/crossing",
        "Days on which coins in an uptrend came to outnumber those in a downtrend, or the reverse",
        queries.NoParameters, market.Crossings, refresh=300,
    ),
    data_call(
        "funding.alerts", "/api/cli/funding/alerts",
        "Funding-rate alerts",
        queries.AlertsQuery, market.FundingAlerts, refresh=60, also=("UNKNOWN_SYMBOL",),
    ),
    WATCH,
    *OF_ACCOUNTS,
    *OF_RECEIPTS,
)
# fmt: on
