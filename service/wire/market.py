"""Payloads of the market's routes."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from service.wire.regime import Regime

Trend = Literal["UP", "HODL", "DOWN"]
PayingSide = Literal["longs", "shorts"]
Stance = Literal["accumulation", "distribution", "euphoria", "capitulation", "exhaustion", "neutral"]
Correlation = Annotated[float, Meta(ge=-1, le=1)]


class RiskContext(Struct, frozen=True):
    """Bundled risk context of one asset.

    `price` is USD with the venue's own precision; `funding_apr`, `carry_if_long` and `carry_if_short` are percent a
    year, simple; `btc_correlation` is Pearson's over the daily log returns of the last 90 common closed bars (30 at
    least). What is unknown is null; what could not be refreshed, or is not known, is named in `_stale_fields`, fields
    derived from it excepted. `venue_symbol` is there only where the venue writes the ticker differently (`kPEPE`), and
    `contract_size` where its prices are of several coins (1000); `price` is always that of one coin.
    """

    symbol: str
    price: float | None
    funding_apr: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    sentiment_stance: Stance | None
    btc_correlation: Correlation | None
    _stale_fields: list[str]
    trend_daily_since: str | None
    trend_weekly_since: str | None
    funding_paying_side: PayingSide | None
    funding_receiving_side: PayingSide | None
    carry_if_long: float | None
    carry_if_short: float | None
    sentiment_summary: str | None
    venue: str
    venue_symbol: str | UnsetType = UNSET
    contract_size: int | UnsetType = UNSET


class Facts(Struct, frozen=True):
    """What is known of a coin at one time: money in USD, volumes of 24 hours, `fundingRate` in percent a year.

    `volume` is that of the coin itself on the spot markets that CoinGecko knows, `futuresVolume24h` and `openInterest`
    are those of the venue's perpetual; null is not recorded.
    """

    priceUSD: float | None
    marketCap: float | None
    volume: float | None
    openInterest: float | None
    fundingRate: float | None
    futuresVolume24h: float | None


class FactsThen(Facts, frozen=True):
    """What was known of a coin at an instant; `as_of` is when its price was accepted, null where none is known.

    Market cap, volume and open interest are those of the hour before, else of the close of the last bar that had ended,
    of the unit asked for; funding and futures volume are those of that bar and of the 24 hours that it ended.
    """

    as_of: str | None


class FactsNow(Facts, frozen=True):
    """What is known of a coin now; the two groups of values have different ages.

    `as_of` is the older observation of the price and the funding rate that are shown, `market_cap_as_of` that of
    `marketCap` and `volume`; ISO 8601 UTC, null where none of the values is known.
    """

    as_of: str | None
    market_cap_as_of: str | None


class HistoricalPoint(Struct, frozen=True):
    """A bar's end: ISO 8601 UTC, USD, USD traded in the bar on the venue, percent a year (mean of its payments)."""

    t: str
    priceUSD: float
    volume: float | None
    fundingRate: float | None


class Historical(Struct, frozen=True):
    """A coin `count` units before now, now, and the bars between. `change_pct` is that of the price, in percent."""

    symbol: str
    count: int
    unit: Literal["h", "d"]
    at: FactsThen
    now: FactsNow
    change_pct: float | None
    series: list[HistoricalPoint]


class CategoryCoin(Struct, frozen=True):
    """A coin of a category: USD, percent, USD; `streak_days` is how long its daily trend state has lasted.

    `changes_from` says by span (`24h`) when the price that `change_24h` is measured from was accepted.
    """

    symbol: str
    name: str
    price: float | None
    change_24h: float | None
    market_cap: float | None
    trend_daily: Trend | None
    streak_days: int | None
    changes_from: dict[str, str]


class TrendCounts(Struct, frozen=True):
    """How many coins are in each state."""

    UP: int
    HODL: int
    DOWN: int


class TrendShares(Struct, frozen=True):
    """What share of the coins is in each state, percent."""

    UP: float
    HODL: float
    DOWN: float


class CategoryInfo(Struct, frozen=True):
    """A category's trend breakdown. Money is USD, `change_24h` percent.

    Leaders and laggards are tickers, the best and the worst change first.
    """

    name: str
    description: str | None
    coins: list[CategoryCoin]
    trends: TrendCounts
    market_cap: float | None
    change_24h: float | None
    volume_24h: float | None
    leaders: list[str]
    laggards: list[str]


class BreadthExtreme(Struct, frozen=True):
    """A state that at least 60 % of the universe is in."""

    state: Trend
    share_pct: float
    count: int


class Mover(Struct, frozen=True):
    """A coin ahead of or behind the others: 30-day return less the universe's median, percentage points."""

    symbol: str
    relative_pct: float
    trend_daily: Trend


class Divergence(Struct, frozen=True):
    """Two things that usually agree and do not; `detail` is a sentence with the figures."""

    kind: str
    symbol: str | None
    detail: str


class MarketHealth(Struct, frozen=True):
    """Breadth of the market on the last closed day; the fields from `velocity` on are there with `context=1`.

    `velocity` is the change of the net share (UP less DOWN) a day over five days, percentage points.
    """

    date: str
    universe: int
    trends: TrendCounts
    breadth_pct: TrendShares
    hasExtremes: bool
    extremes: list[BreadthExtreme]
    velocity: float | UnsetType | None = UNSET
    regime: Regime | UnsetType | None = UNSET
    regime_age_days: int | UnsetType | None = UNSET
    leadership: list[Mover] | UnsetType = UNSET
    laggards: list[Mover] | UnsetType = UNSET
    divergences: list[Divergence] | UnsetType = UNSET
    interpretation: str | UnsetType = UNSET


class Crossing(Struct, frozen=True):
    """UP less DOWN changed its sign between two closed daily bars; `at` is the close of the later one, newest first.

    `up` and `down` are the counts at the crossing, `previous` and `current` those of the two bars.
    """

    id: str
    up: int
    down: int
    direction: Literal["UP over DOWN", "DOWN over UP"]
    at: str
    previous: TrendCounts
    current: TrendCounts
    universe: int


class Crossings(Struct, frozen=True):
    """Breadth crossings of the last 90 days; `message` says so where there are none."""

    crossings: list[Crossing]
    message: str | UnsetType = UNSET


Zone = Literal["hot", "very-hot", "cold", "very-cold"]


class FundingAlert(Struct, frozen=True):
    """A coin's funding entered a zone.

    `fundingAtTrigger` is percent a year, `percentile` 0 to 100 of the coin's last 30 days.
    """

    id: str
    asset: str
    triggerZone: Zone
    fundingAtTrigger: float
    percentile: float
    interval_hours: float
    firedAt: str
    clearedAt: str | None
    price: float | None


class PageMeta(Struct, frozen=True):
    """How many there are in all, and where the next page begins; null where there is none."""

    total: int
    next_cursor: str | None


class FundingAlerts(Struct, frozen=True):
    """Funding alert events, newest first."""

    events: list[FundingAlert]
    meta: PageMeta


class PriceBaselines(Struct, frozen=True):
    """Prices of one coin in the past, USD: 4 hours, 24 hours and 7 days ago.

    Each is the last accepted price at or before the present minute less the horizon, or the close of a bar that had
    ended by then; null where it is not known. A horizon that was not asked for is absent.
    """

    b4h: float | UnsetType | None = UNSET
    b24h: float | UnsetType | None = UNSET
    b7d: float | UnsetType | None = UNSET


class LivePrice(Struct, frozen=True):
    """The price of one coin: USD, its venue, and when the venue showed it (epoch milliseconds).

    `coinId` is CoinGecko's id; null where no coin of CoinGecko matches.
    """

    coinId: str | None
    symbol: str
    price: float
    source: str
    ts: int


class LivePrices(Struct, frozen=True):
    """Prices by CoinGecko's id, the largest market value first. `ts` is when the answer was made, epoch milliseconds.

    A coin without an id has its ticker, in capitals, as key. `missing` names what was asked for and has no price.
    `changes_from` comes with `baselines` and says by the same key and by span (`4h`) when each was accepted.
    `_stale_fields` names prices that could not be refreshed (`prices.bitcoin`) and baselines that are not known.
    """

    prices: dict[str, LivePrice]
    ts: int
    baselines: dict[str, PriceBaselines] | UnsetType = UNSET
    changes_from: dict[str, dict[str, str]] | UnsetType = UNSET
    missing: list[str] | UnsetType = UNSET
    stale_fields: list[str] = field(name="_stale_fields", default_factory=list)


class Baselines(Struct, frozen=True):
    """Past prices by CoinGecko's id, as in `market/prices`. `ts` is when the answer was made, epoch milliseconds.

    `changes_from` says by the same key and by span (`4h`) when each was accepted.
    """

    baselines: dict[str, PriceBaselines]
    changes_from: dict[str, dict[str, str]]
    ts: int
    missing: list[str] | UnsetType = UNSET
    stale_fields: list[str] = field(name="_stale_fields", default_factory=list)


class TotalMarketCap(Struct, frozen=True):
    """Market value, USD, its change in 24 hours, percent, and the time of both."""

    market_cap_usd: float
    change_24h_pct: float | None
    at: str


class TotalMarketVolume(Struct, frozen=True):
    """Volume of 24 hours, USD."""

    volume_24h_usd: float | None


class GlobalMarket(Struct, frozen=True):
    """The whole market: value, volume, and shares of the ten largest coins by lower-case ticker, percent.

    `scope` says which coins are counted. What could not be refreshed is named in `_stale_fields`.
    """

    as_of: str
    btc_dominance_pct: float | None
    scope: str
    totalMarketCap: TotalMarketCap
    totalMarketVolume: TotalMarketVolume
    marketCapPercentage: dict[str, float]
    stale_fields: list[str] = field(name="_stale_fields")
