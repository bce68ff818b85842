"""What `coins` takes and gives: the table of all coins and measures."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from service.wire.market import Correlation, PageMeta, Stance, Trend
from service.wire.parameters import CursorText
from service.wire.queries import CategoryName
from service.wire.regime import Regime
from service.wire.verdict import Label, VerdictScore

SortField = Literal[
    "rank", "symbol", "name", "price", "change_1h", "change_24h", "change_7d", "change_30d", "volume_24h_usd",
    "open_interest_usd", "market_cap", "funding_apr", "streak_days", "score", "btc_correlation",
]  # fmt: skip

SortOrder = Literal["asc", "desc"]


class CoinRow(Struct, frozen=True):
    """One coin now. What is not known is null.

    `price`, `volume_24h_usd`, `open_interest_usd` and `market_cap` are USD; volume and open interest are the venue's.
    Changes are percent: `change_24h` is the venue's, the others are from the close of a closed bar to the price now,
    as in `coin/historical` with 1 hour, 7 days and 30 days. `funding_apr` is percent per year, simple; positive means
    longs pay. `rank` is the place by market cap among all coins of the table. `streak_days` counts the days of the
    present daily trend. `regime` is the coin's own. `verdict` and `score` are by the rules of `signal`; they are not
    entered in the ledger. `categories` are exact names, the largest first. `_stale_fields` names measures that are not
    known or could not be refreshed; `rank` and `streak_days` follow the fields that they derive from.
    """

    symbol: str
    name: str | None
    rank: int | None
    price: float | None
    change_1h: float | None
    change_24h: float | None
    change_7d: float | None
    change_30d: float | None
    volume_24h_usd: float | None
    open_interest_usd: float | None
    market_cap: float | None
    funding_apr: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    streak_days: int | None
    regime: Regime | None
    verdict: Label | None
    score: VerdictScore | None
    sentiment_stance: Stance | None
    btc_correlation: Correlation | None
    categories: list[str] | None
    stale_fields: list[str] = field(name="_stale_fields")


ALWAYS: Final = ("symbol", "_stale_fields")
"""Fields that every row has, whatever `fields` asks for."""

SELECTABLE: Final = tuple(name for name in CoinRow.__struct_encode_fields__ if name not in ALWAYS)

_NAMES: Final = "|".join((*ALWAYS, *SELECTABLE))


class CoinsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which coins, in which order, with which fields; a page of them."""

    fields: (
        Annotated[
            str,
            Meta(
                pattern=rf"^({_NAMES})(,({_NAMES}))*\Z",
                max_length=200,
                description=f"Fields of a row, separated by commas; any of {', '.join(SELECTABLE)}; symbol and "
                "_stale_fields are always there",
                examples=["price,change_24h,verdict"],
            ),
        ]
        | None
    ) = None
    sort: Annotated[SortField, Meta(description="Field to order by; unknown values come last")] = "rank"
    order: (
        Annotated[
            SortOrder,
            Meta(description="Order; by default ascending for rank, symbol and name, else descending"),
        ]
        | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Most coins of a page")] = 100
    cursor: CursorText | None = None
    category: CategoryName | None = None
    trend: Annotated[Trend, Meta(description="Only this daily trend")] | None = None
    verdict: Annotated[Label, Meta(description="Only this verdict")] | None = None
    min_volume: Annotated[int, Meta(ge=0, le=10**14, description="Least 24-hour volume, whole USD")] | None = None
    symbols: (
        Annotated[
            str,
            Meta(
                pattern=r"^[A-Za-z0-9]{1,20}(,[A-Za-z0-9]{1,20})*\Z",
                max_length=200,
                description="Tickers, separated by commas; in any case",
                examples=["BTC,ETH,SOL"],
            ),
        ]
        | None
    ) = None


class Coins(Struct, frozen=True):
    """The coins asked for. `meta.total` counts those on all pages."""

    coins: list[CoinRow]
    meta: PageMeta


class SelectedCoins(Struct, frozen=True):
    """The coins asked for, each with `symbol`, the `fields` asked for, and `_stale_fields` among them."""

    coins: list[dict[str, Any]]
    meta: PageMeta
