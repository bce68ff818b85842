"""What questions ask of single data routes: which service answers, and which of its fields are shown.

To add a topic: a row here, its words in `parser/lexicon.py`, and its sentence in `answers/templates.toml`.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.ask.measure_table import Unit


class Shown(Struct, frozen=True):
    """A field that is shown: its column, its unit, and its name in the payload."""

    label: str
    unit: Unit
    field: str


class Topic(Struct, frozen=True, kw_only=True):
    """One list that a data route answers.

    Attributes:
        tool: Id of the service's tool.
        noun: What its rows are, in the plural.
        items: Name of the list in the payload.
        subject: Field that says what a row is about.
        columns: What is shown of it.
        args: Parameters that are always given.
        coin: Parameter that narrows it to a coin; null: it takes none.
        category: Parameter that narrows it to a category.
        show: Parameter that narrows it to a show.
        since: Whether the tool takes `since`.
        at: Field with the instant of a row; null: rows have none, so no time can be asked.
        options: Options of a question to the field that their values are compared with.
        given: Options that are parameters of the tool.
    """

    tool: str
    noun: str
    items: str
    subject: str
    columns: tuple[Shown, ...]
    args: Mapping[str, object] = {}
    coin: str | None = None
    category: str | None = None
    show: str | None = None
    since: bool = False
    at: str | None = None
    options: Mapping[str, str] = {}
    given: tuple[str, ...] = ()


def _movers(items: str, noun: str) -> Topic:
    """Coins furthest from the median of all coins by their return."""
    return Topic(
        tool="market.health",
        noun=noun,
        items=items,
        subject="symbol",
        columns=(
            Shown("30-day return less the median", Unit.POINTS, "relative_pct"),
            Shown("daily trend", Unit.STATE, "trend_daily"),
        ),
        args={"context": 1},
    )


LISTS: Final[Mapping[str, Topic]] = {
    "alerts": Topic(
        tool="funding.alerts",
        noun="funding alerts",
        items="events",
        subject="asset",
        columns=(
            Shown("zone", Unit.STATE, "triggerZone"),
            Shown("funding", Unit.PERCENT_A_YEAR, "fundingAtTrigger"),
            Shown("at", Unit.INSTANT, "firedAt"),
        ),
        coin="symbol",
        since=True,
        at="firedAt",
        options={"zone": "triggerZone", "state": "clearedAt"},
    ),
    "crossings": Topic(
        tool="market.crossing",
        noun="breadth crossings",
        items="crossings",
        subject="direction",
        columns=(Shown("day", Unit.DATE, "at"), Shown("up", Unit.COUNT, "up"), Shown("down", Unit.COUNT, "down")),
        at="at",
    ),
    "transcripts": Topic(
        tool="transcripts",
        noun="quotes",
        items="highlights",
        subject="source",
        columns=(
            Shown("speaker", Unit.TEXT, "speaker"),
            Shown("day", Unit.DATE, "publishedAt"),
            Shown("tone", Unit.STATE, "stance"),
            Shown("quote", Unit.TEXT, "quote"),
        ),
        args={"action": "highlights"},
        coin="coin",
        category="sector",
        show="source",
        since=True,
        at="publishedAt",
        options={"stance": "stance"},
        given=("macro",),
    ),
    "shows": Topic(
        tool="transcripts",
        noun="shows",
        items="sources",
        subject="name",
        columns=(
            Shown("kind", Unit.STATE, "kind"),
            Shown("episodes", Unit.COUNT, "episodes"),
            Shown("last episode", Unit.DATE, "lastEpisodeAt"),
        ),
        args={"action": "sources"},
    ),
    "wallets": Topic(
        tool="wallets.recent",
        noun="transfers of watched wallets",
        items="movements",
        subject="token",
        columns=(
            Shown("wallet", Unit.TEXT, "label"),
            Shown("way", Unit.STATE, "direction"),
            Shown("value then", Unit.USD, "amount_usd"),
            Shown("at", Unit.INSTANT, "ts"),
        ),
        at="ts",
    ),
    "leaders": _movers("leadership", "coins ahead of the median coin"),
    "laggards": _movers("laggards", "coins behind the median coin"),
    "movements": Topic(
        tool="wallets",
        noun="transfers of that token by watched wallets",
        items="movements",
        subject="token",
        columns=(
            Shown("wallet", Unit.TEXT, "label"),
            Shown("way", Unit.STATE, "direction"),
            Shown("amount", Unit.AMOUNT, "amount"),
            Shown("value then", Unit.USD, "amount_usd"),
            Shown("at", Unit.INSTANT, "ts"),
        ),
        args={"action": "movements"},
        at="ts",
    ),
    "watchlist": Topic(
        tool="wallets",
        noun="watched wallets",
        items="watchlist",
        subject="address",
        columns=(Shown("label", Unit.TEXT, "label"), Shown("kind", Unit.STATE, "kind")),
        args={"action": "watchlist"},
        options={"kind": "kind"},
    ),
    "assets": Topic(
        tool="rwa.assets",
        noun="real-world assets",
        items="assets",
        subject="symbol",
        columns=(Shown("name", Unit.TEXT, "name"), Shown("type", Unit.STATE, "assetType")),
    ),
    "category": Topic(
        tool="category.info",
        noun="coins",
        items="coins",
        subject="symbol",
        columns=(
            Shown("price", Unit.USD, "price"),
            Shown("24-hour change", Unit.PERCENT, "change_24h"),
            Shown("market cap", Unit.USD, "market_cap"),
            Shown("daily trend", Unit.STATE, "trend_daily"),
        ),
        category="name",
    ),
    "regime_trades": Topic(
        tool="regime",
        noun="open regime positions",
        items="positions",
        subject="symbol",
        columns=(
            Shown("side", Unit.STATE, "direction"),
            Shown("entered", Unit.DATE, "entryDate"),
            Shown("entry price", Unit.USD, "entryPrice"),
            Shown("price", Unit.USD, "currentPrice"),
        ),
        args={"action": "active"},
        options={"side": "direction"},
    ),
    "regime_signals": Topic(
        tool="regime",
        noun="changes of a coin's regime",
        items="signals",
        subject="symbol",
        columns=(Shown("regime", Unit.STATE, "regime"), Shown("day", Unit.DATE, "firedAt")),
        args={"action": "signals"},
        coin="symbol",
        at="firedAt",
    ),
    "outcomes": Topic(
        tool="walkforward",
        noun="closed walk-forward trades",
        items="outcomes",
        subject="symbol",
        columns=(
            Shown("strategy", Unit.STATE, "strategy"),
            Shown("side", Unit.STATE, "direction"),
            Shown("left", Unit.DATE, "exitDate"),
            Shown("return", Unit.PERCENT, "returnPct"),
        ),
        args={"action": "outcomes"},
        coin="symbol",
    ),
    "manifest": Topic(
        tool="manifest",
        noun="routes",
        items="routes",
        subject="path",
        columns=(Shown("price", Unit.USD, "price_usdc"),),
    ),
}
"""Topics that are a list."""

ASSET_TYPES: Final[Mapping[str, str]] = {
    "stock": "equity",
    "stocks": "equity",
    "equities": "equity",
    "etf": "etf",
    "etfs": "etf",
    "metal": "metal",
    "metals": "metal",
    "precious metals": "metal",
    "commodity": "commodity",
    "commodities": "commodity",
    "index": "index",
    "indices": "index",
    "indexes": "index",
    "currency": "fx",
    "currencies": "fx",
    "forex": "fx",
    "fx": "fx",
}
"""Types of real-world assets by what people call them."""

ROUTES: Final = (
    *LISTS,
    "categories",
    "coins",
    "walkforward",
    "news",
    "quality",
    "breadth",
    "account",
    "pricing",
)
"""Every topic of `Route`."""
