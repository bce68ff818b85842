"""THE table: every route, what it takes, what it gives, what it costs. Everything public is made from it."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from service.units import MicroUsd, usdc
from service.wire import (
    access,
    ask,
    coins,
    market,
    payment,
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
from service.wire.manifest import Manifest

DATA_CALL: Final = MicroUsd(5_000)
"""Price of an ordinary data call: 0.005 USDC."""

DEAR_CALL: Final = MicroUsd(50_000)
"""Price of the question route, pairs and walk-forward: 0.05 USDC."""

UPSTREAM: Final = ("UPSTREAM_4XX", "UPSTREAM_5XX", "UPSTREAM_UNREACHABLE")
"""What a route answers that has nothing to say because an upstream failed."""

Gate = Literal["public", "bearer", "session", "question", "payer"]
"""Who may call: anyone; any credential; sessions only; a credential or a new device; a credential or a payer."""


class Offer(Struct, frozen=True, kw_only=True):
    """One route.

    Attributes:
        id: Stable name, also of the route function's binding (`coin.risk`).
        method: HTTP method; GET also answers HEAD, uncounted.
        path: Starlette path template. Fields of `parameters` named in it come from the path, the others from the query.
        parameters: Struct the path and query are decoded into; its `Meta` constraints are the whole validation.
        result: Struct of `data` (or of the bare body where `envelope` is false).
        results: Further structs that `data` may be, where a parameter decides (an `action`).
        body: Struct of the JSON request body, if the route takes one.
        summary: One sentence for manifest, OpenAPI and clients.
        price: What a call costs once the quota is spent; 0 is free and never counted.
        refresh_seconds: How often the data behind it is refreshed, if it is.
        streaming: Answers line by line; never payable.
        envelope: Whether the answer is wrapped.
        dated: Whether the envelope's `meta` carries the age of underlying data.
        gate: Who may call.
        also: Codes this route may answer beyond those every route of its gate may.
        bare_errors: Whether a failure is `{"error": message}`, without codes and envelope.
        forms: Media types of a success, the usual one first; the caller's `Accept` chooses.
    """

    id: str
    path: str
    summary: str
    result: type[Struct]
    results: Sequence[type[Struct]] = ()
    method: Literal["GET", "POST", "DELETE"] = "GET"
    parameters: type[Struct] = queries.NoParameters
    body: type[Struct] | None = None
    price: MicroUsd = MicroUsd(0)
    refresh_seconds: int | None = None
    streaming: bool = False
    envelope: bool = True
    dated: bool = True
    gate: Gate = "bearer"
    also: Sequence[str] = ()
    bare_errors: bool = False
    forms: Sequence[str] = ("application/json",)

    @property
    def counted(self) -> bool:
        """Whether a call uses up a question: everything that has a price does, and so do streams."""
        return self.price > 0 or self.streaming

    @property
    def payable(self) -> bool:
        """Whether a call may be paid for once the quota is spent."""
        return self.price > 0 and not self.streaming

    @property
    def price_usdc(self) -> str:
        """The price in decimal USDC."""
        return usdc(self.price)


QUESTION: Final = Offer(
    id="question",
    method="POST",
    path="/api/cli",
    summary="Ask a question in plain words; it is answered from the same data as the data routes",
    body=ask.Question,
    result=ask.Told,
    results=(ask.Findings,),
    price=DEAR_CALL,
    envelope=False,
    gate="question",
    also=("IDEMPOTENCY_CONFLICT", *UPSTREAM),
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
    summary="Wallets that are watched, or what moved of one token in and out of them",
    parameters=wallets.WalletsQuery,
    result=wallets.Watchlist,
    results=(wallets.Movements,),
    price=DATA_CALL,
    refresh_seconds=60,
    also=("NOT_FOUND", *UPSTREAM),
)

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
    Offer(
        id="coin.risk",
        path="/api/cli/coin/risk/{symbol}",
        summary="Bundled risk context of one asset",
        parameters=queries.OfSymbol,
        result=market.RiskContext,
        price=DATA_CALL,
        refresh_seconds=15,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="coins",
        path="/api/cli/coins",
        summary="All coins and all measures in one table: filtered, ordered, by page",
        parameters=coins.CoinsQuery,
        result=coins.Coins,
        results=(coins.SelectedCoins,),
        price=DATA_CALL,
        refresh_seconds=15,
        also=("UNKNOWN_SYMBOL", "UNKNOWN_CATEGORY", *UPSTREAM),
    ),
    Offer(
        id="coin.historical",
        path="/api/cli/coin/historical/{symbol}",
        summary="A coin some hours or days ago, now, and between",
        parameters=queries.HistoricalQuery,
        result=market.Historical,
        price=DATA_CALL,
        refresh_seconds=300,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="walkforward",
        path="/api/cli/walkforward",
        summary="Walk-forward records of three strategies: signals, open positions, or outcomes with their summary",
        parameters=queries.WalkforwardQuery,
        result=walkforward.WalkforwardSignals,
        results=(walkforward.WalkforwardPositions, walkforward.WalkforwardOutcomes),
        price=DEAR_CALL,
        refresh_seconds=3600,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="signal.quality",
        path="/api/cli/signal-quality",
        summary="Out-of-sample record of one strategy on one coin, or of verdicts, and how far it can be trusted",
        parameters=queries.SignalQualityQuery,
        result=quality.SignalQuality,
        results=(quality.VerdictQuality,),
        price=DATA_CALL,
        refresh_seconds=3600,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    TRANSCRIPTS,
    Offer(
        id="signal",
        path="/api/cli/signal/{symbol}",
        summary="Verdict on one coin by published rules, with its evidence, its arithmetic, its claims and its record",
        parameters=queries.SignalQuery,
        result=verdict.Signal,
        price=DATA_CALL,
        refresh_seconds=15,
        also=("UNKNOWN_SYMBOL", "NOT_FOUND", *UPSTREAM),
    ),
    WALLETS,
    Offer(
        id="category.sentiment",
        path="/api/cli/category/sentiment/{name}",
        summary="Sentiment of a category: what is written about it, how its coins trade",
        parameters=queries.OfCategory,
        result=sentiment.CategorySentiment,
        price=DATA_CALL,
        refresh_seconds=600,
        also=("UNKNOWN_CATEGORY", *UPSTREAM),
    ),
    Offer(
        id="category.info",
        path="/api/cli/category/info/{name}",
        summary="Trend breakdown of a category and its coins",
        parameters=queries.OfCategory,
        result=market.CategoryInfo,
        price=DATA_CALL,
        refresh_seconds=300,
        also=("UNKNOWN_CATEGORY", *UPSTREAM),
    ),
    Offer(
        id="regime",
        path="/api/cli/regime",
        summary="Market regime: active positions, signals, confidence, or a coin's history",
        parameters=queries.RegimeQuery,
        result=regime.ActiveRegime,
        results=(regime.RegimeSignals, regime.RegimeConfidence, regime.RegimeHistory),
        price=DATA_CALL,
        refresh_seconds=300,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="rwa.symbol",
        path="/api/cli/rwa/symbol/{symbol}",
        summary="A real-world asset (equity, fund, metal, commodity, index, currency) by ticker",
        parameters=rwa.OfRwaSymbol,
        result=rwa.RwaAsset,
        price=DATA_CALL,
        refresh_seconds=30,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="rwa.assets",
        path="/api/cli/rwa/assets",
        summary="List real-world assets, the most traded first",
        parameters=rwa.RwaAssetsQuery,
        result=rwa.RwaAssets,
        price=DATA_CALL,
        refresh_seconds=3600,
        also=UPSTREAM,
    ),
    Offer(
        id="market.health",
        path="/api/cli/market/health",
        summary="Breadth of the market on the last closed day, and what it means",
        parameters=queries.HealthQuery,
        result=market.MarketHealth,
        price=DATA_CALL,
        refresh_seconds=300,
        also=UPSTREAM,
    ),
    Offer(
        id="market.crossing",
        path="/api/cli/market/crossing",
        summary="Days on which coins going up came to outnumber those going down, or the reverse",
        result=market.Crossings,
        price=DATA_CALL,
        refresh_seconds=300,
        also=UPSTREAM,
    ),
    Offer(
        id="funding.alerts",
        path="/api/cli/funding/alerts",
        summary="Events of coins whose funding left the ordinary",
        parameters=queries.AlertsQuery,
        result=market.FundingAlerts,
        price=DATA_CALL,
        refresh_seconds=60,
        also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    WATCH,
    Offer(
        id="auth.nonce",
        method="POST",
        path="/api/auth/nonce",
        summary="Get a single-use nonce for Sign-In with Ethereum",
        result=access.NewNonce,
        envelope=False,
        gate="public",
    ),
    Offer(
        id="auth.login",
        method="POST",
        path="/api/auth/login",
        summary="Exchange a signed EIP-4361 message for a session",
        body=access.Login,
        result=access.Session,
        envelope=False,
        gate="public",
        also=("AUTH_INVALID",),
    ),
    Offer(
        id="auth.logout",
        method="POST",
        path="/api/auth/logout",
        summary="End the session at once",
        result=access.Done,
        envelope=False,
        gate="session",
    ),
    Offer(
        id="keys.create",
        method="POST",
        path="/api/keys",
        summary="Create an API key; it is shown once",
        body=access.NewKey,
        result=access.CreatedKey,
        envelope=False,
        gate="session",
    ),
    Offer(
        id="keys.list",
        path="/api/keys",
        summary="List the caller's API keys",
        result=access.KeyList,
        envelope=False,
        gate="session",
    ),
    Offer(
        id="keys.revoke",
        method="DELETE",
        path="/api/keys",
        summary="Revoke an API key at once",
        parameters=queries.OfPrefix,
        result=access.Done,
        envelope=False,
        gate="session",
        also=("NOT_FOUND",),
    ),
    Offer(
        id="keys.rotate",
        method="POST",
        path="/api/keys/rotate",
        summary="Replace an API key; the old one dies after a grace",
        body=access.RotateKey,
        result=access.CreatedKey,
        envelope=False,
        gate="session",
        also=("NOT_FOUND",),
    ),
    Offer(
        id="receipts.get",
        path="/api/receipts/{id}",
        summary="A signed receipt of something the caller paid for",
        parameters=queries.OfReceipt,
        result=payment.SignedReceipt,
        envelope=False,
        gate="payer",
        also=("NOT_FOUND", "PAYMENT_PENDING"),
    ),
    Offer(
        id="receipts.list",
        path="/api/receipts",
        summary="List the caller's receipts, newest first",
        parameters=queries.ReceiptsQuery,
        result=payment.ReceiptList,
        envelope=False,
    ),
)
