"""The rules a second time, from the words of their table and not from `service.verdict`: plain, exact, and slow."""

from fractions import Fraction
from typing import NamedTuple

from service.wire.verdict import VerdictInputs

UNIT = Fraction(1, 10_000)
WEIGHTS = tuple(Fraction(weight) for weight in ("1", "1", "1/2", "1/2", "1/2", "1/4", "1/4"))


class Judged(NamedTuple):
    """What one rule says: value, contribution in quarters, threshold, where it flips, and what is covered of it."""

    value: str | Fraction | None
    quarters: int
    threshold: str | Fraction | None
    flips_at: str | Fraction | None
    covered: Fraction


class Opinion(NamedTuple):
    rules: list[Judged]
    score: Fraction
    verdict: str
    confidence: str
    coverage: Fraction
    agreement: Fraction


UNKNOWN = Judged(None, 0, None, None, Fraction(0))
TREND = {"UP": (4, "HODL"), "HODL": (0, "UP"), "DOWN": (-4, "HODL")}
REGIME = {"risk-on": (2, "neutral"), "neutral": (0, "risk-on"), "risk-off": (-2, "neutral")}
STANCE = {
    "accumulation": (1, "exhaustion"),
    "capitulation": (1, "exhaustion"),
    "exhaustion": (0, "capitulation"),
    "neutral": (0, "distribution"),
    "distribution": (-1, "neutral"),
    "euphoria": (-1, "neutral"),
}


def exact(figure: float) -> Fraction:
    """A figure as it is written, not as it is stored."""
    return Fraction(repr(figure))


def funding_level(apr: Fraction) -> tuple[int, Fraction, Fraction]:
    """Quarters, threshold, nearest flip."""
    crowded, filling = Fraction("43.8"), Fraction("21.9")
    quiet, paid = Fraction("-10.95"), Fraction("-21.9")
    if apr >= crowded:
        return -2, crowded, crowded - UNIT
    if apr >= filling:
        return -1, filling, crowded if crowded - apr <= apr - (filling - UNIT) else filling - UNIT
    if apr <= paid:
        return 2, paid, paid + UNIT
    if apr <= quiet:
        return 1, quiet, paid if apr - paid <= quiet + UNIT - apr else quiet + UNIT
    nearest = filling if filling - apr <= apr - quiet else quiet
    return 0, nearest, nearest


def momentum(change: Fraction) -> tuple[int, Fraction, Fraction]:
    if change >= 10:
        return 1, Fraction(10), 10 - UNIT
    if change <= -10:
        return -1, Fraction(-10), UNIT - 10
    nearest = Fraction(10 if change >= 0 else -10)
    return 0, nearest, nearest


def named(name: str | None, table: dict[str, tuple[int, str]], *, stale: bool) -> Judged:
    if name is None:
        return UNKNOWN
    quarters, flips_at = table[name]
    return Judged(name, quarters, name, flips_at, Fraction(1, 2 if stale else 1))


def judge(known: VerdictInputs) -> list[Judged]:
    risk, funding, regime, sentiment = known.raw.risk, known.raw.funding, known.raw.regime, known.raw.sentiment
    rules = [UNKNOWN] * 7
    if risk is not None:
        rules[0] = named(risk.trend_daily, TREND, stale="trend_daily" in risk.stale_fields)
        rules[1] = named(risk.trend_weekly, TREND, stale="trend_weekly" in risk.stale_fields)
        if risk.funding_apr is not None:
            apr = exact(risk.funding_apr)
            quarters, threshold, flips_at = funding_level(apr)
            stale = "funding_apr" in risk.stale_fields
            rules[4] = Judged(apr, quarters, threshold, flips_at, Fraction(1, 2 if stale else 1))
    if regime is not None:
        rules[2] = named(regime.market, REGIME, stale=known.sources.regime == "stale")
        rules[3] = named(regime.coin, REGIME, stale=known.sources.regime == "stale")
    if funding is not None:
        change = round((exact(funding.apr_24h) - exact(funding.apr_7d)) / UNIT) * UNIT
        quarters, threshold, flips_at = momentum(change)
        stale = known.sources.funding == "stale"
        rules[5] = Judged(change, quarters, threshold, flips_at, Fraction(1, 2 if stale else 1))
    if sentiment is not None:
        rules[6] = named(sentiment.stance, STANCE, stale=known.sources.sentiment == "stale")
    return rules


def opine(known: VerdictInputs) -> Opinion:
    rules = judge(known)
    quarters = sum(rule.quarters for rule in rules)
    spoken = sum(abs(rule.quarters) for rule in rules)
    coverage = sum((weight * rule.covered for weight, rule in zip(WEIGHTS, rules, strict=True)), Fraction()) / 4
    agreement = Fraction(1)
    mute = 4 * sum((weight for weight, rule in zip(WEIGHTS, rules, strict=True) if not rule.covered), Fraction())
    if spoken or mute:
        agreement = max(Fraction(0), (abs(quarters) - mute) / (spoken + mute))
    risk = known.raw.risk
    if risk is None or risk.price is None or coverage < Fraction(1, 2) or rules[0] == rules[1] == UNKNOWN:
        return Opinion(rules, Fraction(quarters, 4), "insufficient-evidence", "low", coverage, agreement)
    sources = known.sources
    well = {sources.risk, sources.funding, sources.regime, sources.sentiment} == {"fulfilled"}
    level = 3 if agreement >= Fraction(3, 4) else 2 if agreement >= Fraction(1, 2) else 1
    if coverage < Fraction(6, 10):
        level -= 2
    elif coverage < Fraction(9, 10) or not well:
        level -= 1
    confidence = {3: "high", 2: "medium"}.get(level, "low")
    return Opinion(rules, Fraction(quarters, 4), verdict_of(quarters), confidence, coverage, agreement)


def verdict_of(quarters: int) -> str:
    side = "bull" if quarters > 0 else "bear"
    return "neutral" if abs(quarters) < 4 else side if abs(quarters) < 10 else f"strong-{side}"
