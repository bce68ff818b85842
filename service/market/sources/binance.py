"""Binance USD-M futures: `GET /fapi/v1/…`, the fallback for prices, funding and bars.

Source: the venue's API documentation ("USDS-Margined Futures: market data endpoints", "Limits") and recorded samples.
Numbers are decimal strings, empty for none (a dated contract has no funding); times are integer milliseconds.

Open interest is not requested, because it is not comparable between venues. Nor is funding history: a gap in the first
venue's is filled by the first venue once it is back.

The newest row of `klines` is open. The venue may still change a row shortly after its close time, so a bar is final
only when a later request shows it unchanged (reported in 2026).
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import Decoder

from service.clock import MINUTE_MS, Clock
from service.market.models import SETTLE_MS, Bar, BarBatch
from service.market.symbols import per_coin
from service.units import INTERVAL_MS, Interval
from service.upstream.failures import UpstreamError
from service.upstream.session import Fetched, UpstreamSession

WEIGHT_PER_MINUTE: Final = 2_400
"""The venue's published budget for an address."""

DEFAULT_FUNDING_HOURS: Final = 8.0
"""Funding interval of a contract that `fundingInfo` does not name."""

CONFIRM_S: Final = 10.0
"""Seconds between the first request that shows a closed bar and one that can confirm it."""

MOST_BARS: Final = 1_500
_PREMIUM_WEIGHT: Final = 10
_TICKER_WEIGHT: Final = 40
_LIGHT: Final = 1
_KLINE_WEIGHTS: Final = ((100, 1), (500, 2), (1_001, 5))
"""Fewer rows than the first cost the second; more cost 10."""

_HEAVY_KLINES: Final = 10
_ROOT: Final = "/fapi/v1"
_NO_QUERY: Final[Mapping[str, str]] = MappingProxyType({})
_LISTING_S: Final = 3_600.0

_OLD_MS: Final = MINUTE_MS
"""A mark price older than this, compared with the answer, belongs to a market that stands still."""

PAUSES_S: Final[Mapping[int | None, float]] = {418: 900.0, 403: 3_600.0, 451: 3_600.0}
"""Pause after a ban without an end, or a geoblock: further requests prolong a ban."""

_QUOTE_ASSET: Final = "USDT"
_UNITS: Final = re.compile(r"(1000000|1000|1M)(?=[A-Z])")
_COINS: Final[Mapping[str, int]] = MappingProxyType({"1000": 1_000, "1000000": 1_000_000, "1M": 1_000_000})
_TRADING: Final = "TRADING"
_FINITE: Final = 1e300

Number: TypeAlias = Annotated[float, Meta(ge=-_FINITE, le=_FINITE)]
"""A decimal string as a finite float."""

T = TypeVar("T")


class ContractRow(Struct, frozen=True, rename="camel"):
    """A row of `exchangeInfo`. Dated contracts and coins long gone are among them."""

    symbol: str
    status: str
    base_asset: str
    quote_asset: str
    contract_type: str
    underlying_type: str = ""


class ExchangeInfo(Struct, frozen=True):
    """Everything that is or was traded."""

    symbols: tuple[ContractRow, ...]


class FundingInterval(Struct, frozen=True, rename="camel"):
    """A row of `fundingInfo`, which names only contracts whose terms were adjusted."""

    symbol: str
    funding_interval_hours: Annotated[float, Meta(gt=0, le=24)]


class PremiumIndex(Struct, frozen=True, rename="camel"):
    """A row of `premiumIndex`. `last_funding_rate` is the rate running now, a fraction an interval; empty for none."""

    symbol: str
    mark_price: Number
    time: int
    last_funding_rate: str = ""


class Ticker(Struct, frozen=True, rename="camel"):
    """A row of `ticker/24hr`: price 24 hours ago and volume in USD."""

    symbol: str
    open_price: Number
    quote_volume: Number


class Kline(Struct, frozen=True, array_like=True):
    """A row of `klines`; twelve elements, the last of them unused. `close_ms` is the bar's last millisecond."""

    open_ms: int
    open: Number
    high: Number
    low: Number
    close: Number
    volume: Number
    close_ms: int
    quote_volume: Number
    trades: Annotated[int, Meta(ge=0, le=2**53)]


def _decoder(kind: type[T]) -> Decoder[T]:
    """Lax only in that numbers may be strings, as the venue writes them."""
    return Decoder(kind, strict=False)


EXCHANGE_INFO: Final = _decoder(ExchangeInfo)
FUNDING_INFO: Final = _decoder(tuple[FundingInterval, ...])
PREMIUM_INDEX: Final = _decoder(tuple[PremiumIndex, ...])
TICKERS: Final = _decoder(tuple[Ticker, ...])
KLINES: Final = _decoder(tuple[Kline, ...])


class Contract(Struct, frozen=True):
    """A contract that is traded against USDT.

    Attributes:
        symbol: The venue's (`1000PEPEUSDT`).
        base: Base asset without its unit (`PEPE`).
        kind: `PERPETUAL`, `TRADIFI_PERPETUAL`, or that of a dated contract.
        underlying: `COIN`, `EQUITY`, `COMMODITY`, `INDEX`, `PREMARKET` …
        interval_hours: Hours between two funding payments.
    """

    symbol: str
    base: str
    kind: str
    underlying: str
    interval_hours: float


class MarkPrice(Struct, frozen=True):
    """A contract at one time: mark price in USD, and funding, a fraction an interval.

    Of the last 24 hours, where known: the price they began with, and the volume in USD.
    """

    price: float
    funding: float | None
    prev_price: float | None
    volume_usd: float | None


class MarkPrices(Struct, frozen=True):
    """Every contract by venue symbol, as the venue showed them at one time."""

    observed_ms: int
    rows: Mapping[str, MarkPrice]


class _Shown(Struct, frozen=True):
    """A closed row as first shown, and when (monotonic seconds)."""

    row: Kline
    at_s: float


class Binance:
    """Requests to the venue.

    Args:
        session: Open session; keeps its limits.
        clock: An observation is never dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._contracts: Mapping[str, Contract] = {}
        self._listed_until_s = self._silent_until_s = 0.0
        self._silent_status: int | None = None
        self._shown: dict[str, Mapping[int, _Shown]] = {}

    async def contracts(self) -> Mapping[str, Contract]:
        """Contracts traded against USDT, by venue symbol; requested once an hour.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        if self._clock.monotonic() >= self._listed_until_s:
            rows = (await self._get("/exchangeInfo", _LIGHT, EXCHANGE_INFO)).value.symbols
            adjusted = (await self._get("/fundingInfo", _LIGHT, FUNDING_INFO)).value
            hours = {row.symbol: row.funding_interval_hours for row in adjusted}
            self._contracts = {
                row.symbol: Contract(
                    symbol=row.symbol,
                    base=unit_of_contract(row.base_asset)[0],
                    kind=row.contract_type,
                    underlying=row.underlying_type,
                    interval_hours=hours.get(row.symbol, DEFAULT_FUNDING_HOURS),
                )
                for row in rows
                if row.status == _TRADING and row.quote_asset == _QUOTE_ASSET
            }
            self._listed_until_s = self._clock.monotonic() + _LISTING_S
        return self._contracts

    async def marks(self) -> MarkPrices:
        """Price, current funding and the last 24 hours of every contract.

        Contracts whose price stands still are left out. The last 24 hours are null if that request failed.

        Raises:
            UpstreamError: If there are no valid prices.
        """
        premiums = await self._get("/premiumIndex", _PREMIUM_WEIGHT, PREMIUM_INDEX)
        observed_ms = min(premiums.date_ms, self._clock.now_ms())
        try:
            tickers = (await self._get("/ticker/24hr", _TICKER_WEIGHT, TICKERS)).value
        except UpstreamError:
            tickers = ()
        days = {row.symbol: row for row in tickers}
        rows = {
            row.symbol: _mark(row, days.get(row.symbol), unit_of_contract(row.symbol)[1])
            for row in premiums.value
            if row.mark_price > 0 and row.time >= observed_ms - _OLD_MS
        }
        return MarkPrices(observed_ms, rows)

    async def bars(self, symbol: str, interval: Interval, start_ms: int) -> BarBatch:
        """A contract's final bars from an instant on, oldest first.

        A bar is final once its close time has passed and a request at least `CONFIRM_S` after the first shows it
        unchanged. Until then it is provisional and left out.

        Args:
            symbol: The venue's symbol.
            interval: Length of a bar.
            start_ms: Open time of the first bar wanted.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        step_ms, found = INTERVAL_MS[interval], dict[int, Kline]()
        while True:
            wanted = min(MOST_BARS, max(1, (self._clock.now_ms() - start_ms) // step_ms + 1))
            query = {"symbol": symbol, "interval": interval, "startTime": str(start_ms), "limit": str(wanted)}
            page = await self._get("/klines", _kline_weight(wanted), KLINES, query)
            observed_ms = min(page.date_ms, self._clock.now_ms())
            for row in page.value:
                closed_ms = max(row.close_ms + 1, row.open_ms + step_ms)
                if _is_sound(row, step_ms) and start_ms <= row.open_ms and closed_ms <= observed_ms - SETTLE_MS:
                    found[row.open_ms] = row
            if len(page.value) < MOST_BARS or page.value[-1].open_ms < start_ms:
                bars = self._confirmed(symbol, interval, found)
                return BarBatch(observed_ms, bars, len(found) - len(bars))
            start_ms = page.value[-1].open_ms + step_ms

    def _confirmed(self, symbol: str, interval: Interval, rows: Mapping[int, Kline]) -> list[Bar]:
        """Rows that an earlier request showed unchanged; the others are remembered for the next one."""
        series, (_, units) = f"{symbol} {interval}", unit_of_contract(symbol)
        now_s, before = self._clock.monotonic(), self._shown.get(series, {})
        shown = {
            at: before[at] if at in before and before[at].row == row else _Shown(row, now_s) for at, row in rows.items()
        }
        self._shown[series] = shown
        return [_bar(shown[at].row, units) for at in sorted(shown) if now_s - shown[at].at_s >= CONFIRM_S]

    async def _get(
        self, path: str, weight: int, decoder: Decoder[T], query: Mapping[str, str] = _NO_QUERY
    ) -> Fetched[T]:
        wait_s = self._silent_until_s - self._clock.monotonic()
        if wait_s > 0:
            said = f"not asked again for {wait_s:.0f} s".encode()
            raise UpstreamError(self._session.name, self._silent_status, said, retry_after_s=wait_s)
        try:
            return await self._session.get(_ROOT + path, weight=weight, decoder=decoder, query=query)
        except UpstreamError as error:
            if error.upstream_status in PAUSES_S and not error.retry_after_s:
                self._silent_until_s = self._clock.monotonic() + PAUSES_S[error.upstream_status]
                self._silent_status = error.upstream_status
            raise


def unit_of_contract(symbol: str) -> tuple[str, int]:
    """Symbol without its unit, and how many coins its prices are of: `1000PEPEUSDT` is `("PEPEUSDT", 1000)`."""
    unit = _UNITS.match(symbol)
    return (symbol[unit.end() :], _COINS[unit[0]]) if unit else (symbol, 1)


def _kline_weight(rows: int) -> int:
    return next((weight for most, weight in _KLINE_WEIGHTS if rows < most), _HEAVY_KLINES)


def _mark(row: PremiumIndex, day: Ticker | None, units: int) -> MarkPrice:
    return MarkPrice(
        price=per_coin(row.mark_price, units),
        funding=_fraction(row.last_funding_rate),
        prev_price=per_coin(day.open_price, units) if day and day.open_price > 0 else None,
        volume_usd=day.quote_volume if day else None,
    )


def _fraction(text: str) -> float | None:
    """A rate; null for an empty string."""
    try:
        rate: float = convert(text, Number, strict=False)
    except ValidationError:
        return None
    return rate


def _bar(row: Kline, units: int) -> Bar:
    first, high, low, last = (per_coin(price, units) for price in (row.open, row.high, row.low, row.close))
    return Bar(row.open_ms, first, high, low, last, row.volume * units, row.trades)


def _is_sound(row: Kline, step_ms: int) -> bool:
    """Whether it is a valid bar: on the UTC grid, with ordered prices."""
    ends = (row.open, row.close)
    return row.open_ms % step_ms == 0 and 0 < row.low <= min(ends) and max(ends) <= row.high
