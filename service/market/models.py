"""Data types of the market package, the same for every venue. All times are epoch milliseconds UTC."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias, cast

from msgspec import Struct

from service.clock import DAY_MS, SECOND_MS
from service.storage.documents import FetchFailure
from service.wire.market import Trend

VENUE: Final = "hyperliquid"
"""The first venue. Its listing defines which coins exist here."""

BENCHMARK: Final = "BTC"

MAJORS: Final = (BENCHMARK, "ETH")
"""Venue symbols that every coin is compared with. Fetched first; the start waits for them."""

SETTLE_MS: Final = 5 * SECOND_MS
"""A bar counts as closed this long after its close time, when its last trades are in it."""

REACH_MS: Final = 90 * DAY_MS
"""Hourly data is kept complete this far back."""

Row: TypeAlias = tuple[int, float, float, float, float]
"""A closed bar for computation: open time, open, high, low, close."""

BarRow: TypeAlias = tuple[int, float, float, float, float, float, int]
"""A closed bar for storage: open time (epoch ms), open, high, low, close (USD), volume (base units), trades."""

FUNDING_HOURS: Final = 1.0
"""Hours between two funding payments of the first venue. Source: its documentation, "Funding"."""

StampedPayment: TypeAlias = tuple[int, float]
"""A funding payment as a venue shows it: time (epoch ms), fraction paid."""

PaymentRow: TypeAlias = tuple[int, float, float]
"""A funding payment for storage: time on the venue's schedule (epoch ms), fraction per hour, hours that it covers."""


class Quote(Struct, frozen=True):
    """A coin's newest price and funding, each with the time at which the venue showed it.

    Attributes:
        volume_usd: Volume of the last 24 hours, USD.
        price: Mark price, USD; null together with `price_ms`.
        funding: Fraction per hour whatever the payment interval; positive means longs pay. Null with `funding_ms`.
        open_interest: Base units.
        prev_price: Price 24 hours before, USD.
        venue: Source of the price, or of the funding where there is no price.
        interval_hours: Hours between two funding payments.
    """

    venue_symbol: str
    symbol: str
    volume_usd: float
    price: float | None
    price_ms: int | None
    funding: float | None
    funding_ms: int | None
    open_interest: float | None = None
    prev_price: float | None = None
    venue: str = VENUE
    interval_hours: float = FUNDING_HOURS


class Bar(Struct, frozen=True):
    """One bar, open or closed; prices in USD, volume in base units."""

    open_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int


class VenueCoin(Struct, frozen=True):
    """A coin that the first venue lists or has listed."""

    venue_symbol: str
    symbol: str
    listed: bool


class Quotes(Struct, frozen=True):
    """All coins of a venue at one time.

    Attributes:
        delisted: Venue symbols that it no longer trades; null if the answer does not contain them.
        dropped: Number of rows without a valid ticker.
    """

    observed_ms: int
    quotes: Sequence[Quote]
    delisted: Sequence[str] | None = ()
    dropped: int = 0


class BarBatch(Struct, frozen=True):
    """Bars of one coin, oldest first, with the venue's time of the answer.

    `provisional` counts closed bars that are not in `bars` yet because a later request must confirm them.
    """

    observed_ms: int
    bars: Sequence[Bar]
    provisional: int = 0


class CoinChart(Struct, frozen=True):
    """Trends and BTC correlation from a coin's closed daily bars.

    `through_ms` is the close of the last day that was used.
    """

    through_ms: int | None = None
    trend_daily: Trend | None = None
    trend_daily_since_ms: int | None = None
    trend_weekly: Trend | None = None
    trend_weekly_since_ms: int | None = None
    btc_correlation: float | None = None


class MarketState(Struct, frozen=True):
    """The store's single row of `market_state`; see the migrations.

    Attributes:
        failure: Failure of the first venue's last quote refresh; null if it succeeded.
        venue: Venue that provided the newest quotes; null if none did.
    """

    origin: str
    revision: int
    quotes_ms: int | None = None
    history_ms: int | None = None
    failure: FetchFailure | None = None
    venue: str | None = None


class MarketSnapshot(Struct, frozen=True):
    """Everything the market service answers from. State and listed coins come from one read."""

    state: MarketState
    coins: list[tuple[Quote, CoinChart]]
    delisted: Sequence[VenueCoin] = ()


class SeriesProgress(Struct, frozen=True):
    """How far a coin's series goes: open time of its last closed bar, or time of its last funding payment."""

    venue_symbol: str
    symbol: str
    listed: bool
    last_ms: int | None


class CoinView(Struct, frozen=True):
    """Current values of a listed coin. Values past their age limit are null, and so are their times.

    Attributes:
        price: USD. `open_interest_usd` and `volume_usd` too.
        funding_apr: Percent a year.
        interval_hours: Hours between two funding payments.
        through_ms: Close of the last day in trends and correlation.
        change_1h: Change of the price over a span, percent. The others too.
        changes_from: Span (`1h`) → when the price that the change is measured from was accepted.
    """

    symbol: str
    venue_symbol: str
    venue: str
    price: float | None
    price_ms: int | None
    volume_usd: float
    open_interest_usd: float | None
    funding_apr: float | None
    funding_ms: int | None
    interval_hours: float
    trend_daily: Trend | None
    trend_daily_since_ms: int | None
    trend_weekly: Trend | None
    trend_weekly_since_ms: int | None
    btc_correlation: float | None
    through_ms: int | None
    change_1h: float | None = None
    change_24h: float | None = None
    change_7d: float | None = None
    change_30d: float | None = None
    changes_from: Mapping[str, int] = {}


_FIELDS: Final = 6

VolumeRow: TypeAlias = tuple[int, float, float, float, float, float]
"""A closed bar: open time (epoch ms), open, high, low, close (USD), volume (base units)."""


class PackedBars:
    """A coin's daily bars in one array of floats, oldest first: 48 bytes a bar, Python tuples take 250.

    The process that leads keeps all bars of the market in memory. Iteration yields them without volumes, as charts read
    them. Open times come back as floats, which hold them exactly.

    Args:
        rows: The first bars.

    Attributes:
        numbers: All bars, six numbers each as in `VolumeRow`.
    """

    __slots__ = ("numbers",)

    def __init__(self, rows: Iterable[VolumeRow] = ()) -> None:
        self.numbers = array("d")
        self.extend(rows)

    def __len__(self) -> int:
        return len(self.numbers) // _FIELDS

    def __iter__(self) -> Iterator[Row]:
        return (row[:5] for row in self.with_volumes())

    def with_volumes(self) -> Iterator[VolumeRow]:
        """Iterate over the bars with their volumes."""
        numbers = iter(self.numbers)
        return zip(cast("Iterator[int]", numbers), *(numbers,) * 5, strict=True)

    @property
    def last_ms(self) -> int:
        """Open time of the newest bar. There must be one."""
        return int(self.numbers[-_FIELDS])

    def extend(self, rows: Iterable[VolumeRow]) -> None:
        """Append newer bars."""
        self.numbers.extend(chain.from_iterable(rows))

    def before(self, end_ms: int) -> "PackedBars":
        """The bars that opened before an instant."""
        return PackedBars(row for row in self.with_volumes() if row[0] < end_ms)
