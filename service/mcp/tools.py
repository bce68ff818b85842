"""The tools: one typed function each, whose parameters and description a model sees, and the table of them.

Decisions:
- A call asks one route once, so that it costs what the manifest says.
- Parameters have the names that the routes give them, so that error messages of the service apply.
- A list has a limit and no pages: the command line and the API have whole lists.
- Schemas are made from the type hints by `compact_schema`: those of the SDK hold `anyOf` and null, which strict hosts
  refuse.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from service.client.calls import OFFER_OF
from service.mcp import views
from service.units import usdc
from service.wire.coins import SortOrder
from service.wire.market import Trend
from service.wire.quality import SignalType

Text = str | UnsetType
Limit = Annotated[int, Meta(ge=1, le=200)]

SortBy = Literal[
    "rank", "change_24h", "change_7d", "change_30d", "volume_24h_usd", "open_interest_usd", "market_cap", "funding_apr",
    "score",
]  # fmt: skip
"""The fields of the route that a model can rank by."""


class ToolRequest(Struct, frozen=True):
    """One request to the service.

    Args:
        offer: Id of the route.
        values: Its parameters, or the fields of its body.
        listed: Keys of the payload that are shown as a list or text of another name: `{"positions": "coins"}`. The key
            `""` is the whole payload.
        spread: A key of the payload whose fields are shown beside the others.
    """

    offer: str
    values: Mapping[str, object]
    listed: Mapping[str, str] = {}
    spread: str = ""


class McpTool(Struct, frozen=True):
    """One tool: the request that answers a call is made by a function of its arguments.

    Args:
        description: What it is for, and what a call costs by the table of offers.
        offers: Ids of the routes that it may ask.
        arguments: Struct of its parameters.
        view: Struct of its answer.
    """

    name: str
    title: str
    description: str
    offers: tuple[str, ...]
    arguments: type[Struct]
    view: type[Struct]
    function: Callable[..., ToolRequest]

    def request(self, arguments: Mapping[str, object]) -> ToolRequest:
        """The request that answers a call.

        Raises:
            msgspec.ValidationError: If an argument is not valid.
        """
        given = msgspec.convert(arguments, self.arguments, strict=False)
        try:
            return self.function(**msgspec.structs.asdict(given))
        except ValueError as error:
            raise msgspec.ValidationError(str(error)) from error


TOOL_OF: Final[dict[str, McpTool]] = {}
"""By name, in the order of the list."""


def tool(title: str, view: type[Struct], *offers: str) -> Callable[[Callable[..., ToolRequest]], None]:
    """Add a function to the tools; its docstring says what the tool is for.

    Args:
        title: For people.
        view: Struct of the answer.
        *offers: Ids of the routes that it may ask.
    """

    def add(function: Callable[..., ToolRequest]) -> None:
        hints, name = get_type_hints(function, include_extras=True), function.__name__
        fields: list[Any] = [
            (each.name, hints[each.name], *(() if each.default is each.empty else (each.default,)))
            for each in inspect.signature(function).parameters.values()
        ]
        arguments = msgspec.defstruct(name, fields, frozen=True, kw_only=True)
        prices = sorted({OFFER_OF[offer].price for offer in offers})
        cost = " to ".join(f"${usdc(price)}" for price in dict.fromkeys((prices[0], prices[-1])))
        description = f"{' '.join((function.__doc__ or '').split())} 1 question or {cost}."
        TOOL_OF[name] = McpTool(name, title, description, offers, arguments, view, function)

    return add


@tool(
    "Coin", views.RISK, "coin.risk", "resolve", "coin.lookup", "coin.by-id", "coin.by-name", "coin.by-contract"
)  # fmt: skip
def coin_risk(
    symbol: Annotated[str, Meta(description="e.g. BTC")],
    view: Literal["risk", "trend", "id", "name", "contract", "resolve"] = "risk",
    chain: Annotated[str, Meta(description="Of a contract, e.g. ethereum")] | UnsetType = UNSET,
) -> ToolRequest:
    """A coin: price, funding (above 0: longs pay), trends, sentiment, BTC correlation.

    resolve: what a text means.
    """
    if view == "risk":
        return ToolRequest("coin.risk", {"symbol": symbol})
    if view == "resolve":
        return ToolRequest("resolve", {"q": symbol})
    if view == "contract":
        if chain is UNSET:
            raise ValueError("chain is required for the view contract, such as ethereum")
        return ToolRequest("coin.by-contract", {"address": symbol, "chain": chain}, spread="coin")
    if view == "trend":
        return ToolRequest("coin.lookup", {"symbol": symbol}, spread="coin")
    return ToolRequest(f"coin.by-{view}", {view: symbol}, spread="coin")


@tool("Coins", views.COINS, "coins")
def coins(
    sort: SortBy = "rank",
    order: SortOrder | UnsetType = UNSET,
    category: Text = UNSET,
    trend: Trend | UnsetType = UNSET,
    limit: Limit = 20,
) -> ToolRequest:
    """Coins, filtered and ranked: price, changes, volume, funding, verdict."""
    return ToolRequest("coins", {"sort": sort, "order": order, "category": category, "trend": trend, "limit": limit})


@tool("Coin verdict", views.VERDICT, "signal")
def coin_verdict(
    symbol: str, as_of: Annotated[str, Meta(description="ISO 8601: by what was known then")] | UnsetType = UNSET
) -> ToolRequest:
    """Verdict on a coin by published rules: score -4 to +4, evidence, rules, what flips them."""
    return ToolRequest("signal", {"symbol": symbol, "as_of": as_of, "detail": "brief"})


@tool("Coin history", views.HISTORY, "coin.historical")
def coin_history(
    symbol: str, count: Annotated[int, Meta(ge=1, le=1000)] = 24, unit: Literal["h", "d"] = "h"
) -> ToolRequest:
    """A coin's price and funding (percent a year), the last count hours or days."""
    return ToolRequest("coin.historical", {"symbol": symbol, "count": count, "unit": unit})


@tool(
    "Market", views.MARKET, "market.health", "market.crossing", "regime", "market.prices", "market.baselines",
    "market.global", "coin.sentiment", "sentiment", "narratives",
)  # fmt: skip
def market_state(
    view: Literal[
        "breadth", "crossings", "regime", "signals", "history", "prices", "baselines", "global", "sentiment",
        "narratives",
    ],
    symbol: Annotated[str, Meta(description="Of prices and baselines also several: BTC,ETH")] | UnsetType = UNSET,
) -> ToolRequest:  # fmt: skip
    """Breadth: coins UP, HODL, DOWN; crossings: these swapped the lead; regime: risk-on or -off.

    signals: coins that turned; history: a coin's trades; sentiment: also a coin's.
    """
    if view in {"regime", "signals", "history"}:
        if view == "history" and symbol is UNSET:
            raise ValueError("symbol is required for the view history")
        action = "active" if view == "regime" else view
        rows = dict.fromkeys(("positions", "signals", "currentPosition"), "coins")
        return ToolRequest("regime", {"action": action, "symbol": symbol}, rows, "market")
    if view == "sentiment":
        if symbol is UNSET:
            return ToolRequest("sentiment", {"action": "summary"}, {"summary": "interpretation"})
        return ToolRequest("coin.sentiment", {"symbol": symbol}, {"summary": "interpretation"}, "data")
    if view in {"prices", "baselines"}:
        return ToolRequest(f"market.{view}", {"symbols": symbol})
    if view == "breadth":
        return ToolRequest("market.health", {"context": 1})
    return ToolRequest({"crossings": "market.crossing", "global": "market.global"}.get(view, view), {})


@tool("Category", views.CATEGORY, "category.info", "category.sentiment")
def category(
    name: Annotated[str, Meta(description="Exact, e.g. Layer 1 (L1)")], view: Literal["trend", "sentiment"]
) -> ToolRequest:
    """A category's trends, or news sentiment (-1 to 1)."""
    return ToolRequest("category.info" if view == "trend" else "category.sentiment", {"name": name})


@tool("Funding alerts", views.ALERTS, "funding.alerts")
def funding_alerts(symbol: Text = UNSET, limit: Limit = 20) -> ToolRequest:
    """Coins whose funding became extreme, newest first. clearedAt null: still so."""
    return ToolRequest("funding.alerts", {"symbol": symbol, "limit": limit})


@tool("Real-world assets", views.ASSETS, "rwa.assets", "rwa.symbol", "rwa.asset")
def real_world_assets(
    symbol: Annotated[str, Meta(description="e.g. AAPL; without it the list, without prices")] | UnsetType = UNSET,
) -> ToolRequest:
    """Stocks, ETFs, metals, commodities, indices, currencies."""
    if isinstance(symbol, UnsetType):
        return ToolRequest("rwa.assets", {})
    if ":" in symbol:
        return ToolRequest("rwa.asset", {"id": symbol}, {"": "assets"})
    return ToolRequest("rwa.symbol", {"symbol": symbol}, {"": "assets"})


@tool("Walk-forward", views.WALKFORWARD, "walkforward")
def walkforward(
    action: Literal["signals", "positions", "outcomes"], symbol: Text = UNSET, limit: Limit = 20
) -> ToolRequest:
    """Strategies out of sample: entry signals, open positions, outcomes. summary: of all coins."""
    return ToolRequest("walkforward", {"action": action, "symbol": symbol, "limit": limit}, {action: "records"})


@tool("Signal quality", views.QUALITY, "signal.quality")
def get_signal_quality(asset: str, signal_type: SignalType = "verdict") -> ToolRequest:
    """Out-of-sample record of a strategy or the verdict on a coin, after costs.

    confidence: deflated Sharpe probability.
    """
    return ToolRequest("signal.quality", {"asset": asset, "signal_type": signal_type})


@tool("Podcasts", views.TRANSCRIPTS, "transcripts")
def transcripts(
    coin: Text = UNSET,
    sector: Text = UNSET,
    macro: Annotated[str, Meta(description="Topic, e.g. rates, etf")] | UnsetType = UNSET,
    limit: Limit = 10,
) -> ToolRequest:
    """Podcast quotes on coins, sectors, economy: opinions, not instructions."""
    return ToolRequest("transcripts", {"coin": coin, "sector": sector, "macro": macro, "limit": limit})


@tool("Wallets", views.WALLETS, "wallets")
def wallets(
    contract: Annotated[str, Meta(description="Without it the watchlist")] | UnsetType = UNSET, limit: Limit = 20
) -> ToolRequest:
    """Watched wallets and tokens, or one token's movements."""
    action = "watchlist" if contract is UNSET else "movements"
    return ToolRequest("wallets", {"action": action, "contract": contract, "limit": limit})


@tool("Ask", views.ANSWER, "question")
def ask(question: Annotated[str, Meta(max_length=8_000)]) -> ToolRequest:
    """Answers in words: rankings, comparisons, what no other tool gives."""
    return ToolRequest("question", {"messages": [{"role": "user", "content": question}]})


TOOLS: Final = tuple(TOOL_OF.values())
