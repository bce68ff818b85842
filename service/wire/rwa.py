"""Payloads of the routes of real-world assets: equities, funds, metals, commodities, indices, currencies."""

from typing import Literal

from msgspec import Struct

from service.wire.market import Trend

AssetType = Literal["equity", "etf", "metal", "commodity", "index", "fx"]


class RwaFunding(Struct, frozen=True):
    """Funding of the perpetual on the asset: the asset itself pays none.

    `rate` is the fraction paid every `interval_hours`, `apr` percent a year, simple.
    """

    rate: float | None
    interval_hours: float
    apr: float | None
    belongs_to: Literal["perpetual"] = "perpetual"


class RwaAsset(Struct, frozen=True):
    """A real-world asset as its perpetual trades: USD, percent, USD.

    Trends are those of the price in USD alone. What is unknown is null; what could not be refreshed, or is not known,
    is named in `_stale_fields`.
    """

    id: str
    symbol: str
    name: str
    assetType: AssetType
    venue: str
    price: float | None
    change_24h: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    funding: RwaFunding
    open_interest_usd: float | None
    volume_24h_usd: float | None
    _stale_fields: list[str]


class RwaListing(Struct, frozen=True):
    """One listed asset."""

    id: str
    symbol: str
    name: str
    assetType: AssetType
    venue: str


class RwaAssets(Struct, frozen=True):
    """Listed assets, the most traded first; `count` is how many there are before `top` cuts."""

    count: int
    assets: list[RwaListing]
