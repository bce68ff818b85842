"""A coin some hours or days ago, now, and between: the front of `coin/historical`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, Clock, iso
from service.market.categories.caps import PastCaps
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.observed import VENUE, CoinView
from service.market.samples import SampleStore
from service.market.silence import nothing_to_say
from service.market.sources.coingecko import Cap, GeckoCoin
from service.storage.database import Database
from service.units import INTERVAL_MS, Interval, apr_pct, change_pct
from service.wire.envelope import Answer
from service.wire.market import Facts, FactsNow, Historical, HistoricalPoint
from service.wire.queries import HistoricalQuery

WORTH_MS: Final = 48 * HOUR_MS
"""How old a market cap may be and still be said of now."""

_INTERVALS: Final[Mapping[str, Interval]] = {"h": "1h", "d": "1d"}
_WORDS: Final[Mapping[str, str]] = {"h": "hourly", "d": "daily"}

_BARS: Final = """
    SELECT open_ms, close, volume * close FROM candles
    WHERE venue_symbol = ?1 AND interval = ?2 AND final = 1 AND open_ms >= (
        SELECT open_ms - ?3 FROM candles WHERE venue_symbol = ?1 AND interval = ?2 AND final = 1
        ORDER BY open_ms DESC LIMIT 1
    ) ORDER BY open_ms
"""
_PAID: Final = """
    SELECT (paid_ms - 1) / ?2 * ?2, total(rate) / count(*) FROM funding_rates
    WHERE venue_symbol = ?1 AND paid_ms > ?3 AND paid_ms <= ?4 GROUP BY 1
"""
"""A payment belongs to the bar that it ends, not to the one that it begins: it is for the hours before it."""


class _Bar(NamedTuple):
    """A closed bar: when it opened, its close in USD, what was traded in it in USD (at the close)."""

    open_ms: int
    close: float
    volume_usd: float


class HistoricalDesk:
    """Answers what a coin was and what it is.

    Args:
        clock: Now.
        database: Bars and payments are read from it.
        market: The coins as they stand now.
        samples: What was written down of them each hour.
        past: What CoinGecko tells of their past.
        worth: Ticker → the coin as CoinGecko last showed it.
        loading: Venue symbol and interval → how long it takes until there are bars.
    """

    def __init__(
        self,
        clock: Clock,
        database: Database,
        market: MarketDesk,
        samples: SampleStore,
        past: PastCaps,
        worth: Callable[[], Mapping[str, GeckoCoin]],
        loading: Callable[[str, Interval], Awaitable[Filling]],
    ) -> None:
        self._clock = clock
        self._database = database
        self._market = market
        self._samples = samples
        self._past = past
        self._worth = worth
        self._loading = loading

    async def historical(self, query: HistoricalQuery) -> Answer:
        """Tell a coin's past, `count` closed bars of it.

        Returns:
            The payload; its `as_of` is the close of the last bar.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where no bar
                of the coin is known.
        """
        view = self._market.view()[self._market.find(query.symbol)]
        coin, interval = view.venue_symbol, _INTERVALS[query.unit]
        unit_ms = INTERVAL_MS[interval]
        span_ms = (query.count - 1) * unit_ms
        bars = await self._bars(coin, interval, span_ms + DAY_MS - unit_ms)
        if not bars:
            filling = await self._loading(coin, interval)
            nothing_to_say(VENUE, self._market.state.failure, f"{_WORDS[query.unit]} bars of {view.symbol}", filling)
        from_ms, through_ms = bars[-1].open_ms - span_ms, bars[-1].open_ms + unit_ms
        rates = await self._rates(coin, unit_ms, from_ms, through_ms)
        then = await self._tell_then(view, from_ms + unit_ms, bars, unit_ms, rates.get(from_ms))
        now = self._tell_now(view)
        points = [_point(bar, unit_ms, rates.get(bar.open_ms)) for bar in bars if bar.open_ms >= from_ms]
        change = change_pct(now.priceUSD, then.priceUSD)
        return Answer(Historical(view.symbol, query.count, query.unit, then, now, change, points), through_ms)

    async def _bars(self, coin: str, interval: Interval, span_ms: int) -> list[_Bar]:
        """The last closed bar and those that opened up to so long before it, oldest first."""
        return [_Bar(*row) for row in await self._database.read(_BARS, (coin, interval, span_ms))]

    async def _rates(self, coin: str, unit_ms: int, from_ms: int, through_ms: int) -> dict[int, float]:
        """Mean of the payments of each bar, percent a year, by its open."""
        rows = await self._database.read(_PAID, (coin, unit_ms, from_ms, through_ms))
        return {open_ms: apr_pct(rate) + 0.0 for open_ms, rate in rows}  # adding zero: JSON would show a negative one

    async def _tell_then(
        self, view: CoinView, at_ms: int, bars: Sequence[_Bar], unit_ms: int, apr: float | None
    ) -> Facts:
        """What was so at the close of a bar: what was written down then, else what is told of then by others."""
        sample = await self._samples.at(view.venue_symbol, at_ms)
        cap = await self._past.near(view.symbol, at_ms) or Cap(at_ms, None, None)
        day = [bar for bar in bars if at_ms - DAY_MS <= bar.open_ms < at_ms]
        traded = sum(bar.volume_usd for bar in day) if len(day) * unit_ms == DAY_MS else None
        return Facts(
            priceUSD=next((bar.close for bar in day if bar.open_ms == at_ms - unit_ms), None),
            marketCap=_first(sample.market_cap, cap.market_cap),
            volume=_first(sample.volume_usd, cap.volume_usd),
            openInterest=_usd(sample.open_interest_usd),
            fundingRate=apr,
            futuresVolume24h=_first(sample.futures_volume_usd, traded),
        )

    def _tell_now(self, view: CoinView) -> FactsNow:
        """What is so now; what is too old to be said is null, and a volume without a recent price is too old."""
        worth = self._worth().get(view.symbol)
        if worth is None or self._clock.now_ms() - worth.seen_ms > WORTH_MS:
            cap = volume = seen_ms = None
        else:
            cap, volume, seen_ms = worth.market_cap, worth.volume_usd, worth.seen_ms
        quoted_ms = min((at_ms for at_ms in (view.price_ms, view.funding_ms) if at_ms is not None), default=None)
        return FactsNow(
            priceUSD=view.price,
            marketCap=_usd(cap),
            volume=_usd(volume),
            openInterest=_usd(view.open_interest_usd),
            fundingRate=view.funding_apr,
            futuresVolume24h=None if view.price is None else _usd(view.volume_usd),
            as_of=None if quoted_ms is None else iso(quoted_ms),
            market_cap_as_of=None if seen_ms is None else iso(seen_ms),
        )


def _point(bar: _Bar, unit_ms: int, apr: float | None) -> HistoricalPoint:
    return HistoricalPoint(iso(bar.open_ms + unit_ms), bar.close, _usd(bar.volume_usd), apr)


def _first(*amounts: float | None) -> float | None:
    """The first amount that is known."""
    return _usd(next((amount for amount in amounts if amount is not None), None))


def _usd(amount: float | None) -> float | None:
    """Cents, and no float noise behind them."""
    return None if amount is None else round(amount, 2)
