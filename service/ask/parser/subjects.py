"""Who a clause is about. Pure."""

from typing import Any

from service.ask.parser.slots import BITCOIN, Slots
from service.ask.query import (
    Subject,
)


def read_subject(slots: Slots) -> Subject:
    """Who a clause is about. Names after "except" or "not" are left out."""
    coins: dict[str, None] = {}
    assets: dict[str, None] = {}
    categories: dict[str, None] = {}
    out_coins: dict[str, None] = {}
    out_categories: dict[str, None] = {}
    wallets: dict[str, None] = {}
    shows: dict[str, None] = {}
    excluding = False
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        if chunk.has("except"):
            excluding = True
            slots.used.add(at)
        elif chunk.has("neg") and _names(slots, at + 1):
            excluding = True
            slots.used.add(at)
        elif chunk.kind in {"coin", "category", "asset", "wallet", "show"}:
            target: dict[str, None] = {
                "coin": out_coins if excluding else coins,
                "category": out_categories if excluding else categories,
                "asset": assets,
                "wallet": wallets,
                "show": shows,
            }[chunk.kind]
            target.update(dict.fromkeys(chunk.value))
            slots.used.add(at)
        elif chunk.kind not in {"and", "or", "filler"} or chunk.gap not in {"", ","}:
            excluding = excluding and chunk.kind == "set"
    for at in slots.free(lambda chunk: chunk.kind == "set"):
        if slots.chunks[at].value == "alts":
            out_coins.setdefault(BITCOIN)
    scope = _scope(slots, bool(coins), bool(categories), bool(assets), bool(out_coins or out_categories))
    if slots.asset_type and not coins and not assets and not categories:
        return Subject(scope="assets", asset_type=slots.asset_type)
    return Subject(
        scope="wallets" if wallets else "shows" if shows and not coins else scope,
        coins=tuple(coins),
        assets=tuple(assets),
        categories=tuple(categories),
        wallets=tuple(wallets),
        shows=tuple(shows),
        excluded=tuple(out_coins),
        excluded_categories=tuple(out_categories),
    )


def _names(slots: Slots, at: int) -> bool:
    """Whether a name, or a set and a name, begins at a chunk, with at most fillers before."""
    while slots.kind(at) == "filler":
        at += 1
    return slots.kind(at) in {"coin", "category"}


def _scope(slots: Slots, coins: bool, categories: bool, assets: bool, out: bool) -> Any:
    sets = {slots.chunks[at].value for at in slots.free(lambda chunk: chunk.kind == "set")}
    if coins:
        return "coins"
    if categories:
        return "category"
    if assets:
        return "assets"
    if "market" in sets:
        return "market"
    return "all" if sets or out else "coins"
