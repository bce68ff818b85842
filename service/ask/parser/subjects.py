"""Who a clause is about. Pure."""

from collections.abc import Mapping
from typing import Final

from service.ask.parser.slots import BITCOIN, Slots
from service.ask.query import Scope, Subject

_ASKING: Final = frozenset({"isnt", "arent", "wasnt", "werent", "doesnt", "didnt", "hasnt", "havent"})
"""Denials that begin a question."""


def read_subject(slots: Slots) -> Subject:
    """Who a clause is about. Names after "except" or "not" are left out."""
    named: dict[str, dict[str, None]] = {kind: {} for kind in ("coin", "asset", "category", "wallet", "show")}
    excluded: dict[str, dict[str, None]] = {"coin": {}, "category": {}}
    excluding = False
    exceptions: set[int] = set()
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        if _excludes(slots, at):
            excluding = True
            exceptions.add(at)
            slots.used.add(at)
        elif chunk.kind in named:
            target = excluded if excluding and chunk.kind in excluded else named
            target[chunk.kind].update(dict.fromkeys(chunk.value))
            slots.used.add(at)
        elif chunk.kind not in {"and", "or", "filler"} or chunk.gap not in {"", ","}:
            excluding = excluding and chunk.kind == "set"
    if named["coin"] and excluded["coin"]:
        slots.used -= exceptions  # "BTC minus ETH": of coins named none is left out
    sets = {slots.chunks[at].value for at in slots.free(lambda chunk: chunk.kind == "set")}
    if "alts" in sets:
        excluded["coin"].setdefault(BITCOIN)
    if slots.asset_type is not None and not (named["coin"] or named["asset"] or named["category"]):
        return Subject(scope="assets", asset_type=slots.asset_type or None)
    return Subject(
        scope=_scope(named, sets, others=any(excluded.values())),
        coins=tuple(named["coin"]),
        assets=tuple(named["asset"]),
        categories=tuple(named["category"]),
        wallets=tuple(named["wallet"]),
        shows=tuple(named["show"]),
        excluded=tuple(excluded["coin"]),
        excluded_categories=tuple(excluded["category"]),
    )


def _excludes(slots: Slots, at: int) -> bool:
    """Whether a chunk leaves out the coin or category behind it: "except BTC", but not "isn't BTC …?"."""
    asks = at == 0 and slots.word(at) in _ASKING
    if asks or at in neither(slots) or not (slots.has(at, "except") or slots.has(at, "neg")):
        return False
    at += 1
    while slots.kind(at) in {"filler", "set"}:
        at += 1
    return slots.kind(at) in {"coin", "category"} and at not in slots.used


def neither(slots: Slots) -> list[int]:
    """Where two names are denied something together: "is neither BTC nor ETH in a downtrend?", but not of a set."""
    denied = [at for at, words in enumerate(slots.words) if words in {"neither", "nor"}]
    of_set = any(chunk.kind in {"set", "category"} for chunk in slots.chunks) or slots.asks("list")
    return [] if of_set or not denied or slots.word(denied[0]) != "neither" else denied


def _scope(named: Mapping[str, Mapping[str, None]], sets: set[str], *, others: bool) -> Scope:
    """What kind of thing is meant; `others`: something is left out, so all the others are."""
    scopes: tuple[tuple[str, Scope], ...] = (
        ("wallet", "wallets"),
        ("coin", "coins"),
        ("show", "shows"),
        ("category", "category"),
        ("asset", "assets"),
    )
    found = next((scope for kind, scope in scopes if named[kind]), None)
    if found is not None:
        return found
    if "market" in sets:
        return "market"
    return "all" if sets or others else "coins"
