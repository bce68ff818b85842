"""Payloads of the tools that questions alone have: what is computed from other payloads, looked up, or ranked."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from service.wire.access import Tier
from service.wire.ask import Order, Timeframe
from service.wire.market import Trend
from service.wire.parameters import SymbolText
from service.wire.payment import Period
from service.wire.wallets import Movement

Ranked = Literal["change_24h", "funding_apr", "volume_usd", "open_interest_usd", "btc_correlation", "price"]
"""What coins can be ranked by: a field of their row, by its plain value."""

MOST_ROWS: Final = 50
"""Coins that a scan shows at most."""

Sides = Literal["long", "short", "both"]


class ScanQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which coins are wanted, by what they are ranked, and how many."""

    by: Ranked = "change_24h"
    order: Order = "most"
    trend: Trend | None = None
    timeframe: Timeframe = "daily"
    category: str | None = None
    symbols: tuple[SymbolText, ...] | None = None
    exclude: tuple[SymbolText, ...] = ()
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 5


class ScanRow(Struct, frozen=True):
    """A coin as it stands now: USD, percent, percent a year, USD of 24 hours, USD; null is not known."""

    symbol: str
    price: float | None
    change_24h: float | None
    funding_apr: float | None
    volume_usd: float | None
    open_interest_usd: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    btc_correlation: float | None


class Scan(Struct, frozen=True):
    """Coins in the order of a figure.

    `universe` is how many were looked at, `count` how many of them are in the state that was asked for (all, without
    one) and have the figure; `unknown` are in that state and do not have it. `coins` are the first of those that count.
    `_stale_fields` are the fields in which at least one row shown could not be refreshed.
    """

    by: Ranked
    order: Order
    trend: Trend | None
    timeframe: Timeframe
    category: str | None
    excluded: list[str]
    universe: int
    count: int
    unknown: int
    coins: list[ScanRow]
    _stale_fields: list[str]


class CarryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A position: of so many USD, on a side or both, held for so many days.

    `quantity` takes the place of `notional_usd`: so many coins.
    """

    symbol: SymbolText
    notional_usd: Annotated[float, Meta(gt=0, le=1e12)] = 10_000.0
    side: Sides = "both"
    days: Annotated[float, Meta(gt=0, le=3_650)] = 1.0
    quantity: Annotated[float, Meta(gt=0, le=1e15)] | None = None


class CarryEstimate(Struct, frozen=True):
    """What funding would come to if it stayed as it is: simple, on an unchanged notional.

    `long_usd` and `short_usd` are what that side receives in the whole time (negative: pays); `quantity` is the
    notional in coins. Null where funding or price is not known, of a position of so many coins `notional_usd` too.
    """

    symbol: str
    side: Sides
    notional_usd: float | None
    days: float
    price: float | None
    funding_apr: float | None
    quantity: float | None
    long_usd: float | None
    short_usd: float | None
    _stale_fields: list[str]


class ValueQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """An amount of USD, or of a coin by its ticker, to be told in a coin."""

    symbol: SymbolText
    amount: Annotated[float, Meta(ge=0, le=1e15)]
    unit: SymbolText = "USD"


class Value(Struct, frozen=True):
    """What an amount is worth in USD, and how many of a coin that buys, at mark prices, before any cost.

    `unit_price` is the USD price of one `unit`, null where that is USD. Null where a price is not known.
    """

    symbol: str
    price: float | None
    amount: float
    unit: str
    unit_price: float | None
    usd: float | None
    quantity: float | None
    _stale_fields: list[str]


class QuotaStanding(Struct, frozen=True):
    """What is left of the caller's questions; null where there is no limit, or nothing resets."""

    tier: Tier
    used: int
    limit: int | None
    remaining: int | None
    period: Period
    resets_at: str | None


class GlossaryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A key of the glossary."""

    term: Annotated[str, Meta(min_length=1, max_length=40)]


class Definition(Struct, frozen=True):
    """What a word means here, and the titles of what to read beside it."""

    term: str
    title: str
    text: str
    see: list[str]


class RecentQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The largest movements of so many days back from now."""

    days: Annotated[int, Meta(ge=1, le=30)] = 1
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 10


class RecentMovements(Struct, frozen=True):
    """What moved in and out of watched wallets whose worth was known when it was first seen, the largest first.

    `since` is when the first of the days began, `wallets` how many are watched, `total` how many such movements there
    were. A transfer between two watched wallets is one of them, out of the sender's. `chainId` is null where nobody is
    watched.
    """

    since: str
    days: int
    wallets: int
    chainId: int | None
    total: int
    movements: list[Movement]
