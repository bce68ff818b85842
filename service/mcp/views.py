"""What a model is given of each payload: fields of the wire's structs, by name.

What only a program follows up (hashes, feeds, what is derived from other fields) is left out: a model reads every byte.
Rows that differ by what was asked for stand in one list, where each holds what it has: `?` marks fields that may be
missing.
"""

from typing import Any, Final, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from service.wire import ask, coins, market, quality, regime, rwa, sentiment, transcripts, verdict, walkforward, wallets

View = type[Struct]


class Dated(Struct, frozen=True, kw_only=True):
    """An answer that has an age: `as_of` is the observation time of its oldest input, ISO 8601 UTC."""

    as_of: str
    data_age_seconds: int


def view(fields: str, *wires: View, base: View = Dated, **own: Any) -> View:
    """A struct of fields of the wire.

    Args:
        fields: Their names on the wire.
        *wires: Structs that have the fields; the first that has one gives its type, without limits.
        base: What it extends.
        **own: Types of fields that are shown in another form.

    Raises:
        KeyError: If no struct has a field.
    """
    types: dict[str, Any] = {}
    for wire in reversed(wires):
        hints = get_type_hints(wire)
        types |= {field.encode_name: hints[field.name] for field in msgspec.structs.fields(wire)}
    types |= own
    named = [(field.removesuffix("?"), field.endswith("?")) for field in fields.split()]
    made: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (field, Union[types[field], UnsetType], UNSET) if may_miss else (field, types[field])  # noqa: UP007 - types
        for field, may_miss in named
    ]
    return msgspec.defstruct(fields, made, bases=(base,), frozen=True, kw_only=True)


def _row(fields: str, *wires: View, **own: Any) -> Any:
    return view(fields, *wires, base=Struct, **own)


def _rows(fields: str, *wires: View, **own: Any) -> Any:
    return list[_row(fields, *wires, **own)]  # type: ignore[misc] # made here


_Object = dict[str, Any]
_OBJECTS: Final = list[_Object]
"""Rows that are shown whole."""

RISK: Final = view(
    "symbol? price? funding_apr? trend_daily? trend_weekly? sentiment_stance? btc_correlation? name? trends? matches? "
    "_stale_fields?",
    market.RiskContext,
    coins.CoinIdentity,
    coins.CoinLookup,
    coins.Resolved,
    trends=_OBJECTS,
    matches=_OBJECTS,
)
_COIN: Final = "symbol price change_24h change_7d volume_24h_usd funding_apr trend_daily verdict _stale_fields"
COINS: Final = view("coins", coins=_rows(_COIN, coins.CoinRow))
VERDICT: Final = view(
    "symbol price verdict score confidence evidence rules",
    verdict.BriefSignal,
    rules=_rows("id contribution flips_at", verdict.AppliedRule),
)
_PRICE: Final = _row("as_of priceUSD", market.FactsThen)
HISTORY: Final = view(
    "symbol change_pct at now series",
    market.Historical,
    at=_PRICE,
    now=_PRICE,
    series=_rows("t priceUSD fundingRate", market.HistoricalPoint),
)
MARKET: Final = view(
    "breadth_pct? interpretation? crossings? regime? since? coins? trades? prices? baselines? totalMarketCap? "
    "marketCapPercentage? narratives? missing?",
    market.MarketHealth,
    market.LivePrices,
    regime.MarketRegime,
    breadth_pct=dict[str, float],
    crossings=_rows("at direction", market.Crossing),
    coins=_rows("symbol regime? direction? entryDate? firedAt?", regime.RegimeSignal, regime.RegimePosition),
    trades=_rows("direction exitDate returnPct", regime.RegimeTrade),
    narratives=_rows("name mentions", sentiment.Narrative),
    prices=_Object,
    baselines=_Object,
    totalMarketCap=_Object,
    marketCapPercentage=_Object,
)
CATEGORY: Final = view(
    "name stance? score? summary? coins",
    sentiment.CategorySentiment,
    coins=_rows("symbol price? change_24h? trend_daily? score?", market.CategoryCoin, sentiment.CoinSentiment),
)
ALERTS: Final = view(
    "events", events=_rows("asset triggerZone fundingAtTrigger firedAt clearedAt", market.FundingAlert)
)
ASSETS: Final = view(
    "assets", assets=_rows("id name assetType price? change_24h? trend_daily?", rwa.RwaAsset, rwa.RwaListing)
)
_SUMMARY: Final = _row("total winRate meanReturnPct deflatedSharpe maxDrawdownPct", walkforward.WalkforwardSummary)
WALKFORWARD: Final = view(
    "records summary?",
    records=_rows(
        "symbol direction strategy scanDate? entryDate? unrealizedPct? exitDate? returnPct?",
        walkforward.WalkforwardSignal,
        walkforward.WalkforwardPosition,
        walkforward.WalkforwardOutcome,
    ),
    summary=_SUMMARY | None,
)
QUALITY: Final = view(
    "asset reliability_tier confidence validations",
    quality.SignalQuality,
    validations=_row("sampleSize winRate meanReturnPct sharpe", quality.SignalValidations),
)
TRANSCRIPTS: Final = view("highlights", highlights=_rows("publishedAt speaker quote url coins", transcripts.Highlight))
WALLETS: Final = view(
    "watchlist? movements?",
    watchlist=_rows("address label tokens", wallets.WatchedWallet, tokens=_rows("contract symbol", wallets.MovedToken)),
    movements=_rows("ts token direction amount amount_usd label", wallets.Movement),
)
ANSWER: Final = view("as_of text", ask.QuestionAnswer, base=Struct, as_of=str | None)
"""`as_of` is of the oldest source, null where the answer rests on none."""
