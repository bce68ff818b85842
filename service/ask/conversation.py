"""What a conversation has been about, and what a question takes from it that it leaves out itself."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct, structs

from service.wire.ask import Entities, Intent

_OPENINGS: Final = frozenset(
    {"and", "also", "same", "now", "then", "but", "plus", "or", "ok", "again", "for", "in", "by"}
)
_REFERRING: Final = frozenset(
    {"it", "its", "them", "they", "their", "theirs", "those", "both", "either", "itself", "thats"}
)
_POINTING: Final = frozenset({"that", "this", "the", "these", "which"})
_POINTED_AT: Final = frozenset({"one", "coin", "coins", "token", "tokens", "asset", "assets", "stock", "same", "two"})

_COMPARED: Final = frozenset({"it", "this", "that", "them", "these", "those"})
_COMPARING: Final = frozenset({"compare", "comparing", "compares", "is", "are", "does", "do", "of"})
_AGAINST: Final = frozenset(
    {"with", "to", "vs", "versus", "against", "than", "or", "follow", "track", "move", "mirror"}
)

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")

_OF_NAMES: Final = ("coins", "assets", "categories")
_OF_DETAIL: Final = (
    "excluded", "period", "timeframe", "amount", "side", "days", "metric", "order", "trend", "limit", "type", "action",
)  # fmt: skip
_OF_PLACE: Final = ("period", "timeframe", "amount", "side", "days", "metric", "order", "trend", "limit")


class Heard(Struct, frozen=True):
    """What the messages so far came to.

    Attributes:
        aspect: What was last asked about, before what was named decided which kind of thing it is about; null: nothing.
        entities: What was named last, and how it was narrowed down.
    """

    aspect: Intent | None = None
    entities: Entities = Entities()


def names_something(entities: Entities) -> bool:
    """Whether a coin, an asset or a category is named that is one here."""
    return bool(entities.coins or entities.assets or entities.categories)


def details(entities: Entities) -> bool:
    """Whether anything is said that narrows a question down: a period, an amount, a metric."""
    return any(getattr(entities, field) is not None for field in _OF_PLACE)


def opens_on(words: Sequence[str]) -> bool:
    """Whether a question begins as if it went on: "and …", "what about …", "same …"."""
    return words[1] in _OPENINGS or (words[1] in {"what", "how"} and words[2] == "about")


def question_of(text: str) -> str | None:
    """The one sentence of a message that asks, where the others only tell; null where it is all, or there are more.

    Args:
        text: As it was written.
    """
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    return asking[0] if len(asking) == 1 and len(sentences) > 1 else None


def refers_back(words: Sequence[str]) -> bool:
    """Whether something is meant that was named before: "it", "that coin", "which one"."""
    return any(word in _REFERRING or (word in _POINTING and after in _POINTED_AT) for word, after in pairwise(words))


def compares_back(words: Sequence[str]) -> bool:
    """Whether what was named before is held against something: "compare it with …", "how correlated is it with …"."""
    return any(
        (before in _COMPARING and word in _COMPARED) or (word in _COMPARED and after in _AGAINST)
        for before, word, after in zip(words, words[1:], words[2:], strict=False)
    )


def with_names(entities: Entities, source: Entities) -> Entities:
    """A question's entities with the names of an earlier one."""
    return structs.replace(entities, **{field: getattr(source, field) for field in _OF_NAMES})


def joined(entities: Entities, source: Entities) -> Entities:
    """A question's entities with an earlier one's names before its own."""
    return structs.replace(
        entities,
        **{field: tuple(dict.fromkeys([*getattr(source, field), *getattr(entities, field)])) for field in _OF_NAMES},
    )


def with_details(entities: Entities, source: Entities) -> Entities:
    """A question's entities, narrowed down as an earlier one was wherever it says nothing of it itself."""
    empty = Entities()
    return structs.replace(
        entities,
        **{field: getattr(source, field) for field in _OF_DETAIL if getattr(entities, field) == getattr(empty, field)},
    )
