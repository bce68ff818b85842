"""One coin of which everything is known, and what may be changed about that."""

from typing import Any

from msgspec.structs import replace

from service.wire.verdict import (
    FundingFacts,
    RegimeFacts,
    RiskFacts,
    SentimentFacts,
    Sources,
    VerdictInputs,
    VerdictRaw,
)

AT = "2025-07-25T12:00:00.000Z"
CLOSE = "2025-07-25T00:00:00.000Z"

KNOWN = VerdictInputs(
    symbol="BTC",
    as_of=CLOSE,
    sources=Sources("fulfilled", "fulfilled", "fulfilled", "fulfilled"),
    raw=VerdictRaw(
        risk=RiskFacts(AT, 117_345.5, 10.95, CLOSE, "UP", "UP", 1.0, []),
        funding=FundingFacts(AT, 12.5, 11.25, 61.5, 720),
        regime=RegimeFacts(CLOSE, "risk-on", "risk-on", 0.8125),
        sentiment=SentimentFacts(AT, "neutral", None),
    ),
)


def known(**changed: Any) -> VerdictInputs:
    """`KNOWN` with fields changed: `risk__price=None`, `sources__risk="stale"`; `funding=None` rejects a source."""
    inputs = KNOWN
    for name, value in changed.items():
        part, _, field = name.partition("__")
        if part == "sources":
            inputs = replace(inputs, sources=replace(inputs.sources, **{field: value}))
        elif field:
            inputs = replace(
                inputs, raw=replace(inputs.raw, **{part: replace(getattr(inputs.raw, part), **{field: value})})
            )
        else:
            inputs = without(inputs, part)
    return inputs


def without(inputs: VerdictInputs, *sources: str) -> VerdictInputs:
    nothing: dict[str, Any] = dict.fromkeys(sources)
    rejected: dict[str, Any] = dict.fromkeys(sources, "rejected")
    return replace(inputs, raw=replace(inputs.raw, **nothing), sources=replace(inputs.sources, **rejected))
