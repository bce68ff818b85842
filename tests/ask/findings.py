"""Findings as steps hold them: payloads of the routes' own structs, with figures that are easy to tell apart."""

from collections.abc import Mapping
from typing import Any

import msgspec

from service.wire.ask import Step
from service.wire.market import Facts, FactsNow, Historical, HistoricalPoint, RiskContext
from service.wire.rwa import RwaAsset, RwaFunding
from service.wire.tools import CarryEstimate, Value
from service.wire.verdict import (
    AppliedRule,
    Claim,
    ConfidenceBasis,
    HorizonRecord,
    Outcomes,
    Record,
    RiskFacts,
    Ruleset,
    Signal,
    Sources,
    VerdictRaw,
)

AS_OF = "2025-07-25T14:02:10.000Z"
CLOSED = "2025-07-25T00:00:00.000Z"


def found(tool: str, args: Mapping[str, Any], result: object, *, id: str = "s1", as_of: str | None = AS_OF) -> Step:  # noqa: A002 - a step's own word
    return Step(id=id, tool=tool, args=args, result=msgspec.Raw(msgspec.json.encode(result)), as_of=as_of)


def failed(tool: str, args: Mapping[str, Any], error: str, *, id: str = "s1") -> Step:  # noqa: A002
    return Step(id=id, tool=tool, args=args, result=None, as_of=None, error=error)


_RISK: Mapping[str, Mapping[str, Any]] = {
    "BTC": {"price": 118234.5, "funding_apr": 10.95, "btc_correlation": 1.0, "sentiment_stance": "euphoria"},
    "ETH": {
        "price": 3811.27,
        "funding_apr": -6.2213,
        "trend_daily": "DOWN",
        "trend_weekly": "HODL",
        "btc_correlation": 0.8312,
        "trend_daily_since": "2025-07-21T00:00:00.000Z",
    },
    "SOL": {"price": 196.97, "funding_apr": -22.25, "trend_daily": "HODL", "btc_correlation": 0.6127},
    "KPEPE": {"price": 0.012453, "funding_apr": 317.9466, "venue_symbol": "kPEPE", "btc_correlation": 0.71},
}


def risk(symbol: str, *, id: str = "s1", **changed: Any) -> Step:  # noqa: A002
    facts = {**_RISK[symbol], **changed}
    apr = facts.get("funding_apr")
    stale = facts.pop("_stale_fields", [])
    paying = None if not apr else "longs" if apr > 0 else "shorts"
    receiving = None if not apr else "shorts" if apr > 0 else "longs"
    plain: dict[str, Any] = {
        "symbol": symbol,
        "trend_daily": "UP",
        "trend_weekly": "UP",
        "sentiment_stance": "neutral",
        "_stale_fields": stale,
        "trend_daily_since": "2025-07-18T00:00:00.000Z",
        "trend_weekly_since": "2025-06-02T00:00:00.000Z",
        "funding_paying_side": paying,
        "funding_receiving_side": receiving,
        "carry_if_long": None if apr is None else -apr,
        "carry_if_short": apr,
        "sentiment_summary": f"Neutral: crowd and price do not disagree (price +1.2 % in 24 h of {symbol}).",
        "venue": "hyperliquid",
        **facts,
    }
    return found("coin.risk", {"symbol": symbol}, msgspec.convert(plain, RiskContext), id=id)


_VERDICTS: Mapping[str, tuple[Any, float, Any]] = {
    "BTC": ("strong-bull", 3.25, "high"),
    "ETH": ("bear", -1.75, "low"),
    "SOL": ("neutral", -0.5, "medium"),
    "KPEPE": ("insufficient-evidence", 0.0, "low"),
}


def signal(symbol: str, *, id: str = "s1", **changed: Any) -> Step:  # noqa: A002
    label, score, confidence = _VERDICTS[symbol]
    trend: Any = _RISK[symbol].get("trend_daily", "UP")
    says = f"Of 842 {label} verdicts 64.29 % were right."
    horizon = HorizonRecord(3, 77, 842, 0.6429, 0.5912, 0.6946, 0.5512, 1.8342, says)
    few = HorizonRecord(7, 4, 9, None, None, None, None, None, "Not enough yet: 4 days, 60 are needed.")
    outcomes = Outcomes([horizon, few], [few])
    claim = Claim(3, "rises", None, 0.4967, -0.0009, -0.0072, 0.0056, 144, "2025-07-25", "isotonic", "No skill shown.")
    explanation = f"Confidence is {confidence}: 71.43 % of what {symbol}'s evidence says points one way."
    said = Signal(
        symbol=symbol,
        verdict=label,
        score=score,
        confidence=confidence,
        as_of=CLOSED,
        evidence=[f"{symbol}'s trend is {trend}.", f"Longs pay 25.55 % a year on {symbol}: crowded.", explanation],
        sources=Sources(risk="fulfilled", funding="stale", regime="rejected", sentiment="fulfilled"),
        raw=VerdictRaw(
            risk=RiskFacts(AS_OF, 118000.25, 25.55, CLOSED, trend, None, None, []),
            funding=None,
            regime=None,
            sentiment=None,
        ),
        rules=[
            AppliedRule("trend-daily", "risk.trend_daily", trend, trend, 1.0, 0, "HODL"),
            AppliedRule("funding-level", "risk.funding_apr", 25.55, 21.9, -0.25, 1, 43.8),
            AppliedRule("funding-momentum", "funding.apr_24h - funding.apr_7d", None, None, 0.0, 1, None),
        ],
        ruleset=Ruleset("verdict-rules", 2, "b0c5f231"),
        verdict_id="ab12" * 16,
        confidence_basis=ConfidenceBasis(0.9286, 0.7143, explanation),
        claims=[claim],
        record=Record(None, outcomes, 77, "cf" * 32),
    )
    return found("signal", {"symbol": symbol}, msgspec.structs.replace(said, **changed), id=id, as_of=CLOSED)


_HISTORIES: Mapping[str, tuple[float | None, float, float | None]] = {
    "BTC": (119052.0, 118234.5, -0.6867),
    "ETH": (3600.5, 3811.27, 5.8539),
    "SOL": (None, 196.97, None),
    "KPEPE": (0.012453, 0.012453, 0.0),
}


def history(symbol: str, *, id: str = "s1", count: int = 7, unit: Any = "d") -> Step:  # noqa: A002
    then, now, change = _HISTORIES[symbol]
    at = Facts(then, 500651530000.0, 3921849934.0, None, 10.95, 2482601108.0)
    sums = (460084260000.0, 4493912263.0, 2771471617.86, -3.5, 2808101732.18)
    after = FactsNow(now, *sums, "2025-07-25T23:59:55.000Z", "2025-07-25T23:58:00.000Z")
    series = [HistoricalPoint("2025-07-18T00:00:00.000Z", then, 2482601108.0, 10.95)] if then else []
    told = Historical(symbol, count, unit, at, after, change, series)
    args = {"symbol": symbol, "count": count, "unit": unit}
    return found("coin.historical", args, told, id=id)


def asset(symbol: str, *, id: str = "s1") -> Step:  # noqa: A002
    rows: Mapping[str, tuple[str, Any, float, float]] = {
        "GOLD": ("Gold", "metal", 3340.65, -0.8123),
        "JPY": ("Japanese Yen", "fx", 147.22, 0.3),
    }
    name, kind, price, change = rows[symbol]
    plain: dict[str, Any] = {
        "id": f"xyz:{symbol}",
        "symbol": symbol,
        "name": name,
        "assetType": kind,
        "venue": "hyperliquid",
        "price": price,
        "change_24h": change,
        "trend_daily": "UP",
        "trend_weekly": None,
        "funding": RwaFunding(0.0000125, 1.0, 4.38),
        "open_interest_usd": 41234567.0,
        "volume_24h_usd": 98765432.0,
        "_stale_fields": [],
    }
    return found(
        "rwa.symbol", {"symbol": f"xyz:{symbol}"}, msgspec.convert(plain, RwaAsset, from_attributes=True), id=id
    )


def carry(symbol: str, side: Any = "both", *, id: str = "s2", usd: float | None = 9.0041) -> Step:  # noqa: A002
    apr = None if usd is None else 10.95
    plain: dict[str, Any] = {
        "symbol": symbol,
        "side": side,
        "notional_usd": 12500.0,
        "days": 3.0,
        "price": 118234.5,
        "funding_apr": apr,
        "quantity": 0.10572,
        "long_usd": None if usd is None else -usd,
        "short_usd": usd,
        "_stale_fields": [],
    }
    return found("compute.carry", {"symbol": symbol}, msgspec.convert(plain, CarryEstimate), id=id)


def value(symbol: str, amount: float, unit: str, *, id: str = "s2", price: float | None = 3811.27) -> Step:  # noqa: A002
    unit_price = None if unit == "USD" else 118234.5 if unit != symbol else price
    usd = None if price is None else amount * (unit_price or 1.0)
    plain: dict[str, Any] = {
        "symbol": symbol,
        "price": price,
        "amount": amount,
        "unit": unit,
        "unit_price": unit_price,
        "usd": usd,
        "quantity": None if usd is None or price is None else usd / price,
        "_stale_fields": [],
    }
    return found("compute.value", {"symbol": symbol}, msgspec.convert(plain, Value), id=id)
