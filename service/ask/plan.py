"""Which tools answer what a question was taken for: a small plan, decided before anything is looked up."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from service.ask.conversation import names_something
from service.ask.intents.followed import SOURCES, WATCHLIST
from service.ask.tokens import contract_of
from service.clock import DAY_MS, HOUR_MS, iso
from service.wire.ask import Amount, Classification, Entities, Intent, Period, Plan, PlannedStep

MOST_NAMED: Final = 5
"""So many coins, assets or categories of a question are looked up, the first named first."""

MOST_STEPS: Final = 8
USUAL_NOTIONAL_USD: Final = 10_000
"""What a position is taken for whose size nobody named."""

USUAL_LIMIT: Final = 10
USUAL_QUOTES: Final = 5
MOST_QUOTES: Final = 20
"""Quotes of an answer in all."""

_DAY_H: Final = 24
_MOST_DAYS: Final = 30
_USUAL_LISTED: Final = 50
_MOST_BACK: Final = 1_000
_MOST_SCANNED: Final = 50
_MOST_LISTED: Final = 200

_USUAL_PERIOD: Final = Period(24, "h")
_ALWAYS_TOLD: Final = "BTC"
_DOLLAR: Final = "USD"
_SIDES_OF_FUNDING: Final = frozenset({"hot", "cold"})

Call = tuple[str, Mapping[str, Any]]
"""A tool and its arguments, in the order in which they are shown."""


def plan(classification: Classification, now_ms: int, chain_id: int | None = None) -> Plan:
    """Decide what is looked up.

    Args:
        classification: What the question was taken for.
        now_ms: Epoch milliseconds; a period since which something is wanted ends then.
        chain_id: The chain that wallets are followed on, if that is known.

    Returns:
        At most eight steps, none where the question is refused or needs none.
    """
    if classification.refusal is not None:
        return Plan(())
    calls = _calls(classification, now_ms, chain_id)
    steps: list[PlannedStep] = []
    for tool, args in list(calls)[:MOST_STEPS]:
        steps.append(PlannedStep(f"s{len(steps) + 1}", tool, args, _needs(tool, args, steps)))
    return Plan(tuple(steps))


def _calls(asked: Classification, now_ms: int, chain_id: int | None) -> Sequence[Call]:
    if asked.intent == "wallets":
        return _of_wallets(asked.entities, chain_id)
    return _CALLS[asked.intent](asked, now_ms) if asked.intent in _CALLS else ()


def _needs(tool: str, args: Mapping[str, Any], earlier: Sequence[PlannedStep]) -> tuple[str, ...]:
    """Steps that a computation is made from: the states of the coins that it names."""
    if not tool.startswith("compute."):
        return ()
    of = {args["symbol"], args.get("unit")}
    return tuple(step.id for step in earlier if step.tool == "coin.risk" and step.args["symbol"] in of)


def _given(**args: object) -> Mapping[str, Any]:
    """Arguments without those that nothing was said of."""
    return {name: value for name, value in args.items() if value is not None and value != []}


def _states(entities: Entities) -> list[Call]:
    """The state of every coin and asset named."""
    return [*_each("coin.risk", entities.coins), *_assets(entities)][:MOST_NAMED]


def _assets(entities: Entities) -> list[Call]:
    return _each("rwa.symbol", entities.assets)


def _each(tool: str, symbols: Sequence[str]) -> list[Call]:
    return [(tool, {"symbol": symbol}) for symbol in symbols[:MOST_NAMED]]


def _one_coin(entities: Entities) -> str | None:
    return entities.coins[0] if entities.coins else None


def _of_state(asked: Classification, _now_ms: int) -> list[Call]:
    return _states(asked.entities)


def _of_overview(asked: Classification, _now_ms: int) -> list[Call]:
    states = _states(asked.entities)
    return [*states, *_each("signal", asked.entities.coins)[: MOST_STEPS - len(states)]]


def _of_verdict(asked: Classification, _now_ms: int) -> list[Call]:
    return [*_each("signal", asked.entities.coins), *_assets(asked.entities)][:MOST_NAMED]


def _of_comparison(asked: Classification, now_ms: int) -> list[Call]:
    return _of_overview(asked, now_ms) if asked.entities.action == "prefer" else _states(asked.entities)


def _of_carry(asked: Classification, _now_ms: int) -> list[Call]:
    entities = asked.entities
    calls: list[Call] = []
    for symbol in entities.coins[: MOST_STEPS // 2]:
        args = {
            "symbol": symbol,
            **_size(entities.amount, symbol),
            "side": entities.side or "both",
            "days": _plain(entities.days or 1),
        }
        calls.extend([("coin.risk", {"symbol": symbol}), ("compute.carry", args)])
    return calls


def _size(amount: Amount | None, symbol: str) -> Mapping[str, float]:
    """Of a position in a coin: so many of it, or what it is worth; an amount of another coin says neither."""
    if amount is not None and amount.unit == symbol:
        return {"quantity": _plain(amount.value)}
    in_dollars = amount is not None and amount.unit in {None, _DOLLAR}
    return {"notional_usd": _plain(amount.value) if amount is not None and in_dollars else USUAL_NOTIONAL_USD}


def _of_worth(asked: Classification, _now_ms: int) -> list[Call]:
    entities = asked.entities
    amount = entities.amount
    if amount is None:
        return _states(entities)
    calls = _each("coin.risk", entities.coins)
    given = amount.unit or _one_coin(entities)
    into = [coin for coin in entities.coins if coin != given] or entities.coins
    value = _plain(amount.value)
    worth: list[Call] = [
        ("compute.value", {"symbol": symbol, "amount": value, "unit": given})
        for symbol in into[: MOST_STEPS - len(calls)]
    ]
    return [*calls, *worth]


def _plain(value: float) -> float:
    """A whole number as one."""
    return int(value) if value == int(value) else value


def _of_history(asked: Classification, _now_ms: int) -> list[Call]:
    period = asked.entities.period or _USUAL_PERIOD
    args = {"count": min(period.count, _MOST_BACK), "unit": period.unit}
    past: list[Call] = [("coin.historical", {"symbol": coin, **args}) for coin in asked.entities.coins]
    return [*past, *_assets(asked.entities)][:MOST_NAMED]


def _of_ranking(asked: Classification, _now_ms: int) -> list[Call]:
    entities = asked.entities
    falling = entities.trend == "DOWN"
    args = _given(
        by=entities.metric or "change_24h",
        order=entities.order or ("least" if falling else "most"),
        trend=entities.trend,
        timeframe=entities.timeframe,
        category=entities.categories[0] if entities.categories else None,
        exclude=list(entities.excluded),
        limit=min(entities.limit or USUAL_LIMIT, _MOST_SCANNED),
    )
    return [("scan", args)]


def _of_regime(asked: Classification, _now_ms: int) -> list[Call]:
    action, symbol = asked.entities.action or "active", _one_coin(asked.entities)
    calls: list[Call] = [("regime", _given(action=action, symbol=symbol))]
    if action == "active" and symbol is not None:
        # What is active are positions: of a coin that is held neither way they do not tell the regime.
        calls.append(("regime", {"action": "confidence", "symbol": symbol}))
    return calls


def _of_walkforward(asked: Classification, _now_ms: int) -> list[Call]:
    entities = asked.entities
    limit = min(entities.limit or USUAL_LIMIT, _MOST_LISTED)
    return [
        ("walkforward", _given(action=entities.action or "outcomes", symbol=_one_coin(entities), limit=limit)),
    ]


def _of_alerts(asked: Classification, now_ms: int) -> list[Call]:
    entities = asked.entities
    period = entities.period
    since = None if period is None else iso(_begin_ms(period, now_ms))
    # Zones are told apart by who writes of them, so of one side enough are looked up that some are of it.
    usual = _MOST_LISTED if entities.part in _SIDES_OF_FUNDING else USUAL_LIMIT
    limit = min(entities.limit or usual, _MOST_LISTED)
    return [("funding.alerts", _given(symbol=symbol, since=since, limit=limit)) for symbol in _coins_or_all(entities)]


def _begin_ms(period: Period, now_ms: int) -> int:
    """When a period began: of days, with the first of them, so that "since Monday" holds all of Monday."""
    if period.unit == "h":
        return now_ms - period.count * HOUR_MS
    return (now_ms // DAY_MS - period.count) * DAY_MS


def _of_wallets(entities: Entities, chain_id: int | None) -> list[Call]:
    """What moved of coins that are tokens; who is watched; or what was worth most of all that moved."""
    contracts = [contract_of(coin, chain_id) for coin in entities.coins]
    wallets = entities.wallets or (None,)
    limit = min(entities.limit or USUAL_LIMIT, _MOST_SCANNED)
    if any(contracts):
        calls: list[Call] = [
            ("wallets", _given(action="movements", contract=contract, address=wallet, limit=limit))
            for contract in filter(None, contracts)
            for wallet in wallets
        ]
        return calls[:MOST_NAMED]
    if entities.wallets or entities.action == WATCHLIST:
        return [
            ("wallets", _given(action="watchlist", address=wallet, limit=entities.limit))
            for wallet in wallets[:MOST_NAMED]
        ]
    return [("wallets.recent", {"days": _whole_days(entities.period), "limit": limit})]


def _whole_days(period: Period | None) -> int:
    if period is None:
        return 1
    return max(1, min(period.count if period.unit == "d" else -(-period.count // _DAY_H), _MOST_DAYS))


def _of_talk(asked: Classification, now_ms: int) -> list[Call]:
    """What was said of each coin, category and topic, of all if none is named; and by whom talk is heard."""
    entities = asked.entities
    listened: Call = ("transcripts", {"action": "sources"})
    if entities.action == SOURCES and not (names_something(entities) or entities.topics):
        return [listened]
    named: list[Mapping[str, str]] = [
        *({"coin": coin} for coin in entities.coins),
        *({"sector": name} for name in entities.categories),
        *({"macro": topic} for topic in entities.topics),
    ]
    since = None if entities.period is None else iso(_begin_ms(entities.period, now_ms))
    limit = min(entities.limit or USUAL_QUOTES, MOST_QUOTES // max(1, min(len(named), MOST_NAMED)))
    calls: list[Call] = [
        ("transcripts", _given(action="highlights", **of, source=show, since=since, limit=limit))
        for of in named or [{}]
        for show in entities.shows or (None,)
    ]
    return [*calls[:MOST_NAMED], listened]


def _coins_or_all(entities: Entities) -> Sequence[str | None]:
    return entities.coins[:MOST_NAMED] or (None,)


def _of_category(asked: Classification, _now_ms: int) -> list[Call]:
    return [("category.info", {"name": name}) for name in asked.entities.categories[:MOST_NAMED]]


def _of_category_mood(asked: Classification, _now_ms: int) -> list[Call]:
    return [("category.sentiment", {"name": name}) for name in asked.entities.categories[:MOST_NAMED]]


def _of_listing(asked: Classification, _now_ms: int) -> list[Call]:
    entities = asked.entities
    return [("rwa.assets", _given(type=entities.type, top=min(entities.limit or _USUAL_LISTED, _MOST_BACK)))]


def _of_record(asked: Classification, _now_ms: int) -> list[Call]:
    return _each("signal", asked.entities.coins or (_ALWAYS_TOLD,))


def _of_definition(asked: Classification, _now_ms: int) -> list[Call]:
    return [("glossary", {"term": asked.entities.term})]


def _always(*calls: Call) -> Callable[[Classification, int], Sequence[Call]]:
    return lambda _asked, _now_ms: calls


_CALLS: Final[Mapping[Intent, Callable[[Classification, int], Sequence[Call]]]] = MappingProxyType(
    {
        "price": _of_state,
        "overview": _of_overview,
        "verdict": _of_verdict,
        "trend": _of_state,
        "funding": _of_state,
        "carry": _of_carry,
        "sentiment": _of_state,
        "correlation": _of_state,
        "comparison": _of_comparison,
        "ranking": _of_ranking,
        "regime": _of_regime,
        "breadth": _always(("market.health", {"context": 1})),
        "crossings": _always(("market.crossing", {})),
        "alerts": _of_alerts,
        "category": _of_category,
        "category-sentiment": _of_category_mood,
        "rwa": _of_state,
        "rwa-list": _of_listing,
        "history": _of_history,
        "walkforward": _of_walkforward,
        "track-record": _of_record,
        "transcripts": _of_talk,
        "convert": _of_worth,
        "definition": _of_definition,
        "account": _always(("billing.tier", {}), ("billing.quota", {})),
        "pricing": _always(("manifest", {})),
    }
)
"""Intent → what is called; that of wallets depends on their chain. Others that are missing need nothing looked up."""
