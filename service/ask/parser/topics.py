"""What single data routes answer: alerts, talk, transfers, listings, walk-forward, account. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.measures import read_measures
from service.ask.parser.slots import Slots, read_subject
from service.ask.query import Now, Query, Route, Subject

_TYPES: Final[Mapping[str, Sequence[str]]] = {
    "equity": ("stock", "stocks", "equity", "equities", "share", "shares"),
    "metal": ("metal", "metals", "precious metals"),
    "commodity": ("commodity", "commodities", "energy"),
    "index": ("index", "indices", "indexes"),
    "fx": ("currency", "currencies", "forex", "fx"),
    "etf": ("etf", "etfs"),
}
ASSET_TYPES: Final = {word: name for name, words in _TYPES.items() for word in words}
"""Words for types of real-world assets."""

_ZONES: Final = frozenset({"zone", "funding"})
_SETS: Final = frozenset({"categories", "coins", "assets", "alerts", "news"})
"""Topics whose name is a subject or a plain word where a set is ranked or filtered."""

_MOVING: Final = frozenset({
    "move", "moved", "moves", "moving", "transfer", "transfers", "sent", "received", "doing", "buying", "selling",
    "accumulating", "dumping", "activity",
})  # fmt: skip
_LOOSE: Final[Mapping[str, Sequence[str]]] = {
    "wallets": ("change",),
    "transcripts": ("change",),
    "walkforward": ("change", "drawdown", "trend"),
    "regime_trades": ("regime", "change"),
    "alerts": ("funding",),
    "crossings": ("breadth", "trend"),
    "news": ("sentiment",),
}
"""Measures whose words belong to a topic: "moved" of wallets, "drawdown" of a backtest."""

_MOVED: Final = frozenset({"wallets", "transcripts", "walkforward", "regime_trades", "news"})
"""Topics beside which such a word is never a second request."""

_OF_ASSETS: Final = frozenset({"assets", "account", "pricing", "manifest"})
"""Topics that real-world assets may be named beside; no other one can be narrowed to them."""

_LISTED: Final = frozenset({"alerts", "crossings", "transcripts", "wallets", "news", "regime_trades", "walkforward"})
_ABOUT_CALLER: Final = frozenset({"account", "pricing", "manifest"})
_UNTOLD: Final = frozenset({"mean", "median", "sum", "why", "since", "ratio", "majority"})
_DIRECTED: Final = frozenset({"wallets", "crossings", "walkforward"})
"""Topics that tell of both directions, so that one beside them asks for no other answer."""


def read_topic(slots: Slots) -> list[Query]:
    """Alerts, talk, transfers, listings, walk-forward, account, prices of calls."""
    at = slots.first("topic")
    if at is None and (implied := _implied(slots)) is not None:
        return [_still(query) for query in _routes(slots, implied)]
    if at is None:
        topic = "wallets" if slots.first("wallet") is not None else "transcripts"
        if topic == "transcripts" and slots.first("show") is None:
            return []
    else:
        topic = str(slots.as_(at, "topic"))
        if len(slots.row(at + 1)) > 1:
            return []  # "positions 4 to 8" of a ranking
        if _is_subject(slots, topic, at):
            return []
        slots.used.add(at)
    return _routes(slots, topic)


def _implied(slots: Slots) -> str | None:
    """The topic that is not named, but one of its options is: "in a very hot zone", "regime longs"."""
    if any(slots.kind(at) == "option" and not _ZONES.isdisjoint(words.split()) for at, words in enumerate(slots.words)):
        return "alerts"
    sides = slots.free(lambda chunk: chunk.kind == "side")
    return "regime_trades" if slots.measures("regime") and sides and slots.first("coin") is None else None


def _still(query: Query) -> Query:
    """Of "who is in a very hot zone" only alerts that still hold are asked for."""
    route = query.operation
    if not isinstance(route, Route) or "zone" not in route.args or query.time != Now():
        return query
    return structs.replace(query, operation=structs.replace(route, args={"state": "open", **route.args}))


def _options(slots: Slots, topic: str) -> dict[str, str]:
    """What narrows a topic: "very hot" alerts, talk of "inflation"; of one kind several are joined by or."""
    found: dict[str, dict[str, int]] = {}
    for at in slots.free(lambda chunk: chunk.has("option")):
        for word in slots.chunks[at].words:
            if word.kind == "option" and word.value[0] == topic:
                found.setdefault(word.value[1], {})[word.value[2]] = at
    options = {name: values for name, values in found.items() if len(values) == 1 or not slots.asks("count")}
    slots.used |= {at for values in options.values() for at in values.values()}
    return {name: ",".join(values) for name, values in options.items()}


def _is_subject(slots: Slots, topic: str, at: int) -> bool:
    """Whether the name of a topic names the subject of a query, or means nothing here."""
    named = {chunk.kind for chunk in slots.chunks}
    screened = any(slots.has(place, kind) for place in range(len(slots.chunks)) for kind in _SCREENING)
    if topic == "assets" and ("asset" in named or screened):
        slots.used.add(at)
        if "asset" not in named:
            slots.asset_type = ASSET_TYPES.get(slots.word(at), "")
        return True
    verb = topic == "shows" and ({"coin", "asset"} & named) and not slots.asks("list")
    position = topic == "pricing" and (slots.measures("carry", "funding") or slots.first("side") is not None)
    if (topic == "categories" and "category" in named) or verb or position:
        slots.used.add(at)
        return True
    if topic == "wallets" and slots.word(at) == "transferred":
        return named.isdisjoint({"wallet", "coin"})
    return (topic in _SETS and screened) or (topic == "coins" and not named.isdisjoint({"coin", "category"}))


_SCREENING: Final = ("super", "compare", "direction", "state")


def _routes(slots: Slots, topic: str) -> list[Query]:
    args = _options(slots, topic)
    if topic == "watchlist":
        topic, args = _of_wallets(slots, args)
    elif topic == "wallets" and _largest(slots):
        args["order"] = "largest"
    subject = _narrowed(slots, topic)
    time = slots.one_time(slots.free(lambda chunk: chunk.kind == "time"))
    limit = slots.limit(None)
    if limit is not None:
        args["limit"] = str(limit)
    if slots.asks("count"):
        args["count"] = "yes"
    slots.used |= set(slots.free(lambda chunk: chunk.has("ask") and not _is_asked(chunk, topic)))
    if "count" in args:
        slots.take_asks("sum")
    loose = slots.measures(*_LOOSE.get(topic, ()))
    slots.used |= {one for one in loose if topic in _MOVED or not _is_apart(slots, one)}
    others = _other_topics(slots)
    slots.take("set", "topic", "among", "frame", "side", "and", "or", "holding")
    counted = topic == "regime_trades" and "count" in args
    if topic in _DIRECTED or counted:
        slots.take("direction", "state")
    if topic == "walkforward" or counted:
        best = slots.free(lambda chunk: chunk.has("super"))
        slots.used |= {at for at in best if slots.as_(at, "super").measure == "change"}
    query = Query(subject=subject, time=time, operation=Route(topic, args))
    types = dict.fromkeys(ASSET_TYPES[word] for word in slots.words if topic == "assets" and word in ASSET_TYPES)
    if types:
        return [structs.replace(query, operation=Route(topic, {**args, "type": name})) for name in types]
    beside = [structs.replace(query, operation=Route(other)) for other in others]
    measures = tuple(measure for _, measure in read_measures(slots)) if subject.coins and query.time == Now() else ()
    if measures:
        beside.append(Query(subject=subject, measures=measures))
    return [query, *beside]


def _of_wallets(slots: Slots, kinds: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Watched wallets, or what they moved; the kind of wallet stays unread where their movements are asked for."""
    moving = any(not _MOVING.isdisjoint(words.split()) for words in slots.words)
    if not moving and not slots.free(lambda chunk: chunk.kind in {"coin", "wallet", "time"}):
        return "wallets", {"watchlist": "yes", **kinds}
    slots.used -= {at for at, chunk in enumerate(slots.chunks) if chunk.kind == "option"}
    return "wallets", {"order": "largest"} if _largest(slots) else {}


def _largest(slots: Slots) -> bool:
    """Whether the largest of transfers is asked for; its superlative is marked as read."""
    found = slots.free(lambda chunk: (value := chunk.as_("super")) is not None and not value.measure)
    largest = [at for at in found if slots.as_(at, "super").direction == "most"]
    slots.used |= set(largest[:1])
    return bool(largest)


def _narrowed(slots: Slots, topic: str) -> Subject:
    """What a topic is narrowed to; real-world assets stay unread where it cannot be narrowed to them."""
    subject = read_subject(slots)
    if subject.assets and topic not in _OF_ASSETS:
        slots.used -= {at for at, chunk in enumerate(slots.chunks) if chunk.kind == "asset"}
    return subject


def _is_asked(chunk: Chunk, topic: str) -> bool:
    """Whether a chunk asks for what no route tells: a mean, a reason, since when."""
    return topic not in _ABOUT_CALLER and any(word.kind == "ask" and word.value in _UNTOLD for word in chunk.words)


def _other_topics(slots: Slots) -> list[str]:
    """Topics listed beside the first: "latest crossing, most recent alert"."""
    found = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "topic"]
    named = [slots.chunks[at].value for at in found]
    later = (slots.chunks[at].value for at in found[1:] if "," in slots.chunks[at].gap or _is_apart(slots, at))
    return [topic for topic in dict.fromkeys(later) if topic in _LISTED and topic != named[0]]


def _is_apart(slots: Slots, at: int) -> bool:
    """Whether a chunk and the topics are items of a list: a comma or "and" stands between."""
    topics = [place for place, chunk in enumerate(slots.chunks) if chunk.kind == "topic" and place != at]
    nearest = min(topics, key=lambda place: abs(place - at), default=at)
    between = range(min(at, nearest) + 1, max(at, nearest) + 1)
    return any("," in slots.chunks[place].gap or slots.kind(place) == "and" for place in between)
