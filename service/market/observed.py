"""What the room keeps of a market, whatever venue it was seen on. All times are epoch milliseconds UTC."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from service.clock import DAY_MS, SECOND_MS
from service.wire.market import Trend

VENUE: Final = "hyperliquid"
"""The first venue: what it lists is what is known here."""

BENCHMARK: Final = "BTC"

MAJORS: Final = (BENCHMARK, "ETH")
"""What every coin is compared with, in venue symbols: fetched first, and waited for at the start."""

SETTLE_MS: Final = 5 * SECOND_MS
"""So long after its close a bar counts as closed, on whatever venue: its last trades have then entered it."""

REACH_MS: Final = 90 * DAY_MS
"""How far back hours are kept complete."""

Row: TypeAlias = tuple[int, float, float, float, float]
"""A closed bar as the numbers want it: open time, open, high, low, close."""

BarRow: TypeAlias = tuple[int, float, float, float, float, float, int]
"""A closed bar to be kept: open time (epoch ms), open, high, low, close (USD), volume (base units), trades."""

PaymentRow: TypeAlias = tuple[int, float, float]
"""A payment of funding: when it was paid, to the minute; the fraction an hour; hours since the one before."""


class Quote(Struct, frozen=True):
    """A coin's newest price and funding, each with the time the venue showed it.

    `price` is the mark price in USD, `funding` the fraction paid an hour (positive: longs pay), whatever the hours
    between two payments are (`interval_hours`). `volume_usd` is that of the last 24 hours, `open_interest` in base
    units, `prev_price` the price 24 hours before. `venue` told the price, or the funding where no price is known. A
    value and its time are null together.
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
    interval_hours: float = 1.0


class Bar(Struct, frozen=True):
    """One bar, open or closed; prices in USD, volume in base units."""

    open_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int


class Coin(Struct, frozen=True):
    """A coin that the first venue lists, or once listed."""

    venue_symbol: str
    symbol: str
    listed: bool


class Quotes(Struct, frozen=True):
    """Coins as a venue showed them at one time.

    `delisted` are the names that it no longer trades (null: it did not say), `dropped` counts rows without a valid
    ticker.
    """

    observed_ms: int
    quotes: Sequence[Quote]
    delisted: Sequence[str] | None = ()
    dropped: int = 0


class History(Struct, frozen=True):
    """Bars of one coin, oldest first, and the venue's time when it told them.

    `provisional` counts closed bars that a later request has to confirm before they are among `bars`.
    """

    observed_ms: int
    bars: Sequence[Bar]
    provisional: int = 0


class Chart(Struct, frozen=True):
    """What the closed daily bars of a coin say; `through_ms` is the close of the last day that entered."""

    through_ms: int | None = None
    trend_daily: Trend | None = None
    trend_daily_since_ms: int | None = None
    trend_weekly: Trend | None = None
    trend_weekly_since_ms: int | None = None
    btc_correlation: float | None = None


class Failure(Struct, frozen=True):
    """An attempt that failed: when, with which HTTP status (null: none), and what was said."""

    at_ms: int
    status: int | None
    body: str


class State(Struct, frozen=True):
    """The store's one row about itself; see the migrations.

    `failure` is the first venue's last refresh of quotes, if that failed; `venue` says who brought quotes all the same.
    """

    origin: str
    revision: int
    quotes_ms: int | None = None
    history_ms: int | None = None
    failure: Failure | None = None
    venue: str | None = None


class Snapshot(Struct, frozen=True):
    """Everything a desk answers from. State and listed coins are of one instant of the store."""

    state: State
    coins: list[tuple[Quote, Chart]]
    delisted: Sequence[Coin] = ()


class Progress(Struct, frozen=True):
    """How far a coin's history goes: the open of its last closed bar, or when its last payment was made."""

    venue_symbol: str
    symbol: str
    listed: bool
    last_ms: int | None


class CoinView(Struct, frozen=True):
    """A listed coin as it stands now; what is past its limit is null, times of what is null too.

    `price` and `open_interest_usd` are USD, `change_24h` and `funding_apr` percent, `interval_hours` those between two
    payments of funding. `through_ms` is the close of the last day that entered trends and correlation.
    """

    symbol: str
    venue_symbol: str
    venue: str
    price: float | None
    price_ms: int | None
    change_24h: float | None
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
