"""Binance USD-M futures: `GET /fapi/v1/…`, the fall-back for prices, funding and bars.

Source: the venue's API documentation ("USDS-Margined Futures: market data endpoints", "Limits") and recorded samples.
Numbers are decimal strings, empty where there is none (a dated contract has no funding); times integer milliseconds.

Open interest is not asked for: what is held on another venue is another quantity, not a substitute. Nor is funding
history: a gap in the first venue's is filled by the first venue once it is back.

The newest row of `klines` is open. The venue may still change a row shortly after its close time, so a bar is final
only when a later request shows it unchanged (reported in 2026).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import Decoder

from service.clock import MINUTE_MS, Clock
from service.market.observed import SETTLE_MS, Bar, History
from service.units import INTERVAL_MS, Interval
from service.upstream.failure import UpstreamError
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
"""A mark price so much older than the answer is that of a market that stands still."""

PAUSES_S: Final[Mapping[int | None, float]] = {418: 900.0, 403: 3_600.0, 451: 3_600.0}
"""How long nothing is asked after a ban that names no end, or a refusal of our region: asking on prolongs a ban."""

_QUOTE_ASSET: Final = "USDT"
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
    """Lax only in that numbers may stand in strings, as the venue writes them."""
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
        base: What it is on, unit included (`1000PEPE`).
        kind: `PERPETUAL`, `TRADIFI_PERPETUAL`, or that of a dated contract.
        underlying: `COIN`, `EQUITY`, `COMMODITY`, `INDEX`, `PREMARKET` …
        interval_hours: Between two payments of funding.
    """

    symbol: str
    base: str
    kind: str
    underlying: str
    interval_hours: float


class Mark(Struct, frozen=True):
    """A contract at one time: mark price in USD, and funding, a fraction an interval.

    Of the last 24 hours, where known: the price they began with, and the volume in USD.
    """

    price: float
    funding: float | None
    prev_price: float | None
    volume_usd: float | None


class Marks(Struct, frozen=True):
    """Every contract by venue symbol, as the venue showed them at one time."""

    observed_ms: int
    rows: Mapping[str, Mark]


class _Shown(Struct, frozen=True):
    """A closed row as it was first shown, and when (monotonic seconds)."""

    row: Kline
    at_s: float


class Binance:
    """The venue, as the service asks it.

    Args:
        session: Open session to it; keeps its limits.
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
        """What is traded against USDT, by venue symbol; asked for once an hour.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        if self._clock.monotonic() >= self._listed_until_s:
            rows = (await self._get("/exchangeInfo", _LIGHT, EXCHANGE_INFO)).value.symbols
            adjusted = (await self._get("/fundingInfo", _LIGHT, FUNDING_INFO)).value
            hours = {row.symbol: row.funding_interval_hours for row in adjusted}
            self._contracts = {
                row.symbol: Contract(
                    symbol=row.symbol,
                    base=row.base_asset,
                    kind=row.contract_type,
                    underlying=row.underlying_type,
                    interval_hours=hours.get(row.symbol, DEFAULT_FUNDING_HOURS),
                )
                for row in rows
                if row.status == _TRADING and row.quote_asset == _QUOTE_ASSET
            }
            self._listed_until_s = self._clock.monotonic() + _LISTING_S
        return self._contracts

    async def marks(self) -> Marks:
        """Price, running funding and the last 24 hours of every contract.

        A contract whose price stands still is left out; what the day was is null where that could not be had.

        Raises:
            UpstreamError: If there are no prices that can be trusted.
        """
        premiums = await self._get("/premiumIndex", _PREMIUM_WEIGHT, PREMIUM_INDEX)
        observed_ms = min(premiums.date_ms, self._clock.now_ms())
        try:
            tickers = (await self._get("/ticker/24hr", _TICKER_WEIGHT, TICKERS)).value
        except UpstreamError:
            tickers = ()
        days = {row.symbol: row for row in tickers}
        rows = {
            row.symbol: _mark(row, days.get(row.symbol))
            for row in premiums.value
            if row.mark_price > 0 and row.time >= observed_ms - _OLD_MS
        }
        return Marks(observed_ms, rows)

    async def bars(self, symbol: str, interval: Interval, start_ms: int) -> History:
        """A contract's final bars from an instant on, oldest first.

        A bar is final once its close time has passed and a request at least `CONFIRM_S` after the one that first showed
        it shows it unchanged. Until then it is provisional and left out.

        Args:
            symbol: The venue's own.
            interval: Length of a bar.
            start_ms: Open of the first bar wanted.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
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
                bars = self._confirmed(f"{symbol} {interval}", found)
                return History(observed_ms, bars, len(found) - len(bars))
            start_ms = page.value[-1].open_ms + step_ms

    def _confirmed(self, series: str, rows: Mapping[int, Kline]) -> list[Bar]:
        """The rows that an earlier request has shown as they are; the others are remembered until the next one."""
        now_s, before = self._clock.monotonic(), self._shown.get(series, {})
        shown = {
            at: before[at] if at in before and before[at].row == row else _Shown(row, now_s) for at, row in rows.items()
        }
        self._shown[series] = shown
        return [_bar(shown[at].row) for at in sorted(shown) if now_s - shown[at].at_s >= CONFIRM_S]

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


def _kline_weight(rows: int) -> int:
    return next((weight for most, weight in _KLINE_WEIGHTS if rows < most), _HEAVY_KLINES)


def _mark(row: PremiumIndex, day: Ticker | None) -> Mark:
    return Mark(
        price=row.mark_price,
        funding=_fraction(row.last_funding_rate),
        prev_price=day.open_price if day and day.open_price > 0 else None,
        volume_usd=day.quote_volume if day else None,
    )


def _fraction(text: str) -> float | None:
    """A rate, or nothing where the venue writes none."""
    try:
        rate: float = convert(text, Number, strict=False)
    except ValidationError:
        return None
    return rate


def _bar(row: Kline) -> Bar:
    return Bar(row.open_ms, row.open, row.high, row.low, row.close, row.volume, row.trades)


def _is_sound(row: Kline, step_ms: int) -> bool:
    """Whether it can be a bar: on the grid of UTC, and with its prices in order."""
    ends = (row.open, row.close)
    return row.open_ms % step_ms == 0 and 0 < row.low <= min(ends) and max(ends) <= row.high
