"""What the room keeps of a market, whatever venue it was seen on. All times are epoch milliseconds UTC."""

from typing import Final, TypeAlias

from msgspec import Struct

from service.wire.market import Trend

VENUE: Final = "hyperliquid"
"""The one venue so far."""

BENCHMARK: Final = "BTC"

MAJORS: Final = (BENCHMARK, "ETH")
"""What every coin is compared with, in venue symbols: fetched first, and waited for at the start."""

Row: TypeAlias = tuple[int, float, float, float, float]
"""A closed daily bar as the numbers want it: open time, open, high, low, close."""


class Quote(Struct, frozen=True):
    """A coin's newest price and funding, each with the time the venue showed it.

    `price` is the mark price in USD, `funding` the fraction paid an hour (positive: longs pay), `volume_usd` that of
    the last 24 hours. A value and its time are null together.
    """

    venue_symbol: str
    symbol: str
    volume_usd: float
    price: float | None
    price_ms: int | None
    funding: float | None
    funding_ms: int | None


class Bar(Struct, frozen=True):
    """One bar, open or closed; prices in USD, volume in base units."""

    open_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int


class Chart(Struct, frozen=True):
    """What the closed daily bars of a coin say; `through_ms` is the close of the last day that entered."""

    through_ms: int | None = None
    trend_daily: Trend | None = None
    trend_daily_since_ms: int | None = None
    trend_weekly: Trend | None = None
    trend_weekly_since_ms: int | None = None
    btc_correlation: float | None = None


class Failure(Struct, frozen=True):
    """The last refresh of quotes, which failed: when, with which HTTP status (null: none), and what was said."""

    at_ms: int
    status: int | None
    body: str


class State(Struct, frozen=True):
    """The store's one row about itself; see the migration."""

    origin: str
    revision: int
    quotes_ms: int | None = None
    history_ms: int | None = None
    failure: Failure | None = None


class Snapshot(Struct, frozen=True):
    """Everything a desk answers from, as of one instant of the store."""

    state: State
    coins: list[tuple[Quote, Chart]]


class Progress(Struct, frozen=True):
    """How far a coin's history goes: the open of its last closed bar, and of the last one its chart has seen."""

    venue_symbol: str
    last_ms: int | None
    inputs_ms: int | None
