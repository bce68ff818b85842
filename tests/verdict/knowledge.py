"""Ten thousand things that may be known of a coin, the same ones on every machine and Python: only `random()` is drawn.

Imports what a bare interpreter with msgspec and rfc8785 has, so that another one can be asked for its verdicts.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, TypeVar, get_args

import msgspec

from service.verdict.decide import decide
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.wire.market import Stance, Trend
from service.wire.regime import Regime
from service.wire.verdict import (
    FundingFacts,
    RegimeFacts,
    RiskFacts,
    SentimentFacts,
    Sources,
    VerdictInputs,
    VerdictRaw,
)

COUNT: Final = 10_000
AT: Final = "2025-07-25T12:00:00.000Z"
CLOSE: Final = "2025-07-25T00:00:00.000Z"
BOUNDS: Final = (43.8, 21.9, 0.0, 5.475, 10.95, -10.95, -16.425, -21.9, 32.85, 1e6)
FIELDS: Final = ("price", "funding_apr", "trend_daily", "trend_weekly", "btc_correlation")
TURNS: Final = (0.0, 10.0, -10.0, 9.9999, -9.9999, 9.99996, -9.99996, 10.0001)

SCALES: Final = (1e-6, 1e-3, 1.0, 1e3, 1e6)

T = TypeVar("T")


def inputs(count: int = COUNT) -> Iterator[VerdictInputs]:
    """The first so many of them."""
    chance = Random(4)  # noqa: S311 - no secret: the same draws everywhere
    for _ in range(count):
        yield draw(chance)


def draw(chance: Random) -> VerdictInputs:
    raw = VerdictRaw(
        risk=_maybe(chance, 0.95, _risk),
        funding=_maybe(chance, 0.9, _funding),
        regime=_maybe(chance, 0.9, _regime),
        sentiment=_maybe(chance, 0.9, _sentiment),
    )
    sources = [
        "rejected" if facts is None else "stale" if _is(chance, 0.1) else "fulfilled"
        for facts in (raw.risk, raw.funding, raw.regime, raw.sentiment)
    ]
    symbol = _of(chance, ("BTC", "ETH", "KPEPE", "1000SATS"))
    return VerdictInputs(
        symbol, AT, msgspec.convert(dict(zip(Sources.__struct_fields__, sources, strict=True)), Sources), raw
    )


def fingerprint(version: int, count: int = COUNT) -> str:
    """One digest of that many verdicts of a version as they are sent, byte for byte."""
    rules = VERSION_1 if version == 1 else VERSION_2
    whole = hashlib.sha256()
    for known in inputs(count):
        whole.update(msgspec.json.encode(decide(known, rules)))
    return whole.hexdigest()


def _risk(chance: Random) -> RiskFacts:
    return RiskFacts(
        observed_at=AT,
        price=_maybe(chance, 0.95, lambda chance: _of(chance, SCALES) * chance.random()),
        funding_apr=_maybe(chance, 0.9, _apr),
        charted_at=CLOSE,
        trend_daily=_maybe(chance, 0.85, lambda chance: _of(chance, get_args(Trend))),
        trend_weekly=_maybe(chance, 0.75, lambda chance: _of(chance, get_args(Trend))),
        btc_correlation=_maybe(chance, 0.5, lambda chance: round(2 * chance.random() - 1, 4)),
        stale_fields=[field for field in FIELDS if _is(chance, 0.08)],
    )


def _funding(chance: Random) -> FundingFacts:
    week = _apr(chance)
    day = round(week + _of(chance, TURNS), 5) if _is(chance, 0.5) else _apr(chance)
    return FundingFacts(AT, day, week, _maybe(chance, 0.8, lambda chance: round(100 * chance.random(), 4)), 720)


def _apr(chance: Random) -> float:
    if _is(chance, 0.3):
        return round(_of(chance, BOUNDS) + _of(chance, (0.0, 0.0001, -0.0001, 0.00004)), 5)
    return round(240 * chance.random() - 120, 4)


def _regime(chance: Random) -> RegimeFacts:
    return RegimeFacts(
        CLOSE,
        _maybe(chance, 0.9, lambda chance: _of(chance, get_args(Regime))),
        _maybe(chance, 0.9, lambda chance: _of(chance, get_args(Regime))),
        _maybe(chance, 0.9, lambda chance: round(chance.random(), 4)),
    )


def _sentiment(chance: Random) -> SentimentFacts:
    summary = "Neutral: no rule holds (no news in 7 days, Fear & Greed 50)."
    return SentimentFacts(AT, _of(chance, get_args(Stance)), summary if _is(chance, 0.5) else None)


def _is(chance: Random, probability: float) -> bool:
    return chance.random() < probability


def _of(chance: Random, options: Sequence[T]) -> T:
    return options[int(chance.random() * len(options))]


def _maybe(chance: Random, probability: float, make: Callable[[Random], T]) -> T | None:
    return make(chance) if _is(chance, probability) else None
