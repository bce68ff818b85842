"""The rules a second time, from the words of their table and not from `service.verdict`: plain, exact, and slow."""

from fractions import Fraction
from typing import NamedTuple

from service.wire.verdict import VerdictInputs

UNIT = Fraction(1, 10_000)
WEIGHTS = {
    1: tuple(Fraction(weight) for weight in ("1", "1", "1/2", "1/2", "1/2", "1/4", "1/4")),
    2: tuple(Fraction(weight) for weight in ("1/2", "1", "1/2", "1/2", "3/4", "1/4", "1/2")),
}
"""Of the daily and weekly trend, the market's and the coin's regime, funding's level and momentum, sentiment."""

GROUPS = {1: ((0,), (1,), (2,), (3,), (4,), (5,), (6,)), 2: ((0, 1, 2, 3), (4, 5), (6,))}
"""Which of these rules are one piece of evidence, by version."""


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
HALF_TREND = {"UP": (2, "HODL"), "HODL": (0, "UP"), "DOWN": (-2, "HODL")}
REGIME = {"risk-on": (2, "neutral"), "neutral": (0, "risk-on"), "risk-off": (-2, "neutral")}
STANCE = {
    "accumulation": (1, "exhaustion"),
    "capitulation": (1, "exhaustion"),
    "exhaustion": (0, "capitulation"),
    "neutral": (0, "distribution"),
    "distribution": (-1, "neutral"),
    "euphoria": (-1, "neutral"),
}
DOUBLE_STANCE = {stance: (2 * quarters, flips_at) for stance, (quarters, flips_at) in STANCE.items()}


def exact(figure: float) -> Fraction:
    """A figure as it is written, not as it is stored."""
    return Fraction(repr(figure))


def funding_level_v1(apr: Fraction) -> tuple[int, Fraction, Fraction]:
    return funding_level(apr, most=2, less=1)


def funding_level_v2(apr: Fraction) -> tuple[int, Fraction, Fraction]:
    return funding_level(apr, most=3, less=2)


def funding_level(apr: Fraction, most: int, less: int) -> tuple[int, Fraction, Fraction]:
    """Quarters, threshold, nearest flip; beyond an outer bound `most` quarters, beyond an inner one `less`."""
    crowded, filling = Fraction("43.8"), Fraction("21.9")
    quiet, paid = Fraction("-10.95"), Fraction("-21.9")
    if apr >= crowded:
        return -most, crowded, crowded - UNIT
    if apr >= filling:
        return -less, filling, crowded if crowded - apr <= apr - (filling - UNIT) else filling - UNIT
    if apr <= paid:
        return most, paid, paid + UNIT
    if apr <= quiet:
        return less, quiet, paid if apr - paid <= quiet + UNIT - apr else quiet + UNIT
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


def judge(known: VerdictInputs, version: int) -> list[Judged]:
    risk, funding, regime, sentiment = known.raw.risk, known.raw.funding, known.raw.regime, known.raw.sentiment
    rules = [UNKNOWN] * 7
    if risk is not None:
        daily = TREND if version == 1 else HALF_TREND
        rules[0] = named(risk.trend_daily, daily, stale="trend_daily" in risk.stale_fields)
        rules[1] = named(risk.trend_weekly, TREND, stale="trend_weekly" in risk.stale_fields)
        if version == 1 and risk.funding_apr is not None:
            apr, stale = exact(risk.funding_apr), "funding_apr" in risk.stale_fields
            rules[4] = Judged(apr, *funding_level_v1(apr), Fraction(1, 2 if stale else 1))
    if regime is not None:
        rules[2] = named(regime.market, REGIME, stale=known.sources.regime == "stale")
        rules[3] = named(regime.coin, REGIME, stale=known.sources.regime == "stale")
    if funding is not None:
        covered = Fraction(1, 2 if known.sources.funding == "stale" else 1)
        if version == 2:
            apr = exact(funding.apr_24h)
            rules[4] = Judged(apr, *funding_level_v2(apr), covered)
        if funding.apr_7d is not None:
            change = round((exact(funding.apr_24h) - exact(funding.apr_7d)) / UNIT) * UNIT
            rules[5] = Judged(change, *momentum(change), covered)
    if sentiment is not None:
        stances = STANCE if version == 1 else DOUBLE_STANCE
        rules[6] = named(sentiment.stance, stances, stale=known.sources.sentiment == "stale")
    return rules


def opine(known: VerdictInputs, version: int) -> Opinion:
    rules, weights = judge(known, version), WEIGHTS[version]
    groups = [sum(rules[rule].quarters for rule in group) for group in GROUPS[version]]
    quarters = sum(groups)
    spoken = sum(map(abs, groups))
    coverage = sum((weight * rule.covered for weight, rule in zip(weights, rules, strict=True)), Fraction()) / 4
    agreement = Fraction(1)
    mute = 4 * sum((weight for weight, rule in zip(weights, rules, strict=True) if not rule.covered), Fraction())
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
