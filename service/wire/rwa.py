"""Payloads of the routes of real-world assets: equities, funds, metals, commodities, indices, currencies."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.wire.market import Trend

AssetType = Literal["equity", "etf", "metal", "commodity", "index", "fx"]
Dex = Literal["xyz"]


AssetText = Annotated[
    str,
    Meta(
        pattern=r"^([A-Za-z0-9]{1,20}:)?[A-Za-z0-9]{1,20}\Z",
        description="A ticker such as AAPL or GOLD, 1 to 20 letters and digits, with or without its dex "
        "(xyz:AAPL); case does not matter",
        examples=["AAPL", "xyz:AAPL"],
    ),
]


class OfRwaSymbol(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one real-world asset."""

    symbol: AssetText


class OfRwaId(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one real-world asset, by its id."""

    id: Annotated[AssetText, Meta(examples=["xyz:AAPL"])]


class RwaAssetsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which assets are listed: those of a type, of a venue's dex, and how many at most."""

    type: Annotated[AssetType | None, Meta(description="Only assets of this type; without it all")] = None
    dex: Annotated[Dex | None, Meta(description="Only assets of this builder dex of the venue; without it all")] = None
    top: Annotated[int, Meta(ge=1, le=1_000, description="How many assets at most, the most traded first")] = 200


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

    Trends are those of the price in USD alone. `changes_from` says by span (`24h`) when the price that `change_24h` is
    measured from was accepted. What is unknown is null; what could not be refreshed, or is not known,
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
    changes_from: dict[str, str]
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
