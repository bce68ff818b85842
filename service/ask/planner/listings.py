"""What single data routes answer: lists, listings of what there is, the caller's account, prices of calls."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from service.ask.measure_table import Unit
from service.ask.planner import reasons
from service.ask.planner.bars import interval_of
from service.ask.planner.query_context import QueryContext
from service.ask.planner.result import (
    Column,
    Figure,
    Figures,
    Refused,
    Result,
    Row,
    Scalar,
    date,
    found,
    percent,
    usd,
)
from service.ask.planner.sets import list_all
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

_PAGED: Final = frozenset({"funding.alerts", "transcripts", "wallets", "walkforward"})
"""Tools that answer page by page."""

_MOST_DAYS: Final = 30
"""Days of movements that are stored."""


async def listing(asked: QueryContext, operation: Route) -> Result:
    """What a topic's route answers, narrowed down to what is named.

    Raises:
        Refused: Where the route does not take what is named.
    """
    topic, subject = operation.topic, asked.query.subject
    named = {"coins": subject.coins, "categories": subject.categories, "shows": subject.shows}
    named |= {"wallets": subject.wallets, "assets": subject.assets, "": subject.excluded + subject.excluded_categories}
    for kind, names in named.items():
        if names and topic not in _TAKES.get(kind, ()):
            raise Refused("not-narrowed", name=names[0])
    if topic in _OF_NOW and not isinstance(asked.query.time, Now):
        raise Refused("no-past-list")
    special = _SPECIAL.get(topic)
    return await (special(asked, operation) if special is not None else _listed(asked, operation, topic))


async def _listed(asked: QueryContext, operation: Route, key: str, **args: Any) -> Result:
    """The rows of a topic that the question leaves."""
    topic, given = LISTS[key], operation.args
    start_ms, end_ms = _bounds(asked, topic)
    options = {name: value.split(",") for name, value in given.items() if name in topic.options}
    largest, is_quoted = given.get("order") == "largest", key == "transcripts"
    args |= _narrowed(asked, topic, given)
    if topic.since and not isinstance(asked.query.time, Now):
        args["since"] = iso(start_ms)
    if (
        topic.tool in {"funding.alerts", "transcripts", "wallets", "walkforward"}
        and "sources" not in topic.args.values()
    ):
        args.setdefault("limit", MOST_ROWS)
    items, meta = await _read(asked, topic, {**topic.args, **args}, whole=bool(options) or largest)
    if topic.show is not None:
        shows = (await asked.reading.tool("transcripts", action="sources"))["sources"]
        names = {show["id"]: show["name"] for show in shows}
        items = [{**item, "source": names.get(item["source"], item["source"])} for item in items]
    items = [item for item in items if _fits(item, topic, options, (start_ms, end_ms))]
    if largest:
        items.sort(key=lambda item: item["amount_usd"] or 0.0, reverse=True)
    rows = [Row(_short(item[topic.subject]), tuple(_value(item, shown) for shown in topic.columns)) for item in items]
    total = len(rows)
    if end_ms >= asked.reading.now_ms and not options:
        total = max(total, meta.get("total", 0))
    limit = int(given.get("limit", "3" if is_quoted else "10"))
    figures: Figures = {}
    if rows:
        figures["first"] = rows[0].subject
        cells = zip(topic.columns, rows[0].values, strict=True)
        figures |= {f"first_{shown.field}": Figure(value, shown.unit) for shown, value in cells}
    return found(
        f"list_{'largest_' * largest}{key}" if rows else "list_none",
        {
            "count": total,
            "when": asked.when,
            "about": _about(asked),
            "noun": topic.noun,
            "counted": "yes" if "count" in given else "",
            **figures,
        },
        columns=[Column(shown.label, shown.unit) for shown in topic.columns],
        rows=rows[:limit] if is_quoted else rows,
        shown=0 if is_quoted or "count" in given else limit,
        total=total,
    )


async def _read(
    asked: QueryContext, topic: Topic, args: Mapping[str, Any], *, whole: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of a list, all pages of it where they are chosen from; and what is said of them."""
    payload = await asked.reading.tool(topic.tool, **args)
    items = payload[topic.items]
    while whole and (cursor := payload.get("meta", {}).get("next_cursor")):
        if len(items) >= _MOST_READ:
            raise Refused("too-many-rows", noun=topic.noun)
        payload = await asked.reading.tool(topic.tool, **args, cursor=cursor)
        items += payload[topic.items]
    return items, payload.get("meta") or payload


def _narrowed(asked: QueryContext, topic: Topic, given: Mapping[str, str]) -> dict[str, str]:
    """Parameters for what is named and for options; of each kind one at most."""
    subject = asked.query.subject
    named = [(topic.coin, subject.coins), (topic.category, subject.categories), (topic.show, subject.shows)]
    named += [(name, tuple(given[name].split(","))) for name in topic.given if name in given]
    if any(len(names) > 1 for _, names in named):
        raise Refused("one-at-a-time")
    return {parameter: names[0] for parameter, names in named if names and parameter is not None}


def _fits(item: Mapping[str, Any], topic: Topic, options: Mapping[str, Sequence[str]], span: tuple[int, int]) -> bool:
    """Whether a row is of a span and one of those that the options leave; an alert is open until it is cleared."""
    if topic.at is not None and not span[0] <= parse_iso(item[topic.at]) <= span[1]:
        return False
    told = {name: item[topic.options[name]] for name in options}
    if "state" in told:
        told["state"] = "open" if told["state"] is None else "cleared"
    return all(told[name] in values for name, values in options.items())


def _bounds(asked: QueryContext, topic: Topic) -> tuple[int, int]:
    """The instants between which rows are wanted, epoch milliseconds."""
    time, now_ms = asked.query.time, asked.reading.now_ms
    if isinstance(time, Now):
        return 0, now_ms
    if topic.at is None:
        raise Refused("no-past-list")
    if isinstance(time, At):
        return time.at_ms, time.at_ms + DAY_MS
    return interval_of(time, now_ms)[:2]


def _about(asked: QueryContext) -> str:
    subject = asked.query.subject
    names = [*asked.names(subject.coins), *subject.categories, *subject.shows]
    return f" {'in' if subject.categories else 'about'} {', '.join(names)}" if names else ""


def _value(item: Mapping[str, Any], shown: Shown) -> Scalar:
    value = item[shown.field]
    if value is None or shown.unit in {Unit.STATE, Unit.TEXT}:
        return None if value is None else str(value)
    if shown.unit in {Unit.DATE, Unit.INSTANT}:
        return _day_ms(value) if "T" not in value else parse_iso(value)
    return float(value)


def _day_ms(day: str) -> int:
    return parse_iso(f"{day}T00:00:00Z")


def _short(name: str | None) -> str:
    """A name, of an address its first and last digits."""
    address = name or "unnamed"
    return f"{address[:6]}…{address[-4:]}" if len(address) > _ADDRESS else address


async def _wallets(asked: QueryContext, operation: Route) -> Result:
    """Movements of a token that is named; of all tokens the largest; or the watched wallets that are named."""
    subject, time, reading = asked.query.subject, asked.query.time, asked.reading
    if "watchlist" in operation.args and not subject.coins and not subject.wallets:
        return await _listed(asked, operation, "watchlist")
    if subject.wallets and not subject.coins:
        return await _moved(asked, operation, subject.wallets[0])
    start_ms = _bounds(asked, LISTS["wallets"])[0] if not isinstance(time, Now) else reading.now_ms
    days = max(1, -(-(reading.now_ms - start_ms) // DAY_MS))
    if days > _MOST_DAYS:
        raise Refused("no-past-list")
    if not subject.coins:
        return await _listed(asked, operation, "wallets", days=days, limit=MOST_ROWS)
    chain_id = (await reading.tool("wallets.recent", days=1, limit=1))["chainId"]
    contract = contract_of(subject.coins[0], chain_id)
    if contract is None:
        raise Refused("no-contract", name=asked.name(subject.coins[0]))
    only_wallets = asked._replace(query=Query(subject=Subject(scope="wallets"), time=time))
    address = {"address": subject.wallets[0]} if subject.wallets else {}
    return await _listed(only_wallets, operation, "movements", contract=contract, **address)


async def _moved(asked: QueryContext, operation: Route, address: str) -> Result:
    """The wallet of an address, and which tokens moved in and out of it."""
    if not isinstance(asked.query.time, Now):
        raise Refused("no-past-list")
    watched = (await asked.reading.tool("wallets", action="watchlist", address=address))["watchlist"]
    if not watched:
        raise Refused("unknown-value", subject=address, label="watched wallet")
    wallet = watched[0]
    rows = [
        Row(token["symbol"] or _short(token["contract"]), (token["movements"], parse_iso(token["last_moved_at"])))
        for token in wallet["tokens"]
    ]
    return found(
        "wallet",
        {
            "subject": wallet["label"] or _short(address),
            "type": wallet["kind"] or "wallet",
            "count": len(rows),
            "names": ", ".join(row.subject for row in rows[:_TOKENS]),
        },
        columns=[Column("movements", Unit.COUNT), Column("last moved", Unit.INSTANT)],
        rows=rows,
        shown=0 if "count" in operation.args else 10,
    )


async def _assets(asked: QueryContext, operation: Route) -> Result:
    kind = operation.args.get("type", "").lower()
    known = ASSET_TYPES.get(kind) or ASSET_TYPES.get(f"{kind}s") or (kind if kind in ASSET_TYPES.values() else None)
    if known is None and kind and "asset" not in kind and "rwa" not in kind:
        raise Refused("no-such-type", name=kind)
    return await _listed(asked, operation, "assets", top=1_000, **({"type": known} if known else {}))


async def _categories(asked: QueryContext, operation: Route) -> Result:
    if asked.query.subject.coins:
        return _categories_of(asked, asked.query.subject.coins)
    if asked.query.subject.categories:
        return await _listed(asked, operation, "category")
    names = asked.reading.data.categories()
    asked.reading.use("categories", {}, None)
    limit = int(operation.args.get("limit", "100"))
    others = " and others" if len(names) > limit else ""
    return found(
        "categories", {"count": len(names), "names": ", ".join(names[:limit]), "others": others}, total=len(names)
    )


def _categories_of(asked: QueryContext, coins: Sequence[str]) -> Result:
    known = asked.reading.column("categories", coins)
    for coin, names in known.items():
        if names is None:
            raise Refused("unknown-value", subject=asked.name(coin), label="list of categories")
    rows = [Row(asked.name(coin), (", ".join(names),)) for coin, names in known.items()]
    if len(rows) > 1:
        return found("categories_each", {}, columns=[Column("categories", Unit.TEXT)], rows=rows, shown=0)
    count = len(known[coins[0]])
    return found("categories_of", {"subject": rows[0].subject, "count": count, "names": str(rows[0].values[0])})


async def _coins(asked: QueryContext, operation: Route) -> Result:
    query = Query(subject=Subject(scope="all"), measures=(Measure("rank"), Measure("price")))
    everything = asked._replace(query=query, ids=sorted(asked.reading.coins()))
    listed = await list_all(everything, List(int(operation.args.get("limit", "10"))))
    rows = listed.rows[::-1]  # rank one first
    names = ", ".join(row.subject for row in rows[:10])
    figures: Figures = {"count": len(everything.ids), "names": names}
    return found("coins", figures, columns=listed.columns, rows=rows, shown=0, total=len(rows))


async def _walkforward(asked: QueryContext, operation: Route) -> Result:
    if asked.query.subject.coins:
        return await _listed(asked, operation, "outcomes")
    return await reasons.record(asked, Record("walkforward"))


async def _regime_trades(asked: QueryContext, operation: Route) -> Result:
    if asked.query.subject.coins and "side" not in operation.args:
        return await reasons.record(asked, Record("regime"))
    return await _listed(asked, operation, "regime_trades")


async def _news(asked: QueryContext, _: Route) -> Result:
    """What the news say of a coin or a category now; no headlines are stored."""
    subject = asked.query.subject
    if isinstance(asked.query.time, Between | At) or len(subject.coins) + len(subject.categories) != 1:
        raise Refused("news-of-one")
    if subject.coins:
        name, risk = asked.name(subject.coins[0]), await asked.reading.tool("coin.risk", symbol=subject.coins[0])
        stance, said = risk["sentiment_stance"], risk["sentiment_summary"]
    else:
        name = subject.categories[0]
        sentiment = await asked.reading.tool("category.sentiment", name=name)
        stance, said = sentiment["stance"], sentiment["summary"]
    if said is None:
        raise Refused("unknown-value", subject=name, label="sentiment")
    return found("news", {"subject": name, "stance": stance, "said": said})


async def _quality(asked: QueryContext, operation: Route) -> Result:
    coin = asked.coin()
    kind = operation.args.get("type", "trend-following")
    quality = await asked.reading.tool("signal.quality", asset=coin, signal_type=kind)
    mean = quality["validations"]["meanReturnPct"]
    return found(
        "quality",
        {
            "subject": asked.name(coin),
            "type": quality["signal_type"].replace("-", " "),
            "tier": quality["reliability_tier"].lower().replace("_", " "),
            "count": quality["validations"]["sampleSize"],
            "value": "" if mean is None else percent(mean),
        },
    )


async def _breadth(asked: QueryContext, operation: Route) -> Result:
    health = await asked.reading.tool("market.health", context=1)
    extreme, velocity = health["hasExtremes"], health.get("velocity")
    figures: Figures = {name.lower(): int(health["trends"][name]) for name in ("UP", "HODL", "DOWN")}
    figures |= {f"{name.lower()}_share": Figure(share, Unit.SHARE) for name, share in health["breadth_pct"].items()}
    return found(
        "breadth",
        {
            "velocity": "" if velocity is None else Figure(velocity, Unit.POINTS),
            "extreme": "yes" if extreme else "",
            "answer": ("Yes" if extreme else "No") if "told" in operation.args else "",
            "of": health["universe"],
            "regime": health["regime"] or "not known",
            "day": date(_day_ms(health["date"][:10])),
            **figures,
        },
    )


async def _account(asked: QueryContext, _: Route) -> Result:
    tier = (await asked.reading.tool("billing.tier"))["tier"]
    quota = await asked.reading.tool("billing.quota")
    if quota["limit"] is None:
        return found("unlimited", {"tier": tier, "used": quota["used"]})
    period = "in all" if quota["period"] == "lifetime" else "today"
    left, of = quota["remaining"], quota["limit"]
    return found("account", {"tier": tier, "used": quota["used"], "left": left, "of": of, "period": period})


async def _pricing(asked: QueryContext, _: Route) -> Result:
    manifest = await asked.reading.tool("manifest")
    prices = Counter(route["price_usdc"] for route in manifest["routes"])
    question = next(route for route in manifest["routes"] if route["id"] == "question")
    return found(
        "pricing",
        {
            "question": usd(float(question["price_usdc"])),
            "starter": manifest["free"]["starter"],
            "daily": manifest["free"]["perDay"],
        },
        columns=[Column("routes at this price", Unit.COUNT)],
        rows=[Row(f"${price}", (routes,)) for price, routes in sorted(prices.items())],
        shown=10,
    )


_SPECIAL: Final[Mapping[str, Callable[[QueryContext, Route], Awaitable[Result]]]] = {
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
