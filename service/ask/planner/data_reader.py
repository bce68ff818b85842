"""What one query reads: the coin table, the stored history and the data routes' services, with what was used."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from service.access.caller import Caller
from service.ask.data_services import Toolbox, path_of
from service.ask.query import Subject
from service.clock import DAY_MS, HOUR_MS, Clock, iso
from service.market.models import CoinView
from service.market.past_prices import PastPrice
from service.market.sources.coingecko import PastCap
from service.table.daily import DailyHistory, PastBar, PastVerdict
from service.table.history import PastFunding
from service.wire.ask import Source
from service.wire.coins import CoinRow
from service.wire.verdict import CoinVerdict

MARKET: Final = "market"
"""Id of the market as a subject."""

NO_VERDICT: Final = "insufficient-evidence"
"""The verdict of a coin of which too little is known."""

FEW: Final = 20
"""Most coins for which a query reads hourly series."""


class CoinTableReader(Protocol):
    """The coin table: `service.table.coins.CoinTable`."""

    def rows(self) -> Mapping[str, CoinRow]:
        """The row of every listed coin by ticker."""

    def as_of_ms(self, symbols: Sequence[str]) -> int | None:
        """The oldest price or funding rate of some coins."""


class History(Protocol):
    """The stored history: `service.table.history.CoinHistory`."""

    async def daily(self) -> DailyHistory:
        """All closed days."""

    async def today(self, symbol: str) -> PastBar | None:
        """The bar of the present UTC day so far."""

    async def hourly(self, symbol: str, since_ms: int) -> list[PastBar]:
        """Closed hours, oldest first."""

    async def prices(self, symbols: Sequence[str], at_ms: int, *, is_distant: bool) -> dict[str, PastPrice]:
        """The last price known at an instant, an hour or a day older at most."""

    async def funding(self, symbol: str, since_ms: int, until_ms: int) -> PastFunding:
        """Funding paid in (since, until]."""

    async def verdict(self, symbol: str, at_ms: int) -> PastVerdict | None:
        """The verdict at an instant."""

    async def market_caps(self, symbol: str, since_ms: int, until_ms: int) -> list[PastCap]:
        """Market caps in [since, until), USD."""


class Data(Struct, frozen=True):
    """Where queries read.

    Attributes:
        clock: Now.
        table: The coin table.
        history: Stored series and states.
        toolbox: Services of the data routes.
        members: Tickers of a category, the largest market cap first.
        categories: Names of all categories.
        fear_greed: The Fear & Greed index, 0 to 100, and when its day began; null: not known.
        verdicts: The present verdicts of tickers, as the signal route answers them.
        view: Current values of the venue's coins by ticker.
    """

    clock: Clock
    table: CoinTableReader
    history: History
    toolbox: Toolbox
    members: Callable[[str], Sequence[str]]
    categories: Callable[[], Sequence[str]]
    fear_greed: Callable[[], tuple[int, int] | None]
    verdicts: Callable[[Sequence[str]], Awaitable[Mapping[str, CoinVerdict]]]
    view: Callable[[], Mapping[str, CoinView]]


class DataReader:
    """What one query reads. Values are of one instant: `now_ms`.

    Args:
        data: Where it reads.
        caller: Who asks; null: nobody known.

    Attributes:
        sources: What was read, in order.
        stale: Fields that could not be refreshed.
        left_out: Ids of things that a total leaves out because their value is not known.
        others: Ids of the things that were read and are no coins: real-world assets and categories.
        closed_ms: Instants of the past at which prices were asked for, to those of the closes that were read.
        as_of_ms: The oldest observation of all sources.
        counted: Whether a route that was asked counts what it found.
    """

    def __init__(self, data: Data, caller: Caller | None) -> None:
        self.data = data
        self.history = data.history
        self.now_ms = data.clock.now_ms()
        self.today_ms = self.now_ms // DAY_MS * DAY_MS
        self.sources: dict[Source, None] = {}
        self.stale: dict[str, None] = {}
        self.left_out: dict[str, None] = {}
        self.others: set[str] = set()
        self.closed_ms: dict[int, set[int]] = {}
        self.as_of_ms: int | None = None
        self.counted = False
        self._caller = caller
        self._rows: dict[str, Any] = {}
        self._daily: DailyHistory | None = None

    def use(self, tool: str, args: Mapping[str, Any], as_of_ms: int | None, *, counted: bool = True) -> None:
        """Add a source. What its route would not count is not counted here either."""
        self.counted = self.counted or counted
        self.as_of_ms = min((at_ms for at_ms in (self.as_of_ms, as_of_ms) if at_ms is not None), default=None)
        self.sources[Source(tool, path_of(tool, args), None if as_of_ms is None else iso(as_of_ms))] = None

    def rows(self) -> Mapping[str, Any]:
        """The rows of the coin table by ticker, with real-world assets and categories that were read."""
        if not self._rows:
            self._rows.update(self.data.table.rows())
        return self._rows

    def coins(self) -> set[str]:
        """Tickers of all listed coins."""
        return self.rows().keys() - self.others

    def has_others(self, ids: Sequence[str]) -> bool:
        """Whether some of these are no coins."""
        return not self.others.isdisjoint(ids)

    def column(self, column: str, ids: Sequence[str]) -> dict[str, Any]:
        """The present values of a column, null where not known."""
        found = {id_: row for id_ in ids if (row := self.rows().get(id_)) is not None}
        coins = [id_ for id_ in found if id_ not in self.others]
        if coins:
            self.use("coins", {}, self.data.table.as_of_ms(coins))
        if any(column in row.stale_fields and getattr(row, column, None) is not None for row in found.values()):
            self.stale[column] = None
        values = {id_: getattr(found.get(id_), column, None) for id_ in ids}
        return {id_: None if value == NO_VERDICT else value for id_, value in values.items()}

    async def daily(self) -> DailyHistory:
        """The closed days; the same object for the whole query."""
        if self._daily is None:
            self._daily = await self.history.daily()
        self.use("history", {}, None if self._daily.last_ms is None else self._daily.last_ms + DAY_MS)
        return self._daily

    async def hourly(self, symbol: str, since_ms: int) -> list[PastBar]:
        """Closed hours that opened at an instant or later, oldest first."""
        hours = await self.history.hourly(symbol, since_ms)
        self.use("history", {}, hours[-1].open_ms + HOUR_MS if hours else None)
        return hours

    async def prices(self, symbols: Sequence[str], at_ms: int, *, is_distant: bool = True) -> dict[str, float]:
        """The last prices known at an instant of the past, a day older at most, or an hour."""
        found = await self.history.prices(symbols, at_ms, is_distant=is_distant)
        if found:
            self.use("history", {}, min(price.at_ms for price in found.values()))
            self.closed_ms.setdefault(at_ms, set()).update(price.at_ms for price in found.values())
        return {symbol: price.usd for symbol, price in found.items()}

    async def funding(self, symbol: str, since_ms: int, until_ms: int) -> PastFunding:
        """Funding paid in (since, until]."""
        paid = await self.history.funding(symbol, since_ms, until_ms)
        self.use("history", {}, paid.payments[-1].paid_ms if paid.payments else None)
        return paid

    async def market_caps(self, symbol: str, since_ms: int, until_ms: int) -> list[PastCap]:
        """Market caps in [since, until), USD."""
        caps = await self.history.market_caps(symbol, since_ms, until_ms)
        self.use("history", {}, caps[-1].at_ms if caps else None)
        return caps

    async def tool(self, tool: str, **args: Any) -> Any:
        """What the service of a data route answers, as plain objects.

        Raises:
            ServiceError: What the service raises.
        """
        answer = await self.data.toolbox.run(tool, args, self._caller)
        self.use(tool, args, answer.as_of_ms, counted=answer.counted)
        found = msgspec.json.decode(msgspec.json.encode(answer.data))
        self.stale.update(dict.fromkeys(found.get("_stale_fields", ())))
        return found

    async def subjects(self, subject: Subject) -> list[str]:
        """Ids of the things a query is about: tickers, ids of assets, or the market.

        Raises:
            ServiceError: `UNKNOWN_CATEGORY`, or what the service of an asset raises.
        """
        if subject.scope == "assets":
            return await self._assets(subject)
        if subject.scope == "coins":
            return list(subject.coins)
        if subject.scope == "category" and (subject.each or not subject.categories):
            return await self._categories(subject)
        if subject.scope not in {"all", "category"}:
            return [MARKET]
        within = [set(self.data.members(name)) for name in subject.categories]
        members = set.intersection(*within) if subject.together else set().union(*within)
        left_out = {symbol for name in subject.excluded_categories for symbol in self.data.members(name)}
        wanted = self.coins() & members if subject.categories else self.coins()
        return sorted(wanted - left_out - set(subject.excluded))

    async def _assets(self, subject: Subject) -> list[str]:
        """Read real-world assets as rows beside those of coins."""
        listed = subject.assets
        if not listed:
            args = {} if subject.asset_type is None else {"type": subject.asset_type}
            found = await self.tool("rwa.assets", **args, top=1_000)
            listed = tuple(asset["id"] for asset in found["assets"])
        for asset in listed:
            found = await self.tool("rwa.symbol", symbol=asset)
            self._add(asset, found, funding_apr=found["funding"]["apr"])
        return [asset for asset in listed if asset not in subject.excluded]

    async def _categories(self, subject: Subject) -> list[str]:
        """Read categories as rows beside those of coins."""
        listed = subject.categories or self.data.categories()
        names = [name for name in listed if name not in subject.excluded_categories]
        for name in names:
            found = await self.tool("category.info", name=name)
            self._add(name, found, volume_24h_usd=found["volume_24h"])
        return names

    def _add(self, id_: str, found: Mapping[str, Any], **columns: Any) -> None:
        self.rows()
        self.others.add(id_)
        self._rows[id_] = SimpleNamespace(**found, **columns, stale_fields=found.get("_stale_fields", ()))
