"""What a model is given of each payload: what decides and what qualifies it, in the wire's own names and types.

What only a program follows up (hashes, feeds, what is derived from other fields) is left out: a model reads every byte.
Rows that differ by what was asked for stand in one list, where each holds what it has. A test holds every field to the
wire's struct that it comes from.
"""
# ruff: noqa: N815 - names on the wire are the contract's, camelCase included

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from service.wire.market import Stance, Trend, Zone
from service.wire.quality import ReliabilityTier
from service.wire.regime import Direction, Regime
from service.wire.rwa import AssetType
from service.wire.verdict import Confidence, Label
from service.wire.walkforward import Strategy


class Noted(Struct, frozen=True, kw_only=True):
    """What every answer may say: in `notes` what was cut, what is stale, and whether the figures are recorded ones."""

    notes: str | UnsetType = UNSET


class Dated(Noted, frozen=True, kw_only=True):
    """An answer that has an age: `as_of` is the observation time of its oldest input, ISO 8601 UTC."""

    as_of: str
    data_age_seconds: int


class Risk(Dated, frozen=True, kw_only=True):
    """Of `coin.risk`."""

    symbol: str
    price: float | None
    funding_apr: float | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    sentiment_stance: Stance | None
    btc_correlation: float | None
    _stale_fields: list[str]


class CoinRow(Struct, frozen=True):
    """Of `coins`."""

    symbol: str
    price: float | None
    change_24h: float | None
    change_7d: float | None
    volume_24h_usd: float | None
    funding_apr: float | None
    trend_daily: Trend | None
    verdict: Label | None
    _stale_fields: list[str]


class Coins(Dated, frozen=True, kw_only=True):
    """Of `coins`."""

    coins: list[CoinRow]


class Rule(Struct, frozen=True):
    """Of a verdict: one rule, applied."""

    id: str
    contribution: float
    flips_at: str | float | None


class Verdict(Dated, frozen=True, kw_only=True):
    """Of `signal`."""

    symbol: str
    verdict: Label
    score: float
    confidence: Confidence
    evidence: list[str]
    rules: list[Rule]


class Point(Struct, frozen=True):
    """Of a coin's history."""

    t: str
    priceUSD: float
    fundingRate: float | None


class History(Dated, frozen=True, kw_only=True):
    """Of `coin.historical`."""

    symbol: str
    change_pct: float | None
    series: list[Point]


class Shares(Struct, frozen=True):
    """Of breadth, percent."""

    UP: float
    HODL: float
    DOWN: float


class Crossing(Struct, frozen=True):
    """Of breadth: UP came to outnumber DOWN, or the reverse."""

    at: str
    direction: Literal["UP over DOWN", "DOWN over UP"]


class CoinRegime(Struct, frozen=True, kw_only=True):
    """Of `regime`: a coin as its position or its signal shows it."""

    symbol: str
    regime: Regime
    direction: Direction | UnsetType | None = UNSET
    entryDate: str | UnsetType = UNSET
    firedAt: str | UnsetType = UNSET
    reasons: list[str] | UnsetType = UNSET


class Trade(Struct, frozen=True):
    """Of `regime?action=history`."""

    direction: Direction
    entryDate: str
    exitDate: str
    returnPct: float


class Market(Dated, frozen=True, kw_only=True):
    """Of `market.health`, `market.crossing` and `regime`."""

    breadth_pct: Shares | UnsetType = UNSET
    interpretation: str | UnsetType = UNSET
    crossings: list[Crossing] | UnsetType = UNSET
    regime: Regime | UnsetType | None = UNSET
    since: str | UnsetType = UNSET
    coins: list[CoinRegime] | UnsetType = UNSET
    trades: list[Trade] | UnsetType = UNSET


class Member(Struct, frozen=True, kw_only=True):
    """Of a category: a coin as it trades, or as it is written about."""

    symbol: str
    price: float | UnsetType | None = UNSET
    change_24h: float | UnsetType | None = UNSET
    trend_daily: Trend | UnsetType | None = UNSET
    score: float | UnsetType | None = UNSET


class Category(Dated, frozen=True, kw_only=True):
    """Of `category.info`, or of `category.sentiment`."""

    name: str
    stance: Stance | UnsetType = UNSET
    score: float | UnsetType | None = UNSET
    summary: str | UnsetType = UNSET
    coins: list[Member]


class Alert(Struct, frozen=True):
    """Of `funding.alerts`."""

    asset: str
    triggerZone: Zone
    fundingAtTrigger: float
    firedAt: str
    clearedAt: str | None


class Alerts(Dated, frozen=True, kw_only=True):
    """Of `funding.alerts`."""

    events: list[Alert]


class Asset(Struct, frozen=True, kw_only=True):
    """Of `rwa.assets`; what `rwa.symbol` knows beyond that."""

    id: str
    name: str
    assetType: AssetType
    price: float | UnsetType | None = UNSET
    change_24h: float | UnsetType | None = UNSET
    trend_daily: Trend | UnsetType | None = UNSET
    volume_24h_usd: float | UnsetType | None = UNSET


class Assets(Dated, frozen=True, kw_only=True):
    """Of `rwa.assets`, or of `rwa.symbol`."""

    assets: list[Asset]


class Record(Struct, frozen=True, kw_only=True):
    """Of `walkforward`: a decision, a position that is held, or one that has ended."""

    symbol: str
    direction: Direction
    strategy: Strategy
    scanDate: str | UnsetType = UNSET
    entryDate: str | UnsetType = UNSET
    unrealizedPct: float | UnsetType | None = UNSET
    exitDate: str | UnsetType = UNSET
    returnPct: float | UnsetType = UNSET


class Summary(Struct, frozen=True):
    """Of a walk-forward run, out of sample, after costs."""

    total: int
    winRate: float | None
    meanReturnPct: float | None
    deflatedSharpe: float | None
    maxDrawdownPct: float


class Walkforward(Dated, frozen=True, kw_only=True):
    """Of `walkforward`, all three actions."""

    records: list[Record]
    summary: Summary | UnsetType | None = UNSET


class Validations(Struct, frozen=True):
    """Of `signal.quality`: the trades that were counted, out of sample, after costs."""

    sampleSize: int
    winRate: float | None
    meanReturnPct: float | None
    sharpe: float | None


class Quality(Dated, frozen=True, kw_only=True):
    """Of `signal.quality`."""

    asset: str
    reliability_tier: ReliabilityTier
    confidence: float | None
    validations: Validations


class Highlight(Struct, frozen=True, kw_only=True):
    """Of `transcripts`."""

    publishedAt: str
    speaker: str | None
    quote: str
    url: str
    coins: list[str]


class Transcripts(Dated, frozen=True, kw_only=True):
    """Of `transcripts`."""

    highlights: list[Highlight]


class Token(Struct, frozen=True):
    """Of a watched wallet: a token that moved."""

    contract: str
    symbol: str | None


class Wallet(Struct, frozen=True):
    """Of `wallets?action=watchlist`."""

    address: str
    label: str | None
    tokens: list[Token]


class Movement(Struct, frozen=True):
    """Of `wallets?action=movements`."""

    ts: str
    token: str | None
    direction: Literal["in", "out"]
    amount: str
    amount_usd: float | None
    label: str | None


class Wallets(Dated, frozen=True, kw_only=True):
    """Of `wallets`, both actions."""

    watchlist: list[Wallet] | UnsetType = UNSET
    movements: list[Movement] | UnsetType = UNSET


class Told(Noted, frozen=True, kw_only=True):
    """Of `question`; `as_of` is of the oldest source, null where the answer rests on none."""

    as_of: str | None
    text: str
