"""The table of all coins and measures, and pages of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from service.clock import SECOND_MS, Clock
from service.market.factory import MarketData
from service.market.loading import raise_unavailable
from service.market.models import VENUE, CoinView
from service.market.plausibility.quarantine import QuarantineReport
from service.sentiment.service import SentimentService
from service.table.rows import RowInputs, build_rows
from service.verdict.grading import CoinGrader
from service.wire.coins import ALWAYS, CoinRow, Coins, CoinsQuery, SelectedCoins
from service.wire.cursor import Cursors, Filters
from service.wire.envelope import Answer
from service.wire.market import PageMeta

ROUTE: Final = "coins"

_ASCENDING: Final = frozenset({"rank", "symbol", "name"})
"""Fields whose usual order is ascending."""

_TEXT: Final = frozenset({"symbol", "name"})


class _TableCache(NamedTuple):
    """Rows, and what they were made of: they hold while these are the same objects and revisions."""

    view: Mapping[str, CoinView]
    revisions: tuple[object, ...]
    rows: Mapping[str, CoinRow]


class CoinTable:
    """The present row of every coin. Rows are rebuilt when their inputs change, or a second after the last build.

    Args:
        clock: Ages are judged by it.
        market: Quotes, charts, regimes, funding, market caps and categories.
        sentiment: Stances.
        cursors: Writes and reads cursors of pages.
    """

    def __init__(
        self,
        clock: Clock,
        market: MarketData,
        sentiment: SentimentService,
        cursors: Cursors,
    ) -> None:
        self._clock = clock
        self._market = market
        self._sentiment = sentiment
        self._cursors = cursors
        self._grader = CoinGrader(clock, market)
        self._built = _TableCache({}, (), {})
        self._of_coins: tuple[tuple[object, ...], Mapping[str, Sequence[str]]] = ((), {})

    def rows(self) -> Mapping[str, CoinRow]:
        """The row of every listed coin by ticker, in the order of rank: the same object while nothing changes.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no coin is known.
        """
        market, now_ms = self._market, self._clock.now_ms()
        view, state = market.coins.view(), market.coins.state
        if not view:
            raise_unavailable(VENUE, state.failure, "prices")
        built = self._built
        revisions = (
            now_ms // SECOND_MS,
            state.revision,
            market.daily_report.current.revision,
            market.quarantine.current.revision,
            market.categories.revisions,
            market.momentum.revision,
            self._sentiment.revision,
        )
        if built.view is not view or built.revisions != revisions:
            held_back = (market.quarantine.current.value or QuarantineReport()).now
            sources = RowInputs(
                now_ms,
                view,
                state,
                frozenset((held.coin, held.field) for held in held_back),
                market.gecko_coins(),
                {symbol: self._sentiment.mood(symbol) for symbol in view},
                self._categories(),
            )
            self._built = _TableCache(view, revisions, build_rows(sources, self._grader))
        return self._built.rows

    def as_of_ms(self, symbols: Sequence[str]) -> int | None:
        """The oldest observation among prices and funding of some coins (of all, if none are given).

        Null where no price and no funding is known.
        """
        view = self._market.coins.view()
        seen = [view[symbol] for symbol in symbols or view]
        times = [at_ms for coin in seen for at_ms in (coin.price_ms, coin.funding_ms) if at_ms is not None]
        return min(times, default=None)

    def coins(self, query: CoinsQuery) -> Answer:
        """A page of the table.

        Returns:
            The coins asked for, ordered by the field; unknown values last, equal values by ticker. As of the oldest
            price or funding rate of the coins shown, or of all coins if none is shown.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` or `UNKNOWN_CATEGORY` with candidates; `BAD_REQUEST` for a cursor;
                `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where no prices are known, or the coins of the category.
        """
        rows, filters = self.rows(), _filters(query)
        start = 0 if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)[0]
        found = self._ordered(rows, query)
        page = found[start : start + query.limit]
        end = start + len(page)
        cursor = self._cursors.write(ROUTE, filters, (end, 0)) if end < len(found) else None
        as_of_ms = self.as_of_ms([row.symbol for row in page])
        if as_of_ms is None:
            raise_unavailable(VENUE, self._market.coins.state.failure, "prices")
        meta = PageMeta(len(found), cursor)
        if query.fields is None:
            return Answer(Coins(page, meta), as_of_ms)
        return Answer(SelectedCoins([_select(row, query.fields.split(",")) for row in page], meta), as_of_ms)

    def _ordered(self, rows: Mapping[str, CoinRow], query: CoinsQuery) -> list[CoinRow]:
        """All rows that the filters let through, in order."""
        market = self._market
        named = query.symbols and {market.coins.find(symbol) for symbol in query.symbols.split(",")}
        members = query.category and frozenset(market.categories.members(query.category))
        wanted = [
            row
            for row in rows.values()
            if (not named or row.symbol in named)
            and (members is None or row.symbol in members)
            and query.trend in {None, row.trend_daily}
            and query.verdict in {None, row.verdict}
            and (query.min_volume is None or (row.volume_24h_usd or -1.0) >= query.min_volume)
        ]
        is_descending = query.order == "desc" or (query.order is None and query.sort not in _ASCENDING)
        known = [row for row in wanted if getattr(row, query.sort) is not None]
        known.sort(key=lambda row: row.symbol)
        known.sort(key=_key(query.sort), reverse=is_descending)
        return known + sorted((row for row in wanted if getattr(row, query.sort) is None), key=lambda row: row.symbol)

    def _categories(self) -> Mapping[str, Sequence[str]]:
        """Names of each coin's categories by ticker, the largest first."""
        categories, view = self._market.categories, self._market.coins.view()
        key = (categories.revisions, tuple(view))
        if self._of_coins[0] != key:
            names: dict[str, list[str]] = {}
            for name, symbols in categories.memberships().items():
                for symbol in symbols:
                    names.setdefault(symbol, []).append(name)
            self._of_coins = key, names
        return self._of_coins[1]


def _key(field: str) -> Callable[[CoinRow], Any]:
    if field in _TEXT:
        return lambda row: getattr(row, field).casefold()
    return lambda row: getattr(row, field)


def _filters(query: CoinsQuery) -> Filters:
    """What a cursor is bound to: everything but the size of the page and the fields."""
    return {
        "sort": query.sort,
        "order": query.order,
        "category": query.category,
        "trend": query.trend,
        "verdict": query.verdict,
        "min_volume": query.min_volume,
        "symbols": None if query.symbols is None else query.symbols.upper(),
    }


def _select(row: CoinRow, fields: Sequence[str]) -> dict[str, object]:
    """The fields of a row that are asked for."""
    chosen = [name for name in fields if name not in ALWAYS]
    stale = [name for name in row.stale_fields if name in chosen]
    return {"symbol": row.symbol, **{name: getattr(row, name) for name in chosen}, "_stale_fields": stale}
