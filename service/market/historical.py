"""Price and funding history of one coin: the service behind `coin/historical`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, Clock, iso
from service.market.categories.documents import PastCaps
from service.market.funding import aprs_of_bars
from service.market.loading import LoadProgress, raise_unavailable
from service.market.models import VENUE, CoinView
from service.market.past_prices import WEEK_MS, PastPrice, PastPriceReader, change_since, instant_before
from service.market.samples import LATE_MS, Sample, SampleStore
from service.market.service import MarketService
from service.market.sources.coingecko import GeckoCoin, PastCap
from service.storage.database import Database
from service.units import INTERVAL_MS, Interval
from service.wire.envelope import Answer
from service.wire.market import FactsNow, FactsThen, Historical, HistoricalPoint
from service.wire.queries import HistoricalQuery

MARKET_CAP_AGE_MS: Final = 48 * HOUR_MS
"""Maximum age of a current market cap."""

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
    SELECT paid_ms, rate, interval_hours FROM funding_rates
    WHERE venue_symbol = ?1 AND paid_ms > ?2 AND paid_ms <= ?3
"""


class _Bar(NamedTuple):
    """A closed bar: open time, close in USD, volume in USD at the close."""

    open_ms: int
    close: float
    volume_usd: float


class HistoricalService:
    """Answers what a coin was and what it is now.

    Args:
        clock: Current time.
        database: Bars and payments.
        market: Current values of coins.
        samples: Hourly samples.
        past: CoinGecko's past market caps.
        gecko_coins: Ticker → coin as CoinGecko last showed it.
        prices: Past prices.
        loading: Venue symbol and interval → how far bars are loaded.
    """

    def __init__(
        self,
        clock: Clock,
        database: Database,
        market: MarketService,
        samples: SampleStore,
        past: PastCaps,
        gecko_coins: Callable[[], Mapping[str, GeckoCoin]],
        prices: PastPriceReader,
        loading: Callable[[str, Interval], Awaitable[LoadProgress]],
    ) -> None:
        self._clock = clock
        self._database = database
        self._market = market
        self._samples = samples
        self._past = past
        self._market_cap = gecko_coins
        self._prices = prices
        self._loading = loading

    async def historical(self, query: HistoricalQuery) -> Answer:
        """The last `count` closed bars of a coin.

        Returns:
            The payload; `as_of` is the close of the last bar.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if the coin
                has no bars.
        """
        view = self._market.view()[self._market.find(query.symbol)]
        coin, interval = view.venue_symbol, _INTERVALS[query.unit]
        unit_ms = INTERVAL_MS[interval]
        span_ms = query.count * unit_ms
        bars = await self._bars(coin, interval, span_ms + DAY_MS - unit_ms)
        if not bars:
            progress = await self._loading(coin, interval)
            raise_unavailable(
                VENUE, self._market.state.failure, f"{_WORDS[query.unit]} bars of {view.symbol}", progress
            )
        at_ms = instant_before(self._clock.now_ms(), span_ms)
        ended_ms = at_ms // unit_ms * unit_ms
        from_ms, through_ms = bars[-1].open_ms + unit_ms - span_ms, bars[-1].open_ms + unit_ms
        rates = await self._rates(coin, unit_ms, min(from_ms, ended_ms - unit_ms), through_ms)
        past = (await self._prices.at([coin], at_ms, is_distant=span_ms >= WEEK_MS)).get(coin)
        then = await self._facts_then(view, at_ms, bars, unit_ms, rates.get(ended_ms - unit_ms), past)
        now = self._facts_now(view)
        points = [_point(bar, unit_ms, rates.get(bar.open_ms)) for bar in bars if bar.open_ms >= from_ms]
        change = change_since(now.priceUSD, past).pct
        return Answer(Historical(view.symbol, query.count, query.unit, then, now, change, points), through_ms)

    async def _bars(self, coin: str, interval: Interval, span_ms: int) -> list[_Bar]:
        """The last closed bar, and those that opened up to `span_ms` before it, oldest first."""
        return [_Bar(*row) for row in await self._database.read(_BARS, (coin, interval, span_ms))]

    async def _rates(self, coin: str, unit_ms: int, from_ms: int, through_ms: int) -> dict[int, float]:
        """Mean of the payments of each bar, percent per year, by its open time."""
        return aprs_of_bars(await self._database.read(_PAID, (coin, from_ms, through_ms)), unit_ms, through_ms)

    async def _facts_then(
        self,
        view: CoinView,
        at_ms: int,
        bars: Sequence[_Bar],
        unit_ms: int,
        apr: float | None,
        past: PastPrice | None,
    ) -> FactsThen:
        """The price at an instant, and the other figures of the last sample known by then, else of the bar before it.

        A sample holds what was seen until `LATE_MS` after its hour, so it is not known sooner.
        """
        ended_ms, sampled_ms = at_ms // unit_ms * unit_ms, at_ms - LATE_MS
        caps = [cap for known in (at_ms, ended_ms) if (cap := await self._past.before(view.symbol, known)) is not None]
        cap = next(iter(caps), PastCap(at_ms, None, None))
        hours = dict.fromkeys((sampled_ms // HOUR_MS * HOUR_MS, sampled_ms // unit_ms * unit_ms))
        unknown = Sample(view.venue_symbol)
        samples = [await self._samples.at(view.venue_symbol, hour_ms) for hour_ms in hours]
        sample = next((sample for sample in samples if sample != unknown), unknown)
        day = [bar for bar in bars if ended_ms - DAY_MS <= bar.open_ms < ended_ms]
        traded = sum(bar.volume_usd for bar in day) if len(day) * unit_ms == DAY_MS else None
        return FactsThen(
            priceUSD=None if past is None else past.usd,
            marketCap=_first(sample.market_cap, cap.market_cap),
            volume=_first(sample.volume_usd, cap.volume_usd),
            openInterest=_usd(sample.open_interest_usd),
            fundingRate=apr,
            futuresVolume24h=_first(sample.futures_volume_usd, traded),
            as_of=None if past is None else iso(past.at_ms),
        )

    def _facts_now(self, view: CoinView) -> FactsNow:
        """Current values; null if too old. A volume without a recent price is too old."""
        gecko_coins = self._market_cap().get(view.symbol)
        if gecko_coins is None or self._clock.now_ms() - gecko_coins.seen_ms > MARKET_CAP_AGE_MS:
            cap = volume = seen_ms = None
        else:
            cap, volume, seen_ms = gecko_coins.market_cap, gecko_coins.volume_usd, gecko_coins.seen_ms
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
    """The first known amount."""
    return _usd(next((amount for amount in amounts if amount is not None), None))


def _usd(amount: float | None) -> float | None:
    """Rounded to cents."""
    return None if amount is None else round(amount, 2)
