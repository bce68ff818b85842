"""What single data routes answer: alerts, talk, transfers, listings, walk-forward, account. Pure."""

from typing import Final

from msgspec import structs

from service.ask.parser.slots import Slots
from service.ask.parser.subjects import read_subject
from service.ask.query import (
    Query,
    Route,
)


def read_topic(slots: Slots) -> list[Query]:
    """Alerts, talk, transfers, listings, walk-forward, account, prices of calls."""
    at = slots.first("topic")
    if at is None:
        wallet = slots.free(lambda chunk: chunk.kind == "wallet")
        shows = slots.free(lambda chunk: chunk.kind == "show")
        if not wallet and not shows:
            return []
        topic = "wallets" if wallet else "transcripts"
    else:
        topic = str(slots.chunks[at].as_("topic"))
        if topic == "assets" and slots.free(lambda chunk: chunk.kind == "asset"):
            slots.used.add(at)
            return []
        if topic == "categories" and slots.free(lambda chunk: chunk.kind == "category"):
            slots.used.add(at)
            return []
        if topic == "assets" and _is_screened(slots):
            slots.used.add(at)
            slots.asset_type = ASSET_TYPES.get(slots.words[at], "")
            return []
        if topic in {"categories", "coins", "alerts", "news"} and _is_screened(slots):
            return []
        if (
            topic in {"categories", "coins"}
            and slots.free(lambda chunk: chunk.kind in {"coin", "category"})
            and topic != "categories"
        ):
            return []
        if (
            topic == "wallets"
            and slots.words[at] in {"transferred"}
            and not slots.free(lambda chunk: chunk.kind in {"wallet", "coin"})
        ):
            return []
        slots.used.add(at)
    args: dict[str, str] = {}
    if topic == "watchlist":
        moving = any(word in _MOVING for words in slots.words for word in words.split())
        named = slots.free(lambda chunk: chunk.kind in {"coin", "wallet", "time"})
        topic = "wallets"
        if not named and not moving:
            args["watchlist"] = "yes"
    word = slots.words[at] if at is not None else ""
    if topic == "assets" and word in ASSET_TYPES:
        args["type"] = ASSET_TYPES[word]
    subject = read_subject(slots)
    time = slots.one_time(slots.free(lambda chunk: chunk.kind == "time"))
    for number in slots.free(
        lambda chunk: chunk.kind == "number" and chunk.value.unit is None and chunk.value.value >= 1
    ):
        args["limit"] = str(int(slots.chunks[number].value.value))
        slots.used.add(number)
    how_many = bool(slots.asks("count"))
    slots.take("ask", "set", "topic", "among", "frame", "super", "side", "and", "or", "holding")
    loose = _LOOSE_OF.get(topic, frozenset())
    slots.used |= set(slots.free(lambda chunk: (m := chunk.as_("measure")) is not None and m.name in loose))
    slots.used |= set(slots.free(lambda chunk: chunk.has("direction") or chunk.has("state"))) if loose else set()
    operation = Route(topic, args | ({"count": "yes"} if how_many else {}))
    types = [args.get("type")] if topic == "assets" else []
    for word in slots.words if topic == "assets" else ():
        if (kind := ASSET_TYPES.get(word)) is not None and kind not in types:
            types.append(kind)
    queries = [Query(subject=subject, time=time, operation=operation)]
    return queries + [
        Query(
            subject=subject, time=time, operation=structs.replace(operation, args=operation.args | {"type": str(kind)})
        )
        for kind in types[1:]
    ]


ASSET_TYPES: Final = {
    word: name
    for name, words in {
        "equity": "stock stocks equity equities share shares",
        "metal": "metal metals",
        "commodity": "commodity commodities energy",
        "index": "index indices indexes",
        "fx": "currency currencies forex fx",
        "etf": "etf etfs",
    }.items()
    for word in words.split()
} | {"precious metals": "metal"}
"""Words for types of real-world assets."""


_MOVING: Final = frozenset(
    "move moved moves moving transfer transfers sent send received doing buying selling accumulating dumping activity".split()
)

_LOOSE_OF: Final = {
    "wallets": frozenset({"change"}),
    "transcripts": frozenset({"change"}),
    "walkforward": frozenset({"change", "drawdown", "trend"}),
    "regime_trades": frozenset({"regime", "change"}),
    "alerts": frozenset({"funding"}),
    "crossings": frozenset({"breadth", "trend"}),
    "news": frozenset({"sentiment"}),
}
"""Measures whose words belong to a topic: "moved" of wallets, "drawdown" of a backtest."""


def _is_screened(slots: Slots) -> bool:
    """Whether a set is ranked or filtered, so that its name is a subject."""
    return any(
        chunk.has("super") or chunk.has("compare") or chunk.has("direction") or chunk.has("state")
        for chunk in slots.chunks
    )
