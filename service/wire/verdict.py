"""Payload of `signal/{symbol}`: a verdict, everything it rests on, and how verdicts like it turned out."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.wire.market import Correlation, Stance, Trend
from service.wire.regime import Regime, Share

Label = Literal["strong-bull", "bull", "neutral", "bear", "strong-bear", "insufficient-evidence"]
Confidence = Literal["high", "medium", "low"]
Target = Literal["rises", "beats-median", "moves-more"]
SourceState = Literal["fulfilled", "rejected", "stale"]
VerdictScore = Annotated[float, Meta(ge=-4, le=4)]


class Sources(Struct, frozen=True):
    """How each source answered: `stale` where a part could not be refreshed, `rejected` where it has nothing."""

    risk: SourceState
    funding: SourceState
    regime: SourceState
    sentiment: SourceState


class RiskFacts(Struct, frozen=True):
    """Price (USD), funding (percent a year) and trends of a coin, and which of these fields are stale.

    `observed_at` is the older observation of price and funding, `charted_at` the close of the last day in the trends;
    ISO 8601 UTC. What is past its limit is null.
    """

    observed_at: str
    price: float | None
    funding_apr: float | None
    charted_at: str | None
    trend_daily: Trend | None
    trend_weekly: Trend | None
    btc_correlation: Correlation | None
    stale_fields: list[str]


class FundingFacts(Struct, frozen=True):
    """What was paid lately: means of 24 hours and of 7 days, percent a year.

    `percentile_30d` ranks the newest payment among those of 30 days, 0 to 100, null under a week of them; `observed_at`
    is the newest payment, `payments` how many there were in 30 days.
    """

    observed_at: str
    apr_24h: float
    apr_7d: float
    percentile_30d: float | None
    payments: int


class RegimeFacts(Struct, frozen=True):
    """The market's regime and the coin's own, through the close `observed_at`; null where not known yet."""

    observed_at: str
    market: Regime | None
    coin: Regime | None
    coin_confidence: Share | None


class SentimentFacts(Struct, frozen=True):
    """The coin's stance, and the sentence that says what it rests on."""

    observed_at: str
    stance: Stance
    summary: str | None


class VerdictRaw(Struct, frozen=True):
    """What the rules were given; null where a source was rejected."""

    risk: RiskFacts | None
    funding: FundingFacts | None
    regime: RegimeFacts | None
    sentiment: SentimentFacts | None


class VerdictInputs(Struct, frozen=True):
    """Everything a verdict is made of: from the same inputs and rules comes the same verdict, byte for byte.

    `as_of` is the oldest observation of what is used (ISO 8601 UTC).
    """

    symbol: str
    as_of: str
    sources: Sources
    raw: VerdictRaw


class AppliedRule(Struct, frozen=True):
    """One rule, applied.

    `input` is the path of what it looks at (`risk.trend_daily`), `value` what that was (null: not known, the rule does
    not count), `threshold` the bound or the name that put it where it is, `contribution` its part of the score,
    `evidence` the index of its sentence, `flips_at` the nearest value at which the contribution would be another.
    """

    id: str
    input: str
    value: str | float | None
    threshold: str | float | None
    contribution: float
    evidence: int
    flips_at: str | float | None


class Ruleset(Struct, frozen=True):
    """Name and version of the rules, and SHA-256 over the RFC 8785 form of their tables."""

    name: str
    version: int
    digest: str


class ConfidenceBasis(Struct, frozen=True):
    """What confidence follows from, 0 to 1.

    `coverage` is the share of the rules' weight whose inputs are known, stale ones counting half; `agreement` how much
    of what the groups of evidence say points one way, at the least: as if rules without input said the contrary.
    """

    coverage: Share
    agreement: Share
    explanation: str


class HorizonRecord(Struct, frozen=True):
    """How verdicts of a class turned out so many days later.

    `outcomes` were scored; `hit_rate` and `base_rate` (how often the same would have been right of any verdict's coin)
    0 to 1, `brier` 0 to 1 (0.25 is a coin toss) of those that claimed a probability, null where fewer than 30 did,
    `mean_move_pct` percent. All null below 30 outcomes: `says` says so.
    """

    days: int
    outcomes: int
    hit_rate: Share | None
    base_rate: Share | None
    brier: Share | None
    mean_move_pct: float | None
    says: str


class TrackRecord(Struct, frozen=True):
    """What became of past verdicts like this one, of all coins and of this coin.

    `probability_up` is null: a score claims no probability that the price rises. `entries` and `head` are the length
    and last hash of the ledger that every verdict is written to before its outcome is known: keep them, and nobody can
    rewrite the past unnoticed. None of this enters `verdict_id`.
    """

    probability_up: Share | None
    all_coins: list[HorizonRecord]
    this_coin: list[HorizonRecord]
    entries: int
    head: str


class Verdict(Struct, frozen=True):
    """A synthesised verdict of one coin, by published rules; no model is asked.

    The contributions of `rules` sum to `score`, -4 to +4. `verdict_id` is SHA-256 over the RFC 8785 form of
    `{"inputs": {symbol, as_of, sources, raw}, "ruleset": the rules' tables, "output": {verdict, score, confidence,
    confidence_basis, evidence, rules}}`.
    """

    symbol: str
    verdict: Label
    score: VerdictScore
    confidence: Confidence
    as_of: str
    evidence: list[str]
    sources: Sources
    raw: VerdictRaw
    rules: list[AppliedRule]
    ruleset: Ruleset
    verdict_id: str
    confidence_basis: ConfidenceBasis


class Signal(Verdict, frozen=True):
    """A verdict as the route answers it: with its track record.

    Null with `as_of`: what became of verdicts was not known then, and would tell a back-test its future.
    """

    track_record: TrackRecord | None
