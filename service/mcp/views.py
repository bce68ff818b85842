"""What a model is given of each payload: what decides and what qualifies it, in the wire's own names and types.

What only a program follows up (hashes, feeds, what is derived from other fields) is left out: a model reads every byte.
Rows that differ by what was asked for stand in one list, where each holds what it has. A test holds every field to the
wire's struct that it comes from.
"""
# ruff: noqa: N815 - names on the wire are the contract's, camelCase included

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from service.wire.market import Stance, Trend, Zone
from service.wire.quality import ReliabilityTier
from service.wire.regime import Direction, Regime
from service.wire.rwa import AssetType
from service.wire.verdict import Confidence, Label
from service.wire.walkforward import Strategy


class Dated(Struct, frozen=True, kw_only=True):
    """An answer that has an age: `as_of` is the observation time of its oldest input, ISO 8601 UTC."""

    as_of: str
    data_age_seconds: int


class RiskView(Dated, frozen=True, kw_only=True):
    """Of `coin.risk`, `resolve` and the lookups of a coin."""

    symbol: str | UnsetType = UNSET
    price: float | UnsetType | None = UNSET
    funding_apr: float | UnsetType | None = UNSET
    trend_daily: Trend | UnsetType | None = UNSET
    trend_weekly: Trend | UnsetType | None = UNSET
    sentiment_stance: Stance | UnsetType | None = UNSET
    btc_correlation: float | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    trends: list[dict[str, Any]] | UnsetType = UNSET
    matches: list[dict[str, Any]] | UnsetType = UNSET
    _stale_fields: list[str] | UnsetType = UNSET


class _CoinRow(Struct, frozen=True):
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


class CoinsView(Dated, frozen=True, kw_only=True):
    """Of `coins`."""

    coins: list[_CoinRow]


class _Rule(Struct, frozen=True):
    """Of a verdict: one rule, applied."""

    id: str
    contribution: float
    flips_at: str | float | None


class VerdictView(Dated, frozen=True, kw_only=True):
    """Of `signal`."""

    symbol: str
    verdict: Label
    score: float
    confidence: Confidence
    evidence: list[str]
    rules: list[_Rule]


class _Point(Struct, frozen=True):
    """Of a coin's history."""

    t: str
    priceUSD: float
    fundingRate: float | None


class HistoryView(Dated, frozen=True, kw_only=True):
    """Of `coin.historical`."""

    symbol: str
    change_pct: float | None
    series: list[_Point]


class _Crossing(Struct, frozen=True):
    """Of breadth: UP came to outnumber DOWN, or the reverse."""

    at: str
    direction: Literal["UP over DOWN", "DOWN over UP"]


class _CoinRegime(Struct, frozen=True, kw_only=True):
    """Of `regime`: a coin as its position or its signal shows it."""

    symbol: str
    direction: Direction | UnsetType | None = UNSET
    entryDate: str | UnsetType = UNSET
    firedAt: str | UnsetType = UNSET


class _Trade(Struct, frozen=True):
    """Of `regime?action=history`."""

    direction: Direction
    exitDate: str
    returnPct: float


class _Narrative(Struct, frozen=True):
    """Of `narratives`."""

    name: str
    mentions: int


class MarketView(Dated, frozen=True, kw_only=True):
    """Of the routes of the market, and `regime`."""

    breadth_pct: dict[str, float] | UnsetType = UNSET
    interpretation: str | UnsetType = UNSET
    crossings: list[_Crossing] | UnsetType = UNSET
    regime: Regime | UnsetType | None = UNSET
    since: str | UnsetType = UNSET
    coins: list[_CoinRegime] | UnsetType = UNSET
    trades: list[_Trade] | UnsetType = UNSET
    prices: dict[str, Any] | UnsetType = UNSET
    baselines: dict[str, Any] | UnsetType = UNSET
    totalMarketCap: dict[str, Any] | UnsetType = UNSET
    marketCapPercentage: dict[str, Any] | UnsetType = UNSET
    narratives: list[_Narrative] | UnsetType = UNSET


class _Member(Struct, frozen=True, kw_only=True):
    """Of a category: a coin as it trades, or as it is written about."""

    symbol: str
    price: float | UnsetType | None = UNSET
    change_24h: float | UnsetType | None = UNSET
    trend_daily: Trend | UnsetType | None = UNSET
    score: float | UnsetType | None = UNSET


class CategoryView(Dated, frozen=True, kw_only=True):
    """Of `category.info`, or of `category.sentiment`."""

    name: str
    stance: Stance | UnsetType = UNSET
    score: float | UnsetType | None = UNSET
    summary: str | UnsetType = UNSET
    coins: list[_Member]


class _Alert(Struct, frozen=True):
    """Of `funding.alerts`."""

    asset: str
    triggerZone: Zone
    fundingAtTrigger: float
    firedAt: str
    clearedAt: str | None


class FundingAlertsView(Dated, frozen=True, kw_only=True):
    """Of `funding.alerts`."""

    events: list[_Alert]


class _Asset(Struct, frozen=True, kw_only=True):
    """Of `rwa.assets`; what `rwa.symbol` knows beyond that."""

    id: str
    name: str
    assetType: AssetType
    price: float | UnsetType | None = UNSET
    change_24h: float | UnsetType | None = UNSET
    trend_daily: Trend | UnsetType | None = UNSET


class AssetsView(Dated, frozen=True, kw_only=True):
    """Of `rwa.assets`, or of `rwa.symbol`."""

    assets: list[_Asset]


class _Record(Struct, frozen=True, kw_only=True):
    """Of `walkforward`: a decision, a position that is held, or one that has ended."""

    symbol: str
    direction: Direction
    strategy: Strategy
    scanDate: str | UnsetType = UNSET
    entryDate: str | UnsetType = UNSET
    unrealizedPct: float | UnsetType | None = UNSET
    exitDate: str | UnsetType = UNSET
    returnPct: float | UnsetType = UNSET


class _Summary(Struct, frozen=True):
    """Of a walk-forward run, out of sample, after costs."""

    total: int
    winRate: float | None
    meanReturnPct: float | None
    deflatedSharpe: float | None
    maxDrawdownPct: float


class WalkforwardView(Dated, frozen=True, kw_only=True):
    """Of `walkforward`, all three actions."""

    records: list[_Record]
    summary: _Summary | UnsetType | None = UNSET


class _Validations(Struct, frozen=True):
    """Of `signal.quality`: the trades that were counted, out of sample, after costs."""

    sampleSize: int
    winRate: float | None
    meanReturnPct: float | None
    sharpe: float | None


class QualityView(Dated, frozen=True, kw_only=True):
    """Of `signal.quality`."""

    asset: str
    reliability_tier: ReliabilityTier
    confidence: float | None
    validations: _Validations


class _Highlight(Struct, frozen=True, kw_only=True):
    """Of `transcripts`."""

    publishedAt: str
    speaker: str | None
    quote: str
    url: str
    coins: list[str]


class TranscriptsView(Dated, frozen=True, kw_only=True):
    """Of `transcripts`."""

    highlights: list[_Highlight]


class _Token(Struct, frozen=True):
    """Of a watched wallet: a token that moved."""

    contract: str
    symbol: str | None


class _Wallet(Struct, frozen=True):
    """Of `wallets?action=watchlist`."""

    address: str
    label: str | None
    tokens: list[_Token]


class _Movement(Struct, frozen=True):
    """Of `wallets?action=movements`."""

    ts: str
    token: str | None
    direction: Literal["in", "out"]
    amount: str
    amount_usd: float | None
    label: str | None


class WalletsView(Dated, frozen=True, kw_only=True):
    """Of `wallets`, both actions."""

    watchlist: list[_Wallet] | UnsetType = UNSET
    movements: list[_Movement] | UnsetType = UNSET


class AnswerView(Struct, frozen=True, kw_only=True):
    """Of `question`; `as_of` is of the oldest source, null where the answer rests on none."""

    as_of: str | None
    text: str
