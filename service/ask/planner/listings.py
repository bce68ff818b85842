"""What single data routes answer: lists, listings of what there is, the caller's account, prices of calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from service.ask.measure_table import Unit
from service.ask.planner import reasons
from service.ask.planner.asked import Asked
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Scalar, count, text, usd
from service.ask.planner.sets import list_all
from service.ask.planner.spans import interval_of
from service.ask.query import At, Between, List, Measure, Now, Query, Record, Route, Subject
from service.ask.routes import ASSET_TYPES, LISTS, Shown, Topic
from service.clock import DAY_MS, iso, parse_iso
from service.wallets.prices import contract_of
from service.wire.tools import MOST_ROWS

_TAKES: Final[Mapping[str, frozenset[str]]] = {
    "coins": frozenset(
        {"wallets", "movements", "walkforward", "regime_trades", "news", "quality", "categories", "category"}
        | {name for name, topic in LISTS.items() if topic.coin}
    ),
    "categories": frozenset({"news", "categories"} | {name for name, topic in LISTS.items() if topic.category}),
    "shows": frozenset(name for name, topic in LISTS.items() if topic.show),
    "wallets": frozenset({"wallets"}),
}
"""Topics that can be narrowed down to names of a kind."""

_OF_NOW: Final = frozenset({"coins", "categories", "quality", "account", "pricing", "breadth"})
"""Topics that have no past."""

_TOKENS: Final = 5
"""Tokens of a wallet that a sentence names."""

_ADDRESS: Final = 40
"""Characters from which a name is taken for an address."""

_MOST_READ: Final = 1_000
"""Rows of a list that are read, over several pages, to choose among them."""

_MOST_DAYS: Final = 30
"""Days of movements that are stored."""


async def listing(asked: Asked, operation: Route) -> Found:
    """What a topic's route answers, narrowed down to what is named.

    Raises:
        Refused: Where the route does not take what is named.
    """
    _check(asked, operation.topic)
    special = _SPECIAL.get(operation.topic)
    if special is not None:
        return await special(asked, operation)
    return await _listed(asked, operation, operation.topic)


def _check(asked: Asked, topic: str) -> None:
    """Refuse names and times that a topic does not take."""
    subject = asked.query.subject
    named = {"coins": subject.coins, "categories": subject.categories, "shows": subject.shows}
    named |= {"wallets": subject.wallets, "assets": subject.assets, "": subject.excluded + subject.excluded_categories}
    for kind, names in named.items():
        if names and topic not in _TAKES.get(kind, ()):
            raise Refused("not-narrowed", name=text(names[0]))
    if topic in _OF_NOW and not isinstance(asked.query.time, Now):
        raise Refused("no-past-list")


async def _listed(asked: Asked, operation: Route, key: str, **args: Any) -> Found:
    topic = LISTS[key]
    start_ms, end_ms = _bounds(asked, topic)
    args |= _narrowed(asked, topic)
    if topic.since and not isinstance(asked.query.time, Now):
        args["since"] = iso(start_ms)
    if topic.tool in {"funding.alerts", "transcripts", "wallets", "walkforward"} and args.get("action") != "sources":
        args.setdefault("limit", MOST_ROWS)
    if topic.args.get("action") == "sources":
        args.pop("limit", None)
    options = {name: value.split(",") for name, value in operation.args.items() if name in topic.options}
    ordered = operation.args.get("order") == "largest"
    args |= _given(operation, topic)
    payload = await asked.reading.tool(topic.tool, **topic.args, **args)
    items = payload[topic.items]
    while (options or ordered) and (cursor := payload.get("meta", {}).get("next_cursor")):
        if len(items) >= _MOST_READ:
            raise Refused("too-many-rows", noun=text(topic.noun))
        payload = await asked.reading.tool(topic.tool, **topic.args, **args, cursor=cursor)
        items += payload[topic.items]
    if topic.show is not None:
        await _name_shows(asked, items)
    found = [item for item in items if _is_within(item, topic, start_ms, end_ms) and _fits(item, topic, options)]
    if ordered:
        key = "largest_" + key if found else key
        found.sort(key=lambda item: item["amount_usd"] or 0.0, reverse=True)
    is_quoted = key == "transcripts"
    limit = int(operation.args.get("limit", "3" if is_quoted else "10"))
    columns = [Column(shown.label, shown.unit) for shown in topic.columns]
    rows = [Row(_subject(item, topic), tuple(_value(item, shown) for shown in topic.columns)) for item in found]
    meta = payload.get("meta") or payload
    whole = end_ms >= asked.reading.now_ms and not options
    total = meta.get("total", len(found)) if whole else len(found)
    figures = {"count": count(max(total, len(found))), "when": asked.when, "about": text(_about(asked))}
    figures["noun"] = text(topic.noun)
    if rows:
        figures |= {"first": text(rows[0].subject)}
        cells = zip(topic.columns, rows[0].values, strict=True)
        figures |= {f"first_{shown.field}": Figure(value, shown.unit) for shown, value in cells}
    kind = f"list_{key}" if rows else "list_none"
    figures["counted"] = text("yes" if "count" in operation.args else "")
    return Found(
        kind=kind,
        figures=figures,
        columns=columns,
        rows=rows[:limit] if is_quoted else rows,
        shown=0 if is_quoted or "count" in operation.args else limit,
        total=max(total, len(found)),
    )


def _given(operation: Route, topic: Topic) -> dict[str, str]:
    """Options that are parameters of the tool; of each one value at most."""
    given = {name: operation.args[name] for name in topic.given if name in operation.args}
    if any("," in value for value in given.values()):
        raise Refused("one-at-a-time")
    return given


def _fits(item: Mapping[str, Any], topic: Topic, options: Mapping[str, Sequence[str]]) -> bool:
    """Whether a row is one of those that the options leave; an alert is open until it is cleared."""
    told = {name: item[topic.options[name]] for name in options}
    if "state" in told:
        told["state"] = "open" if told["state"] is None else "cleared"
    return all(told[name] in values for name, values in options.items())


async def _name_shows(asked: Asked, items: Sequence[dict[str, Any]]) -> None:
    """Give shows their names in place of their ids."""
    shows = await asked.reading.tool("transcripts", action="sources")
    names = {show["id"]: show["name"] for show in shows["sources"]}
    for item in items:
        item["source"] = names.get(item["source"], item["source"])


def _bounds(asked: Asked, topic: Topic) -> tuple[int, int]:
    """The instants between which rows are wanted, epoch milliseconds."""
    time, now_ms = asked.query.time, asked.reading.now_ms
    if isinstance(time, Now):
        return 0, now_ms
    if topic.at is None:
        raise Refused("no-past-list")
    if isinstance(time, At):
        return time.at_ms, time.at_ms + DAY_MS
    span = interval_of(time, now_ms)
    return span.start_ms, span.end_ms


def _is_within(item: Mapping[str, Any], topic: Topic, start_ms: int, end_ms: int) -> bool:
    return topic.at is None or start_ms <= parse_iso(item[topic.at]) <= end_ms


def _narrowed(asked: Asked, topic: Topic) -> dict[str, Any]:
    """Parameters for what is named; of each kind one at most."""
    subject = asked.query.subject
    args: dict[str, Any] = {}
    named = ((topic.coin, subject.coins), (topic.category, subject.categories), (topic.show, subject.shows))
    for parameter, names in named:
        if len(names) > 1:
            raise Refused("one-at-a-time")
        if names and parameter is not None:
            args[parameter] = names[0]
    return args


def _about(asked: Asked) -> str:
    subject = asked.query.subject
    names = [*map(asked.name, subject.coins), *subject.categories, *subject.shows]
    word = "in" if subject.categories else "about"
    return f" {word} {', '.join(names)}" if names else ""


def _subject(item: Mapping[str, Any], topic: Topic) -> str:
    return _short(str(item[topic.subject] or "unnamed"))


def _value(item: Mapping[str, Any], shown: Shown) -> Scalar:
    value = item[shown.field]
    if value is None or shown.unit in {Unit.STATE, Unit.TEXT}:
        return None if value is None else str(value)
    if shown.unit in {Unit.DATE, Unit.INSTANT}:
        return parse_iso(value if "T" in value else f"{value}T00:00:00Z")
    return float(value)


async def _wallets(asked: Asked, operation: Route) -> Found:
    """Movements of a token that is named; of all tokens the largest; or the watched wallets that are named."""
    subject, time, reading = asked.query.subject, asked.query.time, asked.reading
    if "watchlist" in operation.args and not subject.coins and not subject.wallets:
        return await _listed(asked, operation, "watchlist")
    if subject.wallets and not subject.coins:
        return await _moved(asked, operation, subject.wallets[0])
    recent = {"days": 1, "limit": MOST_ROWS}
    if not isinstance(time, Now):
        start_ms = _bounds(asked, LISTS["wallets"])[0]
        days = -(-(reading.now_ms - start_ms) // DAY_MS)
        if days > _MOST_DAYS:
            raise Refused("no-past-list")
        recent["days"] = max(1, days)
    if not subject.coins:
        return await _listed(asked, operation, "wallets", **recent)
    chain_id = (await reading.tool("wallets.recent", days=1, limit=1))["chainId"]
    contract = contract_of(subject.coins[0], chain_id)
    if contract is None:
        raise Refused("no-contract", name=text(asked.name(subject.coins[0])))
    only_wallets = asked._replace(query=Query(subject=Subject(scope="wallets"), time=time))
    address = {"address": subject.wallets[0]} if subject.wallets else {}
    return await _listed(only_wallets, operation, "movements", contract=contract, **address)


async def _moved(asked: Asked, operation: Route, address: str) -> Found:
    """The wallet of an address, and which tokens moved in and out of it."""
    if not isinstance(asked.query.time, Now):
        raise Refused("no-past-list")
    watched = (await asked.reading.tool("wallets", action="watchlist", address=address))["watchlist"]
    if not watched:
        raise Refused("unknown-value", subject=text(address), label=text("watched wallet"))
    wallet = watched[0]
    rows = [Row(_token(token), (token["movements"], parse_iso(token["last_moved_at"]))) for token in wallet["tokens"]]
    figures = {
        "subject": text(wallet["label"] or _short(address)),
        "type": text(wallet["kind"] or "wallet"),
        "count": count(len(rows)),
        "names": text(", ".join(row.subject for row in rows[:_TOKENS])),
    }
    columns = [Column("movements", Unit.COUNT), Column("last moved", Unit.INSTANT)]
    shown = 0 if "count" in operation.args else 10
    return Found(kind="wallet", figures=figures, columns=columns, rows=rows, shown=shown)


def _token(token: Mapping[str, Any]) -> str:
    return str(token["symbol"] or _short(token["contract"]))


def _short(address: str) -> str:
    """An address by its first and last digits."""
    return f"{address[:6]}…{address[-4:]}" if len(address) > _ADDRESS else address


async def _assets(asked: Asked, operation: Route) -> Found:
    kind = operation.args.get("type", "").lower()
    known = ASSET_TYPES.get(kind) or ASSET_TYPES.get(f"{kind}s") or (kind if kind in ASSET_TYPES.values() else None)
    if known is None and kind and "asset" not in kind and "rwa" not in kind:
        raise Refused("no-such-type", name=text(kind))
    return await _listed(asked, operation, "assets", top=1_000, **({"type": known} if known else {}))


async def _categories(asked: Asked, operation: Route) -> Found:
    subject = asked.query.subject
    if subject.coins:
        return _categories_of(asked, subject.coins)
    if subject.categories:
        return await _listed(asked, operation, "category")
    names = asked.reading.data.categories()
    asked.reading.use("categories", {}, None)
    limit = int(operation.args.get("limit", "100"))
    figures = {"count": count(len(names)), "names": text(", ".join(names[:limit]))}
    figures["others"] = text(" and others" if len(names) > limit else "")
    return Found(kind="categories", figures=figures, total=len(names))


def _categories_of(asked: Asked, coins: Sequence[str]) -> Found:
    known = asked.reading.column("categories", coins)
    for coin, names in known.items():
        if names is None:
            raise Refused("unknown-value", subject=text(asked.name(coin)), label=text("list of categories"))
    if len(coins) > 1:
        rows = [Row(asked.name(coin), (", ".join(names),)) for coin, names in known.items()]
        return Found(kind="categories_each", columns=[Column("categories", Unit.TEXT)], rows=rows, shown=0)
    names = known[coins[0]]
    figures = {"subject": text(asked.name(coins[0])), "count": count(len(names)), "names": text(", ".join(names))}
    return Found(kind="categories_of", figures=figures)


async def _coins(asked: Asked, operation: Route) -> Found:
    measures = (Measure("rank"), Measure("price"))
    everything = asked._replace(
        query=Query(subject=Subject(scope="all"), measures=measures), ids=sorted(asked.reading.coins())
    )
    found = await list_all(everything, List(int(operation.args.get("limit", "10"))))
    rows = found.rows[::-1]  # rank one first
    figures = {"count": count(len(everything.ids)), "names": text(", ".join(row.subject for row in rows[:10]))}
    return Found(kind="coins", figures=figures, columns=found.columns, rows=rows, shown=0, total=len(rows))


async def _walkforward(asked: Asked, operation: Route) -> Found:
    if asked.query.subject.coins:
        return await _listed(asked, operation, "outcomes")
    return await reasons.record(asked, Record("walkforward"))


async def _regime_trades(asked: Asked, operation: Route) -> Found:
    if asked.query.subject.coins and "side" not in operation.args:
        return await reasons.record(asked, Record("regime"))
    return await _listed(asked, operation, "regime_trades")


async def _news(asked: Asked, _: Route) -> Found:
    """What the news say of a coin or a category now; no headlines are stored."""
    subject = asked.query.subject
    if isinstance(asked.query.time, Between | At) or len(subject.coins) + len(subject.categories) != 1:
        raise Refused("news-of-one")
    if subject.coins:
        risk = await asked.reading.tool("coin.risk", symbol=subject.coins[0])
        stance, said = risk["sentiment_stance"], risk["sentiment_summary"]
    else:
        mood = await asked.reading.tool("category.sentiment", name=subject.categories[0])
        stance, said = mood["stance"], mood["summary"]
    name = asked.name(subject.coins[0]) if subject.coins else subject.categories[0]
    if said is None:
        raise Refused("unknown-value", subject=text(name), label=text("sentiment"))
    return Found(kind="news", figures={"subject": text(name), "stance": text(stance), "said": text(said)})


async def _quality(asked: Asked, operation: Route) -> Found:
    coins = asked.query.subject.coins
    if len(coins) != 1:
        raise Refused("one-coin")
    kind = operation.args.get("type", "trend-following")
    found = await asked.reading.tool("signal.quality", asset=coins[0], signal_type=kind)
    tested = found["validations"]
    figures = {
        "subject": text(asked.name(coins[0])),
        "type": text(found["signal_type"].replace("-", " ")),
        "tier": text(found["reliability_tier"].lower().replace("_", " ")),
        "count": count(tested["sampleSize"]),
        "value": text("") if tested["meanReturnPct"] is None else Figure(tested["meanReturnPct"], Unit.PERCENT),
    }
    return Found(kind="quality", figures=figures)


async def _breadth(asked: Asked, operation: Route) -> Found:
    found = await asked.reading.tool("market.health", context=1)
    figures = {name.lower(): count(found["trends"][name]) for name in ("UP", "HODL", "DOWN")}
    figures |= {f"{name.lower()}_share": Figure(share, Unit.SHARE) for name, share in found["breadth_pct"].items()}
    figures["velocity"] = text("") if found.get("velocity") is None else Figure(found["velocity"], Unit.POINTS)
    figures["extreme"] = text("yes" if found["hasExtremes"] else "")
    figures["answer"] = text(("Yes" if found["hasExtremes"] else "No") if "told" in operation.args else "")
    figures |= {"of": count(found["universe"]), "regime": text(found["regime"] or "not known")}
    figures["day"] = Figure(parse_iso(f"{found['date'][:10]}T00:00:00Z"), Unit.DATE)
    return Found(kind="breadth", figures=figures)


async def _account(asked: Asked, _: Route) -> Found:
    tier = await asked.reading.tool("billing.tier")
    quota = await asked.reading.tool("billing.quota")
    figures = {"tier": text(tier["tier"]), "used": count(quota["used"])}
    if quota["limit"] is None:
        return Found(kind="unlimited", figures=figures)
    figures |= {"left": count(quota["remaining"]), "of": count(quota["limit"])}
    figures["period"] = text("in all" if quota["period"] == "lifetime" else "today")
    return Found(kind="account", figures=figures)


async def _pricing(asked: Asked, _: Route) -> Found:
    found = await asked.reading.tool("manifest")
    prices: dict[str, int] = {}
    for route in found["routes"]:
        prices[route["price_usdc"]] = prices.get(route["price_usdc"], 0) + 1
    question = next(route for route in found["routes"] if route["id"] == "question")
    figures = {
        "question": usd(float(question["price_usdc"])),
        "starter": count(found["free"]["starter"]),
        "daily": count(found["free"]["perDay"]),
    }
    rows = [Row(f"${price}", (routes,)) for price, routes in sorted(prices.items())]
    return Found(kind="pricing", figures=figures, columns=[Column("routes at this price", Unit.COUNT)], rows=rows)


_SPECIAL: Final[Mapping[str, Callable[[Asked, Route], Awaitable[Found]]]] = {
    "wallets": _wallets,
    "assets": _assets,
    "categories": _categories,
    "coins": _coins,
    "walkforward": _walkforward,
    "regime_trades": _regime_trades,
    "news": _news,
    "quality": _quality,
    "breadth": _breadth,
    "account": _account,
    "pricing": _pricing,
}
"""Topics that need more than one list."""
