"""What a model is given of each payload: fields of the wire's structs, by name.

What only a program follows up (hashes, feeds, what is derived from other fields) is left out: a model reads every byte.
Rows that differ by what was asked for stand in one list, where each holds what it has: `?` marks fields that may be
missing.
"""

from typing import Any, Final, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from service.wire import ask, coins, market, quality, regime, rwa, sentiment, transcripts, verdict, walkforward, wallets

Kind = type[Struct]


class Dated(Struct, frozen=True, kw_only=True):
    """An answer that has an age: `as_of` is the observation time of its oldest input, ISO 8601 UTC."""

    as_of: str
    data_age_seconds: int


def row(name: str, wires: tuple[Kind, ...], fields: str, base: Kind = Struct, /, **own: Any) -> Kind:
    """A struct of fields of the wire.

    Args:
        name: Its name.
        wires: Structs that have the fields; the first that has one gives its type, without limits.
        fields: Their names on the wire.
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
    return msgspec.defstruct(name, made, bases=(base,), frozen=True, kw_only=True)


def view(name: str, wires: tuple[Kind, ...], fields: str, /, **own: Any) -> Kind:
    """A dated answer, as `row`."""
    return row(name, wires, fields, Dated, **own)


OBJECTS: Final = list[dict[str, Any]]
"""Rows that are shown whole."""

RISK: Final = view(
    "RiskView",
    (market.RiskContext, coins.CoinIdentity, coins.CoinLookup, coins.Resolved),
    "symbol? price? funding_apr? trend_daily? trend_weekly? sentiment_stance? btc_correlation? name? trends? matches? "
    "_stale_fields?",
    trends=OBJECTS,
    matches=OBJECTS,
)
_COIN: Final = row(
    "CoinView",
    (coins.CoinRow,),
    "symbol price change_24h change_7d volume_24h_usd funding_apr trend_daily verdict _stale_fields",
)
COINS: Final = view("CoinsView", (), "coins", coins=list[_COIN])  # type: ignore[valid-type] # made above
_RULE: Final = row("RuleView", (verdict.AppliedRule,), "id contribution flips_at")
VERDICT: Final = view(
    "VerdictView",
    (verdict.BriefSignal,),
    "symbol price verdict score confidence evidence rules",
    rules=list[_RULE],  # type: ignore[valid-type]
)
_POINT: Final = row("PointView", (market.HistoricalPoint,), "t priceUSD fundingRate")
HISTORY: Final = view(
    "HistoryView",
    (market.Historical,),
    "symbol change_pct series",
    series=list[_POINT],  # type: ignore[valid-type]
)
_CROSSING: Final = row("CrossingView", (market.Crossing,), "at direction")
_COIN_REGIME: Final = row(
    "CoinRegimeView", (regime.RegimeSignal, regime.RegimePosition), "symbol direction? entryDate? firedAt?"
)
_TRADE: Final = row("TradeView", (regime.RegimeTrade,), "direction exitDate returnPct")
_NARRATIVE: Final = row("NarrativeView", (sentiment.Narrative,), "name mentions")
MARKET: Final = view(
    "MarketView",
    (market.MarketHealth, regime.MarketRegime),
    "breadth_pct? interpretation? crossings? regime? since? coins? trades? prices? baselines? totalMarketCap? "
    "marketCapPercentage? narratives?",
    breadth_pct=dict[str, float],
    crossings=list[_CROSSING],  # type: ignore[valid-type]
    coins=list[_COIN_REGIME],  # type: ignore[valid-type]
    trades=list[_TRADE],  # type: ignore[valid-type]
    narratives=list[_NARRATIVE],  # type: ignore[valid-type]
    **dict.fromkeys(("prices", "baselines", "totalMarketCap", "marketCapPercentage"), dict[str, Any]),
)
_MEMBER: Final = row(
    "MemberView", (market.CategoryCoin, sentiment.CoinSentiment), "symbol price? change_24h? trend_daily? score?"
)
CATEGORY: Final = view(
    "CategoryView",
    (sentiment.CategorySentiment,),
    "name stance? score? summary? coins",
    coins=list[_MEMBER],  # type: ignore[valid-type]
)
_ALERT: Final = row("AlertView", (market.FundingAlert,), "asset triggerZone fundingAtTrigger firedAt clearedAt")
ALERTS: Final = view("FundingAlertsView", (), "events", events=list[_ALERT])  # type: ignore[valid-type]
_ASSET: Final = row("AssetView", (rwa.RwaAsset, rwa.RwaListing), "id name assetType price? change_24h? trend_daily?")
ASSETS: Final = view("AssetsView", (), "assets", assets=list[_ASSET])  # type: ignore[valid-type]
_RECORD: Final = row(
    "RecordView",
    (walkforward.WalkforwardSignal, walkforward.WalkforwardPosition, walkforward.WalkforwardOutcome),
    "symbol direction strategy scanDate? entryDate? unrealizedPct? exitDate? returnPct?",
)
_SUMMARY: Final = row(
    "SummaryView", (walkforward.WalkforwardSummary,), "total winRate meanReturnPct deflatedSharpe maxDrawdownPct"
)
WALKFORWARD: Final = view(
    "WalkforwardView",
    (),
    "records summary?",
    records=list[_RECORD],  # type: ignore[valid-type]
    summary=Union[_SUMMARY, None],  # noqa: UP007
)
_VALIDATIONS: Final = row("ValidationsView", (quality.SignalValidations,), "sampleSize winRate meanReturnPct sharpe")
QUALITY: Final = view(
    "QualityView", (quality.SignalQuality,), "asset reliability_tier confidence validations", validations=_VALIDATIONS
)
_HIGHLIGHT: Final = row("HighlightView", (transcripts.Highlight,), "publishedAt speaker quote url coins")
TRANSCRIPTS: Final = view("TranscriptsView", (), "highlights", highlights=list[_HIGHLIGHT])  # type: ignore[valid-type]
_TOKEN: Final = row("TokenView", (wallets.MovedToken,), "contract symbol")
_WALLET: Final = row("WalletView", (wallets.WatchedWallet,), "address label tokens", tokens=list[_TOKEN])  # type: ignore[valid-type]
_MOVEMENT: Final = row("MovementView", (wallets.Movement,), "ts token direction amount amount_usd label")
WALLETS: Final = view(
    "WalletsView",
    (),
    "watchlist? movements?",
    watchlist=list[_WALLET],  # type: ignore[valid-type]
    movements=list[_MOVEMENT],  # type: ignore[valid-type]
)
ANSWER: Final = row("AnswerView", (ask.QuestionAnswer,), "as_of text", as_of=Union[str, None])  # noqa: UP007
"""`as_of` is of the oldest source, null where the answer rests on none."""
