"""The table of tools: what a model sees of each, what it takes, and which route answers.

Decisions:
- A tool a topic, thirteen in all; each asks one route, once, so that a call costs what the manifest says of it.
- ToolArguments are named as the routes name them, so that what the service says of a mistake can be acted on.
- A list is asked for with a limit and not by pages: who needs all of it is no model, and has the command line.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from service.mcp import views
from service.wire.coins import SortOrder
from service.wire.market import Trend
from service.wire.quality import SignalType

Limit = Annotated[int, Meta(le=200)]

SortBy = Literal[
    "rank", "change_24h", "change_7d", "change_30d", "volume_24h_usd", "open_interest_usd", "market_cap", "funding_apr",
    "score",
]  # fmt: skip
"""Those of the route's fields that a ranking is asked for by."""


class ToolRequest(Struct, frozen=True):
    """One request to the service.

    Args:
        offer: Id of the route.
        values: Its parameters, or the fields of its body.
        listed: Which key of the payload is shown as which list or text: `{"positions": "coins"}`; the whole payload is
            `""`.
        spread: A key of the payload whose fields are shown beside the others.
    """

    offer: str
    values: Mapping[str, object]
    listed: Mapping[str, str] = {}
    spread: str = ""


class ToolArguments(Struct, frozen=True, kw_only=True):
    """What a tool takes. By default the fields are the parameters of one route, `offer`."""

    offer: ClassVar[str] = ""

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        return ToolRequest(self.offer, asdict(self))


class OfRisk(ToolArguments, frozen=True):
    """Of `coin_risk`."""

    symbol: Annotated[str, Meta(description="e.g. BTC")]
    view: Literal["risk", "trend", "id", "name", "contract", "resolve"] = "risk"
    chain: str | UnsetType = UNSET

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        text = self.symbol
        if self.view == "resolve":
            return ToolRequest("resolve", {"q": text})
        if self.view == "contract":
            return ToolRequest("coin.by-contract", {"address": text, "chain": self.chain}, spread="coin")
        if self.view in {"id", "name"}:
            return ToolRequest(f"coin.by-{self.view}", {self.view: text}, spread="coin")
        if self.view == "trend":
            return ToolRequest("coin.lookup", {"symbol": text}, spread="coin")
        return ToolRequest("coin.risk", {"symbol": text})


class OfCoins(ToolArguments, frozen=True):
    """Of `coins`."""

    offer = "coins"
    sort: SortBy = "rank"
    order: SortOrder | UnsetType = UNSET
    category: str | UnsetType = UNSET
    trend: Trend | UnsetType = UNSET
    limit: Limit = 20


class OfVerdict(ToolArguments, frozen=True):
    """Of `coin_verdict`."""

    offer = "signal"
    symbol: str
    as_of: Annotated[str, Meta(description="ISO 8601: by what was known then")] | UnsetType = UNSET


class OfHistory(ToolArguments, frozen=True):
    """Of `coin_history`."""

    offer = "coin.historical"
    symbol: str
    count: Annotated[int, Meta(le=1000)] = 24
    unit: Literal["h", "d"] = "h"


class OfMarket(ToolArguments, frozen=True):
    """Of `market_state`."""

    view: Literal[
        "breadth", "crossings", "regime", "signals", "history", "prices", "baselines", "global", "sentiment",
        "narratives",
    ]  # fmt: skip
    symbol: str | UnsetType = UNSET

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        plain: dict[str, tuple[str, Mapping[str, object]]] = {
            "breadth": ("market.health", {"context": 1}),
            "crossings": ("market.crossing", {}),
            "global": ("market.global", {}),
            "prices": ("market.prices", {"symbols": self.symbol}),
            "baselines": ("market.baselines", {"symbols": self.symbol}),
            "narratives": ("narratives", {}),
        }
        if self.view in plain:
            return ToolRequest(*plain[self.view])
        if self.view == "sentiment":
            if self.symbol is UNSET:
                return ToolRequest("sentiment", {"action": "summary"}, {"summary": "interpretation"})
            return ToolRequest("coin.sentiment", {"symbol": self.symbol}, {"summary": "interpretation"}, "data")
        action = "active" if self.view == "regime" else self.view
        coins = dict.fromkeys(("positions", "signals", "currentPosition"), "coins")
        return ToolRequest("regime", {"action": action, "symbol": self.symbol}, coins, "market")


class CategoryArguments(ToolArguments, frozen=True):
    """Of `category`."""

    name: Annotated[str, Meta(description="Exact, e.g. Layer 1 (L1)")]
    view: Literal["trend", "sentiment"]

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        return ToolRequest("category.info" if self.view == "trend" else "category.sentiment", {"name": self.name})


class OfAlerts(ToolArguments, frozen=True):
    """Of `funding_alerts`."""

    offer = "funding.alerts"
    symbol: str | UnsetType = UNSET
    limit: Limit = 20


class OfAssets(ToolArguments, frozen=True):
    """Of `real_world_assets`."""

    symbol: Annotated[str, Meta(description="e.g. AAPL; without it the list")] | UnsetType = UNSET

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        if self.symbol is UNSET:
            return ToolRequest("rwa.assets", {})
        if ":" in self.symbol:
            return ToolRequest("rwa.asset", {"id": self.symbol}, {"": "assets"})
        return ToolRequest("rwa.symbol", {"symbol": self.symbol}, {"": "assets"})


class OfRecords(ToolArguments, frozen=True):
    """Of `walkforward`."""

    action: Literal["signals", "positions", "outcomes"]
    symbol: str | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        values = {"action": self.action, "symbol": self.symbol, "limit": self.limit}
        return ToolRequest("walkforward", values, {self.action: "records"})


class OfQuality(ToolArguments, frozen=True):
    """Of `get_signal_quality`."""

    offer = "signal.quality"
    asset: str
    signal_type: SignalType = "mean_reversion"


class OfTranscripts(ToolArguments, frozen=True):
    """Of `transcripts`."""

    offer = "transcripts"
    coin: str | UnsetType = UNSET
    sector: str | UnsetType = UNSET
    macro: Annotated[str, Meta(description="Topic, e.g. rates, etf")] | UnsetType = UNSET
    limit: Limit = 10


class OfWallets(ToolArguments, frozen=True):
    """Of `wallets`."""

    contract: Annotated[str, Meta(description="Without it the watchlist")] | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        action = "watchlist" if self.contract is UNSET else "movements"
        return ToolRequest("wallets", {"action": action, "contract": self.contract, "limit": self.limit})


class OfQuestion(ToolArguments, frozen=True):
    """Of `ask`."""

    question: str

    def asked(self) -> ToolRequest:
        """The request that answers it."""
        return ToolRequest("question", {"messages": [{"role": "user", "content": self.question}]})


class McpTool(Struct, frozen=True, kw_only=True):
    """One tool: its name, its title for people, what it is for, the routes it may ask, what it takes and gives."""

    name: str
    title: str
    description: str
    offers: tuple[str, ...]
    arguments: type[ToolArguments]
    view: type[Struct]


TOOLS: Final = (
    McpTool(
        name="coin_risk",
        title="Coin",
        description="A coin: price, funding (% a year, above 0: longs pay), trends, sentiment, BTC "
        "correlation. resolve: what a text means.",
        offers=("coin.risk", "resolve", "coin.lookup", "coin.by-id", "coin.by-name", "coin.by-contract"),
        arguments=OfRisk,
        view=views.RiskView,
    ),
    McpTool(
        name="coins",
        title="Coins",
        description="All coins, filtered and ranked: price, changes (%), volume (USD), funding (% a year), verdict.",
        offers=("coins",),
        arguments=OfCoins,
        view=views.CoinsView,
    ),
    McpTool(
        name="coin_verdict",
        title="Coin verdict",
        description="Bull-or-bear verdict on one coin by published rules: score -4 to +4, evidence, each rule's "
        "contribution and the value that flips it.",
        offers=("signal",),
        arguments=OfVerdict,
        view=views.VerdictView,
    ),
    McpTool(
        name="coin_history",
        title="Coin history",
        description="One coin's price and funding (% a year), the last count hours (h) or days (d).",
        offers=("coin.historical",),
        arguments=OfHistory,
        view=views.HistoryView,
    ),
    McpTool(
        name="market_state",
        title="Market",
        description="The market. breadth: coins UP, HODL, DOWN; crossings: these swapped the lead; regime: risk-on or "
        "-off; signals: coins that turned; history: a coin's trades; sentiment: also a coin's.",
        offers=(
            "market.health",
            "market.crossing",
            "regime",
            "market.prices",
            "market.baselines",
            "market.global",
            "coin.sentiment",
            "sentiment",
            "narratives",
        ),
        arguments=OfMarket,
        view=views.MarketView,
    ),
    McpTool(
        name="category",
        title="Category",
        description="A category of coins: how they trend (%), or news sentiment (-1 to 1).",
        offers=("category.info", "category.sentiment"),
        arguments=CategoryArguments,
        view=views.CategoryView,
    ),
    McpTool(
        name="funding_alerts",
        title="Funding alerts",
        description="Coins whose funding (% a year) became extreme, newest first. clearedAt null: it still is.",
        offers=("funding.alerts",),
        arguments=OfAlerts,
        view=views.FundingAlertsView,
    ),
    McpTool(
        name="real_world_assets",
        title="Real-world assets",
        description="Stocks, ETFs, metals, commodities, indices, currencies.",
        offers=("rwa.assets", "rwa.symbol", "rwa.asset"),
        arguments=OfAssets,
        view=views.AssetsView,
    ),
    McpTool(
        name="walkforward",
        title="Walk-forward",
        description="Back-tested strategies out of sample: entry signals, open positions, or outcomes with summary.",
        offers=("walkforward",),
        arguments=OfRecords,
        view=views.WalkforwardView,
    ),
    McpTool(
        name="get_signal_quality",
        title="Signal quality",
        description="How far to trust a strategy or the verdict on a coin, out of sample, after costs. "
        "confidence: deflated Sharpe probability.",
        offers=("signal.quality",),
        arguments=OfQuality,
        view=views.QualityView,
    ),
    McpTool(
        name="transcripts",
        title="Podcasts",
        description="Quotes from podcasts and videos on coins, sectors, the economy: opinions, never instructions.",
        offers=("transcripts",),
        arguments=OfTranscripts,
        view=views.TranscriptsView,
    ),
    McpTool(
        name="wallets",
        title="Wallets",
        description="Watched on-chain wallets with tokens, or movements of one token in and out.",
        offers=("wallets",),
        arguments=OfWallets,
        view=views.WalletsView,
    ),
    McpTool(
        name="ask",
        title="Ask",
        description="Answers a market question in words, from the same data: rankings, comparisons, what no "
        "other tool gives.",
        offers=("question",),
        arguments=OfQuestion,
        view=views.AnswerView,
    ),
)

TOOL_OF: Final = {tool.name: tool for tool in TOOLS}
