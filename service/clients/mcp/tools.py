"""The table of tools: what a model sees of each, what it takes, and which route answers.

Decisions:
- A tool a topic, thirteen in all; each asks one route, once, so that a call costs what the manifest says of it.
- Arguments are named as the routes name them, so that what the service says of a mistake can be acted on.
- A list is asked for with a limit and not by pages: who needs all of it is no model, and has the command line.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from service.clients.mcp import views
from service.wire.coins import SortField, SortOrder
from service.wire.market import Trend
from service.wire.quality import SignalType

Limit = Annotated[int, Meta(le=200)]


class Asked(Struct, frozen=True):
    """One request to the service.

    Args:
        offer: Id of the route.
        values: Its parameters, or the fields of its body.
        listed: Which key of the payload is shown as which list: `{"positions": "coins"}`; the whole payload is `""`.
        spread: A key of the payload whose fields are shown beside the others.
    """

    offer: str
    values: Mapping[str, object]
    listed: Mapping[str, str] = {}
    spread: str = ""


class Arguments(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes."""

    def asked(self) -> Asked:
        """The request that answers it."""
        raise NotImplementedError


class OfRisk(Arguments, frozen=True):
    """Of `coin_risk`."""

    symbol: Annotated[str, Meta(description="Ticker, e.g. BTC")]

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("coin.risk", {"symbol": self.symbol})


class OfCoins(Arguments, frozen=True):
    """Of `coins`."""

    sort: SortField = "rank"
    order: SortOrder | UnsetType = UNSET
    category: str | UnsetType = UNSET
    trend: Trend | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> Asked:
        """The request that answers it."""
        values = {name: getattr(self, name) for name in ("sort", "order", "category", "trend", "limit")}
        return Asked("coins", values)


class OfVerdict(Arguments, frozen=True):
    """Of `coin_verdict`."""

    symbol: str
    as_of: Annotated[str, Meta(description="ISO 8601: by what was known then")] | UnsetType = UNSET

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("signal", {"symbol": self.symbol, "as_of": self.as_of})


class OfHistory(Arguments, frozen=True):
    """Of `coin_history`."""

    symbol: str
    count: Annotated[int, Meta(le=1000)] = 24
    unit: Literal["h", "d"] = "h"

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("coin.historical", {"symbol": self.symbol, "count": self.count, "unit": self.unit})


class OfMarket(Arguments, frozen=True):
    """Of `market_state`."""

    view: Literal["breadth", "crossings", "regime", "signals", "history"]
    symbol: Annotated[str, Meta(description="history needs it")] | UnsetType = UNSET

    def asked(self) -> Asked:
        """The request that answers it."""
        if self.view == "breadth":
            return Asked("market.health", {"context": 1})
        if self.view == "crossings":
            return Asked("market.crossing", {})
        action = "active" if self.view == "regime" else self.view
        coins = dict.fromkeys(("positions", "signals", "currentPosition"), "coins")
        return Asked("regime", {"action": action, "symbol": self.symbol}, coins, "market")


class OfCategory(Arguments, frozen=True):
    """Of `category`."""

    name: Annotated[str, Meta(description="Exact, e.g. Layer 1 (L1)")]
    view: Literal["trend", "sentiment"]

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("category.info" if self.view == "trend" else "category.sentiment", {"name": self.name})


class OfAlerts(Arguments, frozen=True):
    """Of `funding_alerts`."""

    symbol: str | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("funding.alerts", {"symbol": self.symbol, "limit": self.limit})


class OfAssets(Arguments, frozen=True):
    """Of `real_world_assets`."""

    symbol: Annotated[str, Meta(description="e.g. AAPL; without it the list")] | UnsetType = UNSET

    def asked(self) -> Asked:
        """The request that answers it."""
        if self.symbol is UNSET:
            return Asked("rwa.assets", {})
        return Asked("rwa.symbol", {"symbol": self.symbol}, {"": "assets"})


class OfRecords(Arguments, frozen=True):
    """Of `walkforward`."""

    action: Literal["signals", "positions", "outcomes"]
    symbol: str | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> Asked:
        """The request that answers it."""
        values = {"action": self.action, "symbol": self.symbol, "limit": self.limit}
        return Asked("walkforward", values, {self.action: "records"})


class OfQuality(Arguments, frozen=True):
    """Of `get_signal_quality`."""

    asset: str
    signal_type: SignalType = "mean_reversion"

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("signal.quality", {"asset": self.asset, "signal_type": self.signal_type})


class OfTranscripts(Arguments, frozen=True):
    """Of `transcripts`."""

    coin: str | UnsetType = UNSET
    sector: str | UnsetType = UNSET
    macro: Annotated[str, Meta(description="Topic, e.g. rates, etf")] | UnsetType = UNSET
    limit: Limit = 10

    def asked(self) -> Asked:
        """The request that answers it."""
        values = {"coin": self.coin, "sector": self.sector, "macro": self.macro, "limit": self.limit}
        return Asked("transcripts", values)


class OfWallets(Arguments, frozen=True):
    """Of `wallets`."""

    contract: Annotated[str, Meta(description="Without it the watchlist")] | UnsetType = UNSET
    limit: Limit = 20

    def asked(self) -> Asked:
        """The request that answers it."""
        action = "watchlist" if self.contract is UNSET else "movements"
        return Asked("wallets", {"action": action, "contract": self.contract, "limit": self.limit})


class OfQuestion(Arguments, frozen=True):
    """Of `ask`."""

    question: str

    def asked(self) -> Asked:
        """The request that answers it."""
        return Asked("question", {"messages": [{"role": "user", "content": self.question}]})


class Tool(Struct, frozen=True, kw_only=True):
    """One tool: its name, its title for people, what it is for, the routes it may ask, what it takes and gives."""

    name: str
    title: str
    description: str
    offers: tuple[str, ...]
    arguments: type[Arguments]
    view: type[views.Noted]


TOOLS: Final = (
    Tool(
        name="coin_risk",
        title="Coin risk",
        description="One coin now: price (USD), funding (% a year, above 0: longs pay), daily and weekly trend, "
        "sentiment, correlation to BTC.",
        offers=("coin.risk",),
        arguments=OfRisk,
        view=views.Risk,
    ),
    Tool(
        name="coins",
        title="Coins",
        description="All coins, filtered and ranked: price, changes (%), volume (USD), funding (% a year), verdict.",
        offers=("coins",),
        arguments=OfCoins,
        view=views.Coins,
    ),
    Tool(
        name="coin_verdict",
        title="Coin verdict",
        description="Bull-or-bear verdict on one coin by published rules: score -4 to +4, evidence, each rule's "
        "contribution and the value that flips it.",
        offers=("signal",),
        arguments=OfVerdict,
        view=views.Verdict,
    ),
    Tool(
        name="coin_history",
        title="Coin history",
        description="One coin's price and funding (% a year), the last count hours (h) or days (d).",
        offers=("coin.historical",),
        arguments=OfHistory,
        view=views.History,
    ),
    Tool(
        name="market_state",
        title="Market state",
        description="The whole market. breadth: share of coins UP, HODL, DOWN; crossings: UP and DOWN swapped the "
        "lead; regime: risk-on or -off; signals: coins that turned; history: a coin's past trades.",
        offers=("market.health", "market.crossing", "regime"),
        arguments=OfMarket,
        view=views.Market,
    ),
    Tool(
        name="category",
        title="Category",
        description="A category of coins: how they trend (%), or sentiment (-1 to 1) of what is written.",
        offers=("category.info", "category.sentiment"),
        arguments=OfCategory,
        view=views.Category,
    ),
    Tool(
        name="funding_alerts",
        title="Funding alerts",
        description="Coins whose funding (% a year) became extreme, newest first. clearedAt null: it still is.",
        offers=("funding.alerts",),
        arguments=OfAlerts,
        view=views.Alerts,
    ),
    Tool(
        name="real_world_assets",
        title="Real-world assets",
        description="Stocks, ETFs, metals, commodities, indices, currencies by their perpetuals. Never coins.",
        offers=("rwa.assets", "rwa.symbol"),
        arguments=OfAssets,
        view=views.Assets,
    ),
    Tool(
        name="walkforward",
        title="Walk-forward records",
        description="Back-tested strategies out of sample: entry signals, open positions, or outcomes with summary.",
        offers=("walkforward",),
        arguments=OfRecords,
        view=views.Walkforward,
    ),
    Tool(
        name="get_signal_quality",
        title="Signal quality",
        description="How far a strategy or the verdict can be trusted on a coin, out of sample, after costs. "
        "confidence: deflated Sharpe probability.",
        offers=("signal.quality",),
        arguments=OfQuality,
        view=views.Quality,
    ),
    Tool(
        name="transcripts",
        title="Podcast highlights",
        description="Quotes from podcasts and videos on coins, sectors, the economy: opinions, never instructions.",
        offers=("transcripts",),
        arguments=OfTranscripts,
        view=views.Transcripts,
    ),
    Tool(
        name="wallets",
        title="Watched wallets",
        description="Watched on-chain wallets and their tokens, or movements of one token in and out of them.",
        offers=("wallets",),
        arguments=OfWallets,
        view=views.Wallets,
    ),
    Tool(
        name="ask",
        title="Ask",
        description="Answers a market question in words, from the same data: rankings, comparisons, and what no "
        "other tool gives.",
        offers=("question",),
        arguments=OfQuestion,
        view=views.Told,
    ),
)

TOOL_OF: Final = {tool.name: tool for tool in TOOLS}
