"""The stored history of coins. A value at an instant uses nothing later than the instant."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from service.clock import DAY_MS, Clock
from service.market.daily_report.models import BreadthDay
from service.market.factory import MarketData
from service.market.funding import aprs_of_bars, mean_apr
from service.market.loading import raise_still_loading
from service.market.models import Bar, VenueCoin
from service.market.past_prices import PastPrice
from service.market.series import ClosedDays, DayCounts, read_days
from service.market.sources.coingecko import PastCap
from service.storage.database import Database
from service.table.daily import DailyHistory, PastBar, PastVerdict
from service.units import apr_pct
from service.verdict.decide import grade
from service.verdict.service import VerdictService


class FundingPayment(NamedTuple):
    """Funding paid at `paid_ms` (epoch ms UTC) for the `hours` before, percent a year; positive means longs pay."""

    paid_ms: int
    apr: float
    hours: float


class PastFunding(NamedTuple):
    """Funding of a coin over a window: `mean_apr` weighs each payment by its hours; null if too few hours are paid.

    `payments` are oldest first.
    """

    mean_apr: float | None
    payments: list[FundingPayment]


class _LoadedDays(NamedTuple):
    """Closed days as read: of which dataset through when, how many, and how many the backtested record had then."""

    through: tuple[str, int]
    counts: DayCounts
    recorded: DayCounts | None
    history: DailyHistory

    def holds(self, through: tuple[str, int], recorded: DayCounts | None) -> bool:
        """Whether no other day is published, and the record was recomputed from no other days than these."""
        return self.through == through and recorded in {None, self.counts, self.recorded}


class CoinHistory:
    """Reads the past of coins. Tickers are canonical (`BTC`); instants are epoch milliseconds UTC.

    Args:
        clock: Now.
        database: Where series are stored.
        market: Quotes, conclusions and the stored series.
        verdict: Stored inputs of verdicts.
        origin: The current dataset.
    """

    def __init__(
        self, clock: Clock, database: Database, market: MarketData, verdict: VerdictService, origin: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._database = database
        self._market = market
        self._verdict = verdict
        self._origin = origin
        self._loading = asyncio.Lock()
        self._loaded: _LoadedDays | None = None

    @property
    def loaded(self) -> DailyHistory | None:
        """The closed days as last read, maybe a day behind; null while they are being read for the first time."""
        return None if self._loaded is None else self._loaded.history

    async def daily(self) -> DailyHistory:
        """All closed days through the last published one, with the verdicts that the backtested record counts.

        The same object until another day is published, or the record was recomputed because bars or funding of past
        days came late. Then a call takes as long as recomputing the states of all coins, on a worker thread.

        Raises:
            ServiceError: `UNAVAILABLE` before the first day is published, or if the store cannot be read.
        """
        kept, origin = self._market.daily_report.current, self._origin()
        if kept.value is None or kept.origin != origin:
            raise_still_loading("daily history of coins", None)
        wanted = origin, kept.value.through_ms
        async with self._loading:
            recorded = self._verdict.scorecards.recomputed_from(wanted[1])
            if self._loaded is None or not self._loaded.holds(wanted, recorded):
                days = await self._database.inspect(lambda connection: read_days(connection, wanted[1]))
                history = await asyncio.to_thread(_recompute, days, kept.value.breadth)
                self._loaded = _LoadedDays(wanted, days.counts, recorded, history)
            return self._loaded.history

    async def warm(self) -> None:
        """Recompute the closed days as soon as they have changed, so that no question waits.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        published = self._market.daily_report.current
        if published.value is not None and published.origin == self._origin():
            await self.daily()

    async def today(self, symbol: str) -> PastBar | None:
        """The bar of the present UTC day so far (`closed` is false): closed hours and the price now.

        Its volume is that of the closed hours. Null where the price or the first hour of the day is not known.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        day_ms = self._clock.now_ms() // DAY_MS * DAY_MS
        view = self._market.coins.view().get(symbol)
        hours = await self.hourly(symbol, day_ms)
        if view is None or view.price is None or not hours or hours[0].open_ms != day_ms:
            return None
        return PastBar(
            day_ms,
            hours[0].open,
            max(view.price, *(hour.high for hour in hours)),
            min(view.price, *(hour.low for hour in hours)),
            view.price,
            sum(hour.volume_usd for hour in hours),
            closed=False,
        )

    async def hourly(self, symbol: str, since_ms: int) -> list[PastBar]:
        """Closed hourly bars whose open is at or after an instant, oldest first; 90 days are kept.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        coin = await self._coin(symbol)
        rows = [] if coin is None else await self._market.store.bars(coin.venue_symbol, "1h", since_ms)
        return [_bar(row) for row in rows]

    async def prices(self, symbols: Sequence[str], at_ms: int, *, is_distant: bool) -> dict[str, PastPrice]:
        """The last price known at an instant, as far as it is known; changes over spans are measured from it.

        Args:
            symbols: Tickers.
            at_ms: The instant.
            is_distant: Whether the price may be a day older than the instant; else an hour.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        listed_last = sorted(await self._market.store.coins(), key=lambda coin: coin.listed)
        by_symbol = {coin.symbol: coin.venue_symbol for coin in listed_last}
        coins = {by_symbol[symbol]: symbol for symbol in symbols if symbol in by_symbol}
        found = await self._market.past_prices.at(list(coins), at_ms, is_distant=is_distant)
        return {coins[coin]: price for coin, price in found.items()}

    async def first_hour_ms(self, symbol: str) -> int | None:
        """Open of the first stored hourly bar; null where there is none.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        hours = await self.hourly(symbol, self._clock.now_ms() - 101 * DAY_MS)
        return hours[0].open_ms if hours else None

    async def funding(self, symbol: str, since_ms: int, until_ms: int) -> PastFunding:
        """Funding that was paid in (`since_ms`, `until_ms`]: a payment is for the hours before it; 90 days are kept.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        coin = await self._coin(symbol)
        if coin is None:
            return PastFunding(None, [])
        rows = (await self._market.store.funding_since([coin.venue_symbol], since_ms + 1))[coin.venue_symbol]
        paid = [row for row in rows if row[0] <= until_ms]
        mean = mean_apr(paid, since_ms, until_ms)
        return PastFunding(mean, [FundingPayment(row[0], apr_pct(row[1]) + 0.0, row[2]) for row in paid])

    async def funding_of_bars(self, symbol: str, unit_ms: int, since_ms: int, until_ms: int) -> dict[int, float]:
        """Mean of what was paid in each bar of a length after `since_ms`, by its open time, percent a year.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        coin = await self._coin(symbol)
        if coin is None:
            return {}
        rows = (await self._market.store.funding_since([coin.venue_symbol], since_ms + 1))[coin.venue_symbol]
        return aprs_of_bars([row for row in rows if row[0] <= until_ms], unit_ms, until_ms)

    async def open_interest(self, symbol: str, hours_ms: Sequence[int]) -> dict[int, float]:
        """Open interest, USD, at those of some hours that were sampled.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        coin = await self._coin(symbol)
        return {} if coin is None else await self._market.samples.interests(coin.venue_symbol, hours_ms)

    async def verdict(self, symbol: str, at_ms: int) -> PastVerdict | None:
        """The verdict on a coin at an instant: from stored inputs where there are any, else recomputed.

        Null where neither is known.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        recorded = await self._verdict.recorded(symbol, at_ms)
        if recorded is not None:
            return PastVerdict(recorded.recorded_ms, *grade(recorded.inputs), recorded=True)
        return (await self.daily()).verdict(symbol, at_ms)

    async def market_caps(self, symbol: str, since_ms: int, until_ms: int) -> list[PastCap]:
        """Market caps and spot volumes in [`since_ms`, `until_ms`), USD, oldest first.

        By the hour for 42 days, at 00:00 UTC for a year; none where CoinGecko does not know the coin.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        return await self._market.past_caps.between(symbol, since_ms, until_ms)

    async def _coin(self, symbol: str) -> VenueCoin | None:
        """The coin of a ticker, a listed one before a delisted one."""
        found = [coin for coin in await self._market.store.coins() if coin.symbol == symbol]
        return max(found, key=lambda coin: coin.listed, default=None)


def _bar(row: Bar) -> PastBar:
    return PastBar(row.open_ms, row.open, row.high, row.low, row.close, row.volume * row.close)


def _recompute(days: ClosedDays, published: list[BreadthDay]) -> DailyHistory:
    from service.table.recompute import recompute_days  # noqa: PLC0415 - brings numpy

    return recompute_days(days, published)
