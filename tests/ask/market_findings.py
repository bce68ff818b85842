"""Results of the tools about the market as a whole, small and whole, with every gap that one may have."""

from typing import Any

from service.analytics.costs import standard
from service.wire.access import Entitlement, Identity
from service.wire.ask import Step
from service.wire.market import (
    CategoryCoin,
    CategoryInfo,
    Crossing,
    Crossings,
    Divergence,
    Extreme,
    FundingAlert,
    FundingAlerts,
    MarketHealth,
    Mover,
    PageMeta,
    TrendCounts,
    TrendShares,
)
from service.wire.regime import (
    ActiveRegime,
    CoinRegime,
    MarketRegime,
    RegimeConfidence,
    RegimeHistory,
    RegimeHistoryMeta,
    RegimeMeta,
    RegimePosition,
    RegimeSignal,
    RegimeSignals,
    RegimeSummary,
    RegimeTrade,
)
from service.wire.rwa import RwaAsset, RwaAssets, RwaFunding, RwaListing
from service.wire.sentiment import CategorySentiment, CoinSentiment
from service.wire.tools import Definition, QuotaStanding, Scan, ScanRow
from service.wire.walkforward import (
    BuyAndHold,
    StrategySummary,
    WalkforwardMeta,
    WalkforwardMethod,
    WalkforwardOutcome,
    WalkforwardOutcomes,
    WalkforwardPosition,
    WalkforwardPositions,
    WalkforwardSignal,
    WalkforwardSignals,
    WalkforwardSummary,
)
from tests.ask.telling import step

INSTANT = "2026-08-19T00:00:00.000Z"
LATER = "2026-11-21T08:00:00.000Z"

ROWS = [
    ScanRow("FARTCOIN", 1.1748, 7.3171, 47.4135, 31_250_000.0, 98_010_000.0, "DOWN", "UP", 0.4012),
    ScanRow("KPEPE", 0.012453, 3.9396, -22.2285, 1_376_115_486.0, 570_910.0, "UP", "UP", 0.617),
    ScanRow("SOL", 196.97, -1.9134, 0.0, 9_110_000_000.0, 2_200_400_000.0, "HODL", None, None),
]


def scan(by: Any, order: Any = "most", **changed: Any) -> Step:
    said: dict[str, Any] = {"trend": None, "timeframe": "daily", "category": None, "excluded": [], "universe": 80}
    said |= {"count": 77, "unknown": 3, "coins": ROWS, "_stale_fields": []} | changed
    return step("scan", Scan(by, order, *said.values()), by=by)


META = RegimeMeta(80, INSTANT, "regime-rules/1")
MARKET = MarketRegime("risk-on", INSTANT, 94, 0.5178)


def position(
    symbol: str, direction: Any = "long", price: float | None = 0.28218, entry: float | None = 0.11048
) -> RegimePosition:
    return RegimePosition(symbol, "risk-on", direction, 0.9984, entry, price, "2026-08-15", 97)


def active(*positions: RegimePosition, **args: Any) -> Step:
    return step("regime", ActiveRegime(MARKET, list(positions), META), action="active", **args)


def turned(symbol: str, direction: Any = None) -> RegimeSignal:
    reasons = [f"{symbol}'s daily trend against USD is DOWN.", "It has been so for 2 days."]
    return RegimeSignal(symbol, "neutral", direction, 0.3893, LATER, reasons)


def signals(*rows: RegimeSignal, **args: Any) -> Step:
    return step("regime", RegimeSignals(list(rows), META), action="signals", **args)


def confidence(*symbols: str, **args: Any) -> Step:
    coins = [CoinRegime(symbol, "neutral", 0.6181) for symbol in symbols]
    said = RegimeConfidence("regime-rules/1", INSTANT, "Of 79 coins 43 are risk-on.", coins)
    return step("regime", said, action="confidence", **args)


def trade(exit_date: str, result: float) -> RegimeTrade:
    return RegimeTrade("short", "2026-06-06", 69_906.0, exit_date, 71_741.0, result, -0.05, 0.16, 6, "trend-turned")


def history(*trades: RegimeTrade, current: RegimePosition | None = None) -> Step:
    wins = sum(each.returnPct > 0 for each in trades)
    rate = (wins / len(trades), -0.5469, 0.75) if trades else (None, None, None)
    summary = RegimeSummary(len(trades), wins, len(trades) - wins, *rate)
    about = RegimeHistoryMeta(INSTANT, "regime-rules/1", standard(), [])
    return step("regime", RegimeHistory("BTC", list(trades), summary, current, about), action="history", symbol="BTC")


def health(**changed: Any) -> Step:
    said: dict[str, Any] = {"velocity": -5.3386, "regime": "risk-on", "regime_age_days": 94, "hasExtremes": False}
    said |= {"leadership": [Mover(name, 130.8861, "UP") for name in ("ACE", "DYDX", "ME", "NOT")]}
    said |= {"laggards": [Mover("ENA", -40.544, "DOWN")], "extremes": [], "interpretation": "80 coins."}
    said |= {"divergences": [Divergence("against-btc", symbol, f"{symbol} is DOWN.") for symbol in ("ETH", "SOL")]}
    counts, shares = TrendCounts(33, 21, 26), TrendShares(41.25, 26.25, 32.5)
    return step("market.health", MarketHealth("2026-11-20", 80, counts, shares, **(said | changed)), context=1)


def plain_health() -> Step:
    counts, shares, state = TrendCounts(10, 10, 60), TrendShares(12.5, 12.5, 75.0), [Extreme("DOWN", 75.0, 60)]
    return step("market.health", MarketHealth("2026-11-20", 80, counts, shares, hasExtremes=True, extremes=state))


def crossed(direction: Any, at: str) -> Crossing:
    return Crossing("x", 41, 31, direction, at, TrendCounts(30, 14, 36), TrendCounts(41, 8, 31), 80)


def crossings(*rows: Crossing) -> Step:
    said = {} if rows else {"message": "UP less DOWN has not changed its sign in the last 90 closed days."}
    return step("market.crossing", Crossings(list(rows), **said))


def alert(asset: str, rate: float, cleared: str | None = None) -> FundingAlert:
    zone: Any = "hot" if rate > 0 else "very-cold"
    return FundingAlert("x", asset, zone, rate, 99.1655, 1.0, LATER, cleared, 10.002)


def alerts(*events: FundingAlert, total: int | None = None, **args: Any) -> Step:
    many = len(events) if total is None else total
    return step("funding.alerts", FundingAlerts(list(events), PageMeta(many, None)), **args)


def member(symbol: str, change: float | None = 1.8072) -> CategoryCoin:
    return CategoryCoin(symbol, symbol.title(), 0.2383, change, 35_798_668_000.0, "HODL", 4)


def category(*coins: CategoryCoin, **changed: Any) -> Step:
    said: dict[str, Any] = {"market_cap": 3_404_037_506_610.0, "change_24h": 1.8749, "volume_24h": 1_376_115_486.0}
    said |= {"leaders": ["DOGE"], "laggards": ["WIF"]} | changed
    info = CategoryInfo("Layer 1 (L1)", "Coins that settle.", list(coins), TrendCounts(4, 5, 2), *said.values())
    return step("category.info", info, name="Layer 1 (L1)")


def mood(*coins: CoinSentiment, **changed: Any) -> Step:
    said: dict[str, Any] = {"score": -0.1536, "slope_24h": 0.1911, "mentions": 8, "sources": ["coindesk", "decrypt"]}
    said |= {
        "summary": "Neutral: news -0.15 from 8 items in 7 days.",
        "coins": list(coins),
        "newest_at": LATER,
    } | changed
    return step("category.sentiment", CategorySentiment("Meme", "neutral", *said.values()), name="Meme")


def asset(symbol: str, number: int = 1, **changed: Any) -> Step:
    said: dict[str, Any] = {"assetType": "metal", "venue": "hyperliquid", "price": 3294.1, "change_24h": 1.1205}
    said |= {"trend_daily": "UP", "trend_weekly": "DOWN", "funding": RwaFunding(6.25e-06, 1.0, 5.475)}
    said |= {"open_interest_usd": 40_564_698.36, "volume_24h_usd": 48_675_774.81, "_stale_fields": []} | changed
    found = RwaAsset(f"xyz:{symbol}", symbol, symbol.title(), *said.values())
    return step("rwa.symbol", found, number, symbol=symbol)


def assets(*kinds: Any, count: int | None = None, **args: Any) -> Step:
    rows = [RwaListing(f"xyz:A{kind}", f"A{kind}".upper(), f"The {kind}", kind, "hyperliquid") for kind in kinds]
    return step("rwa.assets", RwaAssets(len(rows) if count is None else count, rows), **args)


RAN = WalkforwardMeta("verdict-walkforward-1", "b426f6614bbd0200", LATER, "26ef", 27, None, None)
NOT_RUN = WalkforwardMeta("verdict-walkforward-1", None, None, None, 0, None, "The engine has written nothing yet.")
SILENT = WalkforwardMeta("verdict-walkforward-1", None, None, None, 0, None, None)


def strategy(name: Any, refused: str | None = None) -> StrategySummary:
    figures = (1579, 691, 888, 0.4376, 1.1949, 25.7151, 0.995, 0.887, 0.0859, 25.4298, 0.5918, 39.4561, 0.2077, 162)
    return StrategySummary(name, refused is None, refused, *figures)


def summary(deflated: float | None = 0.0859) -> WalkforwardSummary:
    figures = (1579, 691, 888, 0.4376, 1.1949, 0.995, deflated, 25.4298, 0.5918, 162, 25.7151, 0.887, 39.4561)
    strategies = [strategy("all"), strategy("funding-reversion", "It saw the future.")]
    method = WalkforwardMethod("A purge.", "No embargo.", "Sign-flip surrogates.")
    held = BuyAndHold(165.2456, 1.4119, 56.9792)
    return WalkforwardSummary(*figures, "2025-06-05", "2026-11-20", 6, 85, strategies, held, standard(), method)


def outcome(symbol: str) -> WalkforwardOutcome:
    figures = (1.8472, 2.0592, 9.9308, -1.3451, 0.2009, 30)
    return WalkforwardOutcome("x", symbol, "long", "2026-10-21", "2026-11-20", *figures, "stop", 6, "trend-following")


def outcomes(*rows: WalkforwardOutcome, said: WalkforwardSummary | None = None, **args: Any) -> Step:
    return step("walkforward", WalkforwardOutcomes(list(rows), said, RAN), action="outcomes", **args)


def held(symbol: str, stop: float | None) -> WalkforwardPosition:
    figures = ("2026-11-20", 2.0592, 2.0442, 1, 0.7284, stop)
    return WalkforwardPosition("x", symbol, "short", *figures, "trend-following", 6)


def positions(*rows: WalkforwardPosition, **args: Any) -> Step:
    return step("walkforward", WalkforwardPositions(list(rows), RAN), action="positions", **args)


def decided(symbol: str, entry: float | None) -> WalkforwardSignal:
    return WalkforwardSignal("x", symbol, "2026-11-20", "short", "funding-reversion", -2.0122, 6, entry)


def decisions(*rows: WalkforwardSignal, meta: WalkforwardMeta = RAN, **args: Any) -> Step:
    return step("walkforward", WalkforwardSignals(list(rows), meta), **args)


def definition(*see: str) -> Step:
    return step("glossary", Definition("funding", "funding", "Funding is what longs and shorts pay.", list(see)))


def quota(**changed: Any) -> Step:
    said: dict[str, Any] = {"tier": "free", "used": 1, "limit": 10, "remaining": 9, "period": "lifetime"}
    return step("billing.quota", QuotaStanding(*(said | {"resets_at": None} | changed).values()), 2)


def tier(source: Any = "default", expires_at: str | None = None) -> Step:
    return step("billing.tier", Entitlement("free", source, expires_at, Identity("api_key", 1, None)))


def manifest(*ids: str) -> Step:
    prices = {"question": "0.05", "walkforward": "0.05"}
    routes = [{"id": each, "price_usdc": prices.get(each, "0.005")} for each in ids]
    tiers = [{"tier": "free", "perDay": 1}, {"tier": "pro", "perDay": None}]
    return step("manifest", {"free": {"starter": 10, "perDay": 1}, "tiers": tiers, "routes": routes})
