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
    """What was paid recently: means of 24 hours and of 7 days, percent a year, up to the newest payment.

    At least 23 of 24 hours are paid: otherwise the mean of 7 days is null, and without that of 24 hours no facts exist.
    `percentile_30d` ranks the newest payment among those of 30 days, 0 to 100, null under a week of them; `observed_at`
    is the newest payment, `payments` how many there were in 30 days.
    """

    observed_at: str
    apr_24h: float
    apr_7d: float | None
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


class Claim(Struct, frozen=True):
    """What a verdict like this one says of the price so many days later, if it has shown that it says anything.

    `target` is what comes true: `rises` (the price is higher), `beats-median` (it gained more than the median
    coin). `probability` is null, and `reason` says what was measured, unless skill was shown on days that were used
    neither to fit nor to choose: `docs/decisions/0009-which-probabilities-are-published.md`. It is also null while the
    live record withdraws it. `base_rate` is how
    often the target came true on these `days_seen` days, and `skill` 1 less the Brier score over that of the base
    rate; `skill_low` and `skill_high` bound it, corrected for all trials. `method` is how it was fitted,
    `fitted_until` the last recorded day (`2025-07-25`). What `reason` counts is of all recorded days.
    """

    days: int
    target: Target
    probability: Share | None
    base_rate: Share
    skill: float
    skill_low: float
    skill_high: float
    days_seen: int
    fitted_until: str
    method: str
    reason: str | None


class HorizonRecord(Struct, frozen=True):
    """How verdicts of a class turned out so many days later.

    `days_seen` are the days on which such verdicts with an outcome were given, `outcomes` the coins on all of them:
    coins move together, so days are what counts. `hit_rate` is how often what the verdict says came true,
    `hit_rate_low` and `hit_rate_high` its 95 % interval, clustered by day; `base_rate` is how often the same came true
    after any verdict; 0 to 1. `mean_move_pct` is in percent. All null under 60 days, the interval also where all days
    are alike; `says` says so.
    """

    days: int
    days_seen: int
    outcomes: int
    hit_rate: Share | None
    hit_rate_low: Share | None
    hit_rate_high: Share | None
    base_rate: Share | None
    mean_move_pct: float | None
    says: str


class Outcomes(Struct, frozen=True):
    """What became of past verdicts like this one, of all coins and of this coin, after 1, 3 and 7 days."""

    all_coins: list[HorizonRecord]
    this_coin: list[HorizonRecord]


class TrackRecord(Struct, frozen=True):
    """What became of past verdicts like this one: two records that are never mixed.

    `live` counts the ledger: verdicts that were written down before anybody could know. `backtested` counts verdicts of
    the same rules, recomputed for every past day from the bars that had closed by then; null until that is done.
    `entries` and `head` are the length and last hash of the ledger: keep them, and the past cannot be rewritten
    unnoticed. None of this enters `verdict_id`.
    """

    backtested: Outcomes | None
    live: Outcomes
    entries: int
    head: str


class CoinVerdict(Struct, frozen=True):
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


class Signal(CoinVerdict, frozen=True):
    """A verdict as the route answers it: with what it claims and the record of verdicts like it.

    Both are null with `as_of`: they were not known then, and would tell a back-test its future.
    """

    claims: list[Claim] | None
    record: TrackRecord | None


class BriefSignal(Struct, frozen=True):
    """A verdict without what few readers need: `omitted` counts what was left out, by its path in the full answer.

    `claims` are those with a probability, records those with an outcome. `price` is USD, as of the verdict's inputs.
    The inputs (`raw`) are missing, so this form cannot be recomputed: that takes `detail=full`.
    """

    symbol: str
    price: float | None
    verdict: Label
    score: VerdictScore
    confidence: Confidence
    as_of: str
    evidence: list[str]
    sources: Sources
    rules: list[AppliedRule]
    ruleset: Ruleset
    verdict_id: str
    confidence_basis: ConfidenceBasis
    claims: list[Claim] | None
    record: TrackRecord | None
    omitted: dict[str, int]
