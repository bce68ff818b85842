"""The market as one document that all open pages share: the text of every tile and of every cell of the coin table.

It is made once in 15 seconds, however many pages ask, and costs its readers nothing.
"""

import hashlib
from asyncio import to_thread
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from service.errors import ServiceError
from service.market.models import MarketState
from service.market.plausibility.quarantine import WHOLE, QuarantineReport
from service.pages.coins import TITLES, CoinLists, TableCell, coin_lists, coins_csv, is_stale, number_cell
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage, compressed
from service.pages.route_client import RouteResult
from service.pages.wording import FILTERS, UNKNOWN
from service.wire.coins import Coins
from service.wire.envelope import encode
from service.wire.market import MarketHealth

KEPT_S: Final = 15.0
MOST_COINS: Final = 1_000
"""Most coins of the table."""

_SHARED: Final = b"public, max-age=5"
_MOODS: Final = ((25, "extreme fear"), (47, "fear"), (55, "neutral"), (75, "greed"))
_GREEDIEST: Final = "extreme greed"
_NAMED: Final = ("BTC", "ETH")

COINS_NAMED: Final = 5
"""How many quarantined coins a notice names."""


class Tile(Struct, frozen=True):
    """One figure of the market: its title, the figure, what stands beside it, and the page about it."""

    title: str
    figure: TableCell
    note: TableCell
    path: str


class Snapshot(Struct, frozen=True):
    """The market now.

    `quotes_ms` is the time of the newest prices (epoch milliseconds UTC); null while there are none. `coins` has the
    cells of each coin by ticker, in the order of `columns`. `notices` are what a reader must know before trusting it.
    """

    quotes_ms: int | None
    columns: Sequence[str]
    notices: Sequence[str]
    tiles: Mapping[str, Tile]
    coins: Mapping[str, Sequence[TableCell]]


Health = RouteResult[MarketHealth] | ServiceError


class SnapshotPage:
    """Shows the snapshot, and the coin table as CSV.

    Args:
        dependencies: What it reads.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """The snapshot, JSON.

        Raises:
            ServiceError: As the route of the coin table.
        """
        return await self._dependencies.cache.page("snapshot", self._make, KEPT_S)

    async def csv(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """The coin table, CSV.

        Raises:
            ServiceError: As the route of the coin table.
        """
        return await self._dependencies.cache.page("csv", self._make_csv, KEPT_S)

    async def _make(self) -> HtmlPage:
        dependencies = self._dependencies
        found = await dependencies.routes.ask("coins", Coins, limit=MOST_COINS)
        health = await dependencies.routes.try_ask("market.health", MarketHealth, context=1)
        state, quarantined = dependencies.coins.state, dependencies.quarantine.current.value
        fear_greed = dependencies.fear_greed()

        def made() -> HtmlPage:
            lists = coin_lists(found.data.coins, None)
            return _document(
                Snapshot(
                    state.quotes_ms,
                    TITLES,
                    notices(state, quarantined),
                    tiles(lists, health, fear_greed),
                    {row.coin.symbol: row.cells for row in lists.rows},
                )
            )

        return await to_thread(made)

    async def _make_csv(self) -> HtmlPage:
        found = await self._dependencies.routes.ask("coins", Coins, limit=MOST_COINS)
        page = HtmlPage(
            coins_csv(found.data.coins, found.as_of_ms), content_type=b"text/csv; charset=utf-8", cache_control=_SHARED
        )
        return compressed(page)


def tiles(lists: CoinLists, health: Health, fear_greed: tuple[int, int] | None) -> Mapping[str, Tile]:
    """The market in six figures, by their keys on the page.

    Args:
        lists: All coins.
        health: Breadth of the last closed day, or why it is not known.
        fear_greed: The Fear & Greed index, 0 to 100, and when its day began; null: not known.
    """
    coins = {row.coin.symbol: row.coin for row in lists.rows}
    made = {}
    for symbol in _NAMED:
        coin = coins.get(symbol)
        price = TableCell(UNKNOWN) if coin is None else number_cell(coin, "price", "price")
        change = TableCell(UNKNOWN) if coin is None else number_cell(coin, "change_24h")
        made[symbol] = Tile(symbol, price, replace(change, text=f"{change.text} 24 h"), f"/coin/{symbol}")
    known = [row.coin for row in lists.rows if row.coin.open_interest_usd is not None]
    stale = sum(is_stale(coin, "open_interest_usd") for coin in known)
    interest = TableCell(FILTERS["money"](lists.interest), lists.interest, stale=stale > 0)
    made["interest"] = Tile("Open interest", interest, TableCell(f"{len(known):,} coins{_stale(stale)}"), "/#coins")
    made["fear"] = _fear(fear_greed)
    stale = sum(is_stale(row.coin, "funding_apr") for row in lists.rows)
    mean = TableCell(FILTERS["rate"](lists.mean_apr), lists.mean_apr, stale=stale > 0)
    made["funding"] = Tile("Mean funding", mean, TableCell(f"a year{_stale(stale)}"), "/#funding")
    made["breadth"] = _breadth(health)
    return made


def _stale(coins: int) -> str:
    """How many coins of a sum or mean are stale."""
    return f", {coins:,} stale" if coins else ""


def _fear(index: tuple[int, int] | None) -> Tile:
    if index is None:
        return Tile("Fear & Greed", TableCell(UNKNOWN), TableCell("not known"), "/#breadth")
    word = next((word for bound, word in _MOODS if index[0] < bound), _GREEDIEST)
    return Tile("Fear & Greed", TableCell(str(index[0]), index[0]), TableCell(word), "/#breadth")


def _breadth(health: Health) -> Tile:
    if isinstance(health, ServiceError):
        return Tile("In a daily uptrend", TableCell(UNKNOWN), TableCell("not known yet"), "/#breadth")
    trends = health.data.trends
    note = TableCell(f"{trends.HODL} sideways, {trends.DOWN} down")
    return Tile("In a daily uptrend", TableCell(f"{trends.UP} of {health.data.universe}", trends.UP), note, "/#breadth")


def notices(state: MarketState, report: QuarantineReport | None, symbol: str | None = None) -> Sequence[str]:
    """What a reader must know before trusting the values of a page.

    Args:
        state: How the last refresh of quotes went.
        report: What failed the plausibility check; null if nothing ever did.
        symbol: The ticker that the page is about; null: all of them.

    Returns:
        Sentences; none if the first venue answers and no value is quarantined.
    """
    notices = []
    if state.failure is not None and state.venue is None:
        notices.append("The venue does not answer: prices and funding are the last that are known.")
    elif state.failure is not None:
        notices.append(f"The venue does not answer; {state.venue} stands in for it.")
    held = [value for value in report.now if symbol is None or value.coin in {symbol, WHOLE}] if report else []
    coins = sorted({value.coin for value in held})
    if WHOLE in coins:
        notices.append("The venue's newest answer failed the plausibility check. The last accepted values are shown.")
    elif coins:
        named = ", ".join(coins[:COINS_NAMED]) + (f" and {more} more" if (more := len(coins) - COINS_NAMED) > 0 else "")
        notices.append(
            f"New values of {named} failed the plausibility check. The last accepted ones are shown as stale."
        )
    return notices


def _document(snapshot: Snapshot) -> HtmlPage:
    body = encode(snapshot)
    page = compressed(HtmlPage(body, content_type=b"application/json", cache_control=_SHARED))
    return replace(page, etag=b'W/"%b"' % hashlib.sha256(body).hexdigest()[:24].encode())
