"""Answers about one coin: who it is and how it has trended."""

from typing import Final, Literal, NoReturn

from msgspec import Raw
from msgspec.structs import replace

from service.analytics.states import days_in_state
from service.clock import DAY_MS, Clock, iso
from service.errors import ServiceError
from service.lookup.chains import CHAINS, find_chain, normalized
from service.lookup.finder import Finder
from service.lookup.identities import KnownCoin, fold
from service.lookup.tokens import TOKEN_LIMITS
from service.market.categories.documents import UPSTREAM as GECKO
from service.market.categories.service import FIGURES
from service.market.daily_report.models import CoinRuns, RunOfDays
from service.market.factory import MarketData
from service.market.freshness import CHART, Freshness
from service.market.loading import raise_unavailable
from service.market.models import VENUE
from service.market.sources.coingecko import GeckoCoin
from service.table.coins import CoinTable
from service.units import Symbol
from service.wire.coins import (
    BandPosition,
    CoinIdentity,
    CoinLookup,
    CoinRow,
    CurrentTrend,
    CurrentWeeklyTrend,
    OfContract,
    TrendBands,
    TrendPeriod,
)
from service.wire.envelope import Answer, encode

_DECIMALS: Final = 4
_SIGNIFICANT: Final = 6
"""Digits of a computed price, such as a band."""

_WEEK: Final = 7
_CANDIDATES: Final = 5
_OF_RUNS: Final = ("trends", "average_streak", "currentTrend", "latestBands", "band_position")
"""Fields that follow the daily bars; `currentTrendWeekly` does too, where a week is known."""


class LookupService:
    """Looks coins up by ticker, id, name and contract.

    Args:
        clock: Judges ages.
        market: Trend runs, and CoinGecko's figures.
        table: Figures of the coins that are tracked.
        finder: Finds coins.
    """

    def __init__(self, clock: Clock, market: MarketData, table: CoinTable, finder: Finder) -> None:
        self._clock = clock
        self._market = market
        self._table = table
        self._finder = finder
        self._answers: dict[str, tuple[CoinRow, int, Answer]] = {}

    def by_symbol(self, symbol: str) -> Answer:
        """The coin with a ticker: one that is tracked, else the largest.

        Returns:
            `CoinLookup`, as of the price; without a price, as of the last bar.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no
                coin is known.
        """
        found = self._market.coins.directory.spelled(symbol)
        if found is not None:
            return self._tracked(found)
        others = self._finder.identities.by_ticker.get(symbol.upper(), ())
        return self._other(others[0]) if others else self._refuse(symbol, "ticker", "symbol")

    def by_id(self, coin_id: str) -> Answer:
        """The coin with an id of CoinGecko.

        Raises:
            ServiceError: As `by_symbol`.
        """
        coin = self._finder.identities.by_id.get(coin_id.casefold())
        return self._refuse(coin_id, "CoinGecko id", "id") if coin is None else self._known(coin)

    def by_name(self, name: str) -> Answer:
        """The coin with a name, whatever its case and punctuation; of several the tracked one, else the largest.

        Raises:
            ServiceError: As `by_symbol`.
        """
        found = self._finder.identities.by_name.get(fold(name), ())
        return self._known(found[0]) if found else self._refuse(name, "name", "name")

    def by_contract(self, query: OfContract) -> Answer:
        """The coin that a token contract belongs to.

        Returns:
            `CoinLookup` with `chain` and `contract`.

        Raises:
            ServiceError: `BAD_REQUEST` for a chain that is not known; `NOT_FOUND` for a contract that no coin has;
                `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` before contracts were read.
        """
        chain = find_chain(query.chain)
        if chain is None:
            raise ServiceError(
                "BAD_REQUEST",
                f"The chain {query.chain!r} is not known. Known chains: {', '.join(CHAINS)}.",
                details={"parameter": "chain", "allowed": list(CHAINS)},
            )
        tokens, now_ms = self._finder.documents.tokens.current, self._clock.now_ms()
        freshness = TOKEN_LIMITS.judge(tokens.observed_ms, now_ms)
        if tokens.value is None or freshness is Freshness.GONE:
            raise_unavailable(GECKO, tokens.failure, "contracts")
        address = normalized(query.address)
        token = next((token for place, token in self._finder.contracts.get(address, ()) if place == chain), None)
        if token is None:
            raise ServiceError("NOT_FOUND", f"No coin is known with the contract {query.address} on {chain}.")
        coin = self._finder.identities.by_id.get(token.id) or KnownCoin(
            token.id, token.ticker, token.name, tracked=False
        )
        lookup, as_of_ms = self._look_up(coin)
        stale = [*lookup.stale_fields, *(["contract"] if freshness is Freshness.STALE else [])]
        return Answer(replace(lookup, stale_fields=stale, contract=address, chain=chain), as_of_ms)

    def _known(self, coin: KnownCoin) -> Answer:
        return self._tracked(Symbol(coin.symbol)) if coin.tracked else self._other(coin)

    def _tracked(self, symbol: Symbol) -> Answer:
        row, revision = self._table.rows()[symbol], self._market.trend_runs.current.revision
        kept = self._answers.get(symbol)
        if kept is None or kept[0] is not row or kept[1] != revision:
            lookup, as_of_ms = self._describe(row)
            kept = self._answers[symbol] = row, revision, Answer(Raw(encode(lookup)), as_of_ms)
        return kept[2]

    def _other(self, coin: KnownCoin) -> Answer:
        return Answer(*self._look_up(coin))

    def _look_up(self, coin: KnownCoin) -> tuple[CoinLookup, int]:
        if coin.tracked:
            return self._describe(self._table.rows()[coin.symbol])
        figures = next((row for row in self._market.gecko_largest() if row.id == coin.id), None)
        return self._describe_other(coin, figures)

    def _describe(self, row: CoinRow) -> tuple[CoinLookup, int]:
        """A coin that is tracked."""
        now_ms, coin = self._clock.now_ms(), self._market.coins.view()[row.symbol]
        known = self._market.gecko_coins().get(row.symbol)
        runs = self._runs(coin.venue_symbol)
        freshness = CHART.judge(None if runs is None else runs.through_ms, now_ms)
        if runs is None or freshness is Freshness.GONE:
            runs = None
        if coin.price_ms is None and runs is None:
            raise_unavailable(VENUE, self._market.coins.state.failure, f"prices of {row.symbol}")
        renamed = {"price": "price", "change_24h": "change_24h_pct", "market_cap": "marketCap"}
        stale = [renamed[field] for field in row.stale_fields if field in renamed]
        if runs is None or freshness is Freshness.STALE:
            stale += [*_OF_RUNS, "currentTrendWeekly"]
        elif runs.weekly is None:
            stale.append("currentTrendWeekly")
        lookup = CoinLookup(
            CoinIdentity(
                None if known is None else known.id,
                row.symbol,
                row.name,
                row.market_cap,
                row.price,
                row.change_24h,
                row.rank,
            ),
            *_trends(runs, row.price),
            {span: at for span, at in row.changes_from.items() if span == "24h"},
            stale,
        )
        return lookup, coin.price_ms if coin.price_ms is not None else runs.through_ms if runs is not None else now_ms

    def _describe_other(self, coin: KnownCoin, figures: GeckoCoin | None) -> tuple[CoinLookup, int]:
        """A coin that is not tracked: CoinGecko's figures, if it is one of the largest."""
        now_ms = self._clock.now_ms()
        freshness = FIGURES.judge(None if figures is None else figures.seen_ms, now_ms)
        shown = None if freshness is Freshness.GONE else figures
        price = None if shown is None else shown.price
        cap = None if shown is None else shown.market_cap
        is_stale = freshness is not Freshness.FRESH
        lookup = CoinLookup(
            CoinIdentity(coin.id, coin.symbol, coin.name, cap, price, None, None),
            *_trends(None, price),
            {},
            [
                *(name for name, value in (("price", price), ("marketCap", cap)) if is_stale or value is None),
                "change_24h_pct",
                *_OF_RUNS,
                "currentTrendWeekly",
            ],
            note=f"{coin.symbol} is not among the coins that this service tracks: it has no price history here.",
        )
        return lookup, now_ms if shown is None else shown.seen_ms

    def _runs(self, venue_symbol: str) -> CoinRuns | None:
        current = self._market.trend_runs.current
        if current.value is None or current.origin != self._market.coins.state.origin:
            return None
        return current.value.coins.get(venue_symbol)

    def _refuse(self, text: str, what: str, field: Literal["symbol", "id", "name"]) -> NoReturn:
        """Raise that nothing has this ticker, id or name, with those of the same kind that may be meant."""
        self._market.coins.require_coins(text)
        matches = [match for match in self._finder.resolver.resolve(text)[0] if match.candidate.type == "crypto"]
        values = (getattr(match.candidate, field) for match in matches)
        candidates = list(dict.fromkeys(value for value in values if value))[:_CANDIDATES]
        asset = self._finder.asset(text)
        hint = f" The closest: {', '.join(candidates)}." if candidates else ""
        if asset is not None:
            hint = f" {asset.name} is a real-world asset: ask /api/cli/rwa/symbol/{asset.symbol}."
        message = f"No coin has the {what} {text!r}.{hint}"
        raise ServiceError("UNKNOWN_SYMBOL", message, details={"candidates": candidates})


def _trends(
    runs: CoinRuns | None, price: float | None
) -> tuple[
    list[TrendPeriod],
    float | None,
    CurrentTrend | None,
    CurrentWeeklyTrend | None,
    TrendBands | None,
    BandPosition,
]:
    """The fields from `trends` to `band_position`."""
    if runs is None:
        return [], None, None, None, None, BandPosition(None)
    periods = [TrendPeriod(run.trend, _day(run.first_day), _day(run.last_day), _days(run)) for run in runs.daily]
    mean = round(sum(period.streak for period in periods) / len(periods), _DECIMALS) if periods else None
    last = periods[-1] if periods else None
    current = None if last is None else CurrentTrend(last.trend, last.start, last.streak, last.end)
    weekly = None if runs.weekly is None else _weekly(runs.weekly)
    if runs.upper is None or runs.lower is None:
        return periods, mean, current, weekly, None, BandPosition(None)
    upper, lower = (float(f"{bound:.{_SIGNIFICANT}g}") for bound in (runs.upper, runs.lower))
    bands = TrendBands(upper, lower, iso(runs.through_ms))
    width = runs.upper - runs.lower
    place = None if price is None or width <= 0 else round((price - runs.lower) / width * 100, _DECIMALS) + 0.0
    return periods, mean, current, weekly, bands, BandPosition(place)


def _weekly(run: RunOfDays) -> CurrentWeeklyTrend:
    return CurrentWeeklyTrend(run.trend, _day(run.first_day), _days(run) // _WEEK, _day(run.last_day))


def _days(run: RunOfDays) -> int:
    return days_in_state(run.first_day, run.last_day)


def _day(day: int) -> str:
    return iso(day * DAY_MS)[: len("2026-11-28")]
