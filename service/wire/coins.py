"""What `coins` and the routes that look a coin up take and give."""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from service.wire.market import Correlation, PageMeta, Stance, Trend
from service.wire.parameters import CursorText, SymbolText
from service.wire.queries import CategoryName
from service.wire.regime import Regime
from service.wire.rwa import AssetType
from service.wire.verdict import Label, VerdictScore

SortField = Literal[
    "rank", "symbol", "name", "price", "change_1h", "change_24h", "change_7d", "change_30d", "volume_24h_usd",
    "open_interest_usd", "market_cap", "funding_apr", "streak_days", "score", "btc_correlation",
]  # fmt: skip

SortOrder = Literal["asc", "desc"]


class CoinRow(Struct, frozen=True):
    """One coin now. What is not known is null.

    `price`, `volume_24h_usd`, `open_interest_usd` and `market_cap` are USD; volume and open interest are the venue's.
    Changes are percent, from the last accepted price at or before the present minute less the span to the price now, as
    in `coin/historical`; `changes_from` says by span (`1h`) when that price was accepted. `funding_apr` is percent per
    year, simple; positive means longs pay. `rank` is the place by market cap among all coins of the table.
    `streak_days` counts the days of the present daily trend. `regime` is the coin's own. `verdict` and `score` are by
    the rules of `signal`; they are not entered in the ledger. `categories` are exact names, the largest first.
    `_stale_fields` names measures that are not known or could not be refreshed; `rank` and `streak_days` follow the
    fields that they derive from.
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
    changes_from: dict[str, str]
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


class LookupQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin by its ticker."""

    symbol: SymbolText


class OfCoinId(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin by CoinGecko's id."""

    id: Annotated[
        str,
        Meta(
            pattern=r"^[ -~]+\Z",
            max_length=120,
            description="CoinGecko's id of a coin such as bitcoin; case does not matter",
            examples=["bitcoin"],
        ),
    ]


class OfCoinName(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin by its full name."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=120,
            description="The full name of a coin such as Bitcoin; case and punctuation do not matter",
            examples=["Bitcoin"],
        ),
    ]


class OfContract(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin by the contract of its token."""

    address: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9:._-]{1,200}\Z",
            description="A token's contract: 0x and 40 hexadecimal digits in any case, or the address of another chain "
            "such as Solana, whose case matters",
            examples=["0x514910771AF9CA656af840dff83E8264EcF986CA"],
        ),
    ]
    chain: Annotated[
        str,
        Meta(min_length=1, max_length=40, description="The chain, such as ethereum or solana", examples=["ethereum"]),
    ]


class CoinIdentity(Struct, frozen=True):
    """Which coin it is, and its figures: USD, percent, place by market cap as in `coins`. What is not known is null.

    `id` is CoinGecko's.
    """

    id: str | None
    symbol: str
    name: str | None
    marketCap: float | None
    price: float | None
    change_24h_pct: float | None
    rank: int | None


class TrendPeriod(Struct, frozen=True):
    """A run of one daily trend: its first and its last closed UTC day, and its days, both counted."""

    trend: Trend
    start: str
    end: str
    streak: int


class CurrentTrend(Struct, frozen=True):
    """The run that goes on at the last closed daily bar; `days` counts `since` and `asOf`."""

    trend: Trend
    since: str
    days: int
    asOf: str
    incompleteDayExcluded: bool = True


class CurrentWeeklyTrend(Struct, frozen=True):
    """The run that goes on at the last closed week, from a Monday to a Sunday."""

    trend: Trend
    since: str
    weeks: int
    asOf: str
    incompleteDayExcluded: bool = True


class TrendBands(Struct, frozen=True):
    """SuperTrend bands (10 days, factor 3) in USD of the last closed daily bar, and its close."""

    upper: float
    lower: float
    at: str


class BandPosition(Struct, frozen=True):
    """Where the price stands: 0 at the lower band, 100 at the upper one; outside of them below 0 or above 100."""

    percent: float | None


class CoinLookup(Struct, frozen=True):
    """A coin and how it has trended, from closed bars.

    `trends` are the newest 50 runs of the daily trend, oldest first; `average_streak` is the mean of their days.
    Without price history they are empty and the rest is null. `changes_from` says by span (`24h`) when the price that
    the change is measured from was accepted. `contract` and `chain` are there if the coin was asked
    for by them, `note` where it is not one that the service tracks.
    """

    coin: CoinIdentity
    trends: list[TrendPeriod]
    average_streak: float | None
    currentTrend: CurrentTrend | None
    currentTrendWeekly: CurrentWeeklyTrend | None
    latestBands: TrendBands | None
    band_position: BandPosition
    changes_from: dict[str, str]
    stale_fields: list[str] = field(name="_stale_fields")
    contract: str | UnsetType = UNSET
    chain: str | UnsetType = UNSET
    note: str | UnsetType = UNSET


class ResolveQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody typed, and how many matches are wanted."""

    q: Annotated[
        str,
        Meta(
            pattern=r"\S",
            max_length=200,
            description="A ticker, name, id, contract, or a misspelling of one",
            examples=["dogwifhat"],
        ),
    ]
    limit: Annotated[int, Meta(ge=1, le=50, description="Most matches, the best first")] = 5


class ResolveMatch(Struct, frozen=True):
    """A coin or a real-world asset that a text may mean.

    `via` is how it was found, `score` from 0 to 1. `id` is CoinGecko's, or `xyz:AAPL`; `rank` is the place by market
    cap as in `coins`.
    """

    symbol: str
    name: str | None
    assetType: Literal["crypto"] | AssetType
    rank: int | None
    via: str
    score: Annotated[float, Meta(ge=0, le=1)]
    id: str | None


class Resolved(Struct, frozen=True):
    """Matches, the best first; `tried` are the ways that were tried, in order. Nothing found: no matches.

    `note` is there where a coin and a real-world asset share the ticker.
    """

    query: str
    tried: list[str]
    matches: list[ResolveMatch]
    count: int
    note: str | UnsetType = UNSET
