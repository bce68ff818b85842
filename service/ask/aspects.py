"""Which intent an aspect is, by the kind of thing it is asked of; and what then cannot be answered."""

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from service.ask.conversation import names_something
from service.ask.intents.followed import NOT_FOLLOWED
from service.ask.tokens import WRAPPED, is_token
from service.wire.ask import Entities, Intent, Refusal

OF_THINGS: Final[frozenset[Intent]] = frozenset(
    {
        "price",
        "overview",
        "verdict",
        "trend",
        "funding",
        "carry",
        "sentiment",
        "correlation",
        "comparison",
        "history",
        "convert",
    }
)
"""Aspects that something has to be named for; what is asked about decides between them and the assets' intents."""

OF_COINS_TOO: Final[frozenset[Intent]] = frozenset(
    {"alerts", "regime", "walkforward", "track-record", "wallets", "transcripts"}
)
"""What is about everything unless a coin is named."""

UNANSWERED: Final[Mapping[Intent, Refusal]] = {
    "forecast": "forecast",
    "out-of-scope": "out-of-scope",
}
"""Intents that are never answered with figures."""

NAMELESS: Final[frozenset[Intent]] = frozenset({"definition", "account", "pricing", "help", "smalltalk"})
"""Intents for which it does not matter what is named."""

_RANKED: Final[Mapping[Intent, str]] = {
    "funding": "funding_apr",
    "correlation": "btc_correlation",
}
"""Aspects of a category that are answered by ranking its coins."""

BITCOIN: Final = "BTC"


def settled(aspect: Intent, entities: Entities) -> tuple[Intent, Entities]:
    """The intent that an aspect is of what is named.

    Args:
        aspect: What is asked.
        entities: What is named, earlier messages included.

    Returns:
        The intent, and the entities as it takes them.
    """
    if aspect == "correlation":
        entities = _against_bitcoin(entities)
    if aspect == "wallets":
        return aspect, _unwrapped(entities)
    if aspect == "ranking":
        return aspect, structs.replace(entities, coins=(), assets=())
    if aspect not in OF_THINGS or entities.coins:
        return _of_coins(aspect, entities), entities
    if entities.assets:
        several = aspect == "comparison" and len(entities.assets) > 1
        return ("comparison" if several else "rwa"), entities
    if entities.categories:
        return _of_categories(aspect, entities)
    return aspect, entities


def refusal(intent: Intent, entities: Entities) -> Refusal | None:
    """Why a question is not answered with figures, if it is not.

    Args:
        intent: What it is about.
        entities: What it names.
    """
    if intent == "wallets" and _is_followed_by_nobody(entities):
        return "not-available"
    if intent in UNANSWERED:
        return UNANSWERED[intent]
    if intent in NAMELESS or entities.topics:
        return None
    return _unclear(intent, entities)


def _unclear(intent: Intent, entities: Entities) -> Refusal | None:
    """Why nobody can say what a question is about, if that is so."""
    if intent == "correlation" and entities.unknown and entities.coins == (BITCOIN,):
        return "unknown-symbol"  # what is left of the question is Bitcoin beside itself
    if names_something(entities):
        return None
    if entities.unknown:
        return "unknown-symbol"
    undecided = bool(entities.candidates) or intent in OF_THINGS
    history = intent == "regime" and entities.action == "history"
    return "ambiguous" if undecided or history else None


def _unwrapped(entities: Entities) -> Entities:
    """With the coins that tokens stand for which are named by their own symbols."""
    meant = {name: WRAPPED.get(name.upper().removeprefix("$")) for name in entities.unknown}
    coins = dict.fromkeys([*entities.coins, *filter(None, meant.values())])
    others = tuple(name for name in entities.unknown if meant[name] is None)
    return structs.replace(entities, coins=tuple(coins), unknown=others)


def _is_followed_by_nobody(entities: Entities) -> bool:
    """Whether of wallets something is asked that is not looked at, or of coins alone that are no tokens there."""
    without = [coin for coin in entities.coins if not is_token(coin)]
    return entities.action == NOT_FOLLOWED or (bool(without) and len(without) == len(entities.coins))


def _of_coins(aspect: Intent, entities: Entities) -> Intent:
    alone = len(entities.coins) + len(entities.assets) == 1 and not entities.unknown
    if aspect == "comparison" and alone:
        return "overview" if entities.period is None else "history"
    return aspect


def _of_categories(aspect: Intent, entities: Entities) -> tuple[Intent, Entities]:
    if aspect == "sentiment":
        return "category-sentiment", entities
    if aspect in _RANKED:
        return "ranking", structs.replace(entities, metric=entities.metric or _RANKED[aspect])
    return "category", entities


def _against_bitcoin(entities: Entities) -> Entities:
    """Without the coin that correlations are measured against, where another is named."""
    others = tuple(coin for coin in entities.coins if coin != BITCOIN)
    return structs.replace(entities, coins=others or entities.coins)
