"""What single data routes answer: alerts, talk, transfers, listings, walk-forward, account. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.slots import Slots
from service.ask.parser.subjects import read_subject
from service.ask.query import Query, Route

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

_DIRECTED: Final = frozenset({"wallets", "crossings", "walkforward"})
"""Topics that tell of both directions, so that one beside them asks for no other answer."""


def read_topic(slots: Slots) -> list[Query]:
    """Alerts, talk, transfers, listings, walk-forward, account, prices of calls."""
    at = slots.first("topic")
    if at is None:
        topic = "wallets" if slots.first("wallet") is not None else "transcripts"
        if topic == "transcripts" and slots.first("show") is None:
            return []
    else:
        topic = str(slots.as_(at, "topic"))
        if _is_subject(slots, topic, at):
            return []
        slots.used.add(at)
    return _routes(slots, topic)


def _is_subject(slots: Slots, topic: str, at: int) -> bool:
    """Whether the name of a topic names the subject of a query, or means nothing here."""
    named = {chunk.kind for chunk in slots.chunks}
    screened = any(slots.has(place, kind) for place in range(len(slots.chunks)) for kind in _SCREENING)
    if topic == "assets" and ("asset" in named or screened):
        slots.used.add(at)
        if "asset" not in named:
            slots.asset_type = ASSET_TYPES.get(slots.word(at), "")
        return True
    if topic == "categories" and "category" in named:
        slots.used.add(at)
        return True
    if topic == "wallets" and slots.word(at) == "transferred":
        return named.isdisjoint({"wallet", "coin"})
    return (topic in _SETS and screened) or (topic == "coins" and not named.isdisjoint({"coin", "category"}))


_SCREENING: Final = ("super", "compare", "direction", "state")


def _routes(slots: Slots, topic: str) -> list[Query]:
    args: dict[str, str] = {}
    if topic == "watchlist":
        topic = "wallets"
        moving = any(not _MOVING.isdisjoint(words.split()) for words in slots.words)
        if not moving and not slots.free(lambda chunk: chunk.kind in {"coin", "wallet", "time"}):
            args["watchlist"] = "yes"
    subject = read_subject(slots)
    time = slots.one_time(slots.free(lambda chunk: chunk.kind == "time"))
    limit = slots.limit(None)
    if limit is not None:
        args["limit"] = str(limit)
    if slots.asks("count"):
        args["count"] = "yes"
    slots.take("ask", "set", "topic", "among", "frame", "side", "and", "or", "holding")
    slots.used |= set(slots.measures(*_LOOSE.get(topic, ())))
    counted = topic == "regime_trades" and "count" in args
    if topic in _DIRECTED or counted:
        slots.take("direction", "state")
    if topic == "walkforward" or counted:
        best = slots.free(lambda chunk: chunk.has("super"))
        slots.used |= {at for at in best if slots.as_(at, "super").measure == "change"}
    query = Query(subject=subject, time=time, operation=Route(topic, args))
    types = dict.fromkeys(ASSET_TYPES[word] for word in slots.words if topic == "assets" and word in ASSET_TYPES)
    if not types:
        return [query]
    return [structs.replace(query, operation=Route(topic, {**args, "type": name})) for name in types]
