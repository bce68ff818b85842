"""What a question was understood as: queries, or why it is refused."""

from typing import Literal

from msgspec import Struct

from service.ask.query import Query

Courtesy = Literal["greeting", "thanks", "help", "goodbye"]
Reason = Literal[
    "unknown-symbol", "ambiguous", "language", "forecast", "out-of-scope", "not-available", "unread", "per-coin"
]


class Refusal(Struct, frozen=True, omit_defaults=True):
    """Why a question is not answered. It costs nothing.

    Attributes:
        reason: Which kind of reason.
        words: The words of the question that cannot be answered.
        candidates: Names that may be meant, within two letters; of `per-coin` the coin; of a time that is unclear
            what it may mean.
        instead: The nearest question that can be asked; null: none is near.
    """

    reason: Reason
    words: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    instead: str | None = None


class Understanding(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a question was understood as.

    Attributes:
        queries: In the order of the question; empty where it is refused, small talk or help.
        refusal: Why it is not answered; null: it is.
        courtesy: A greeting, thanks or request for help, answered without data.
        ignored: Words that were not considered; the answer names them.
        unknown: Names of coins that do not exist here, beside others that do; the answer names them.
        follow_up: Whether earlier messages were needed.
        language: ISO 639-1; `und` where nobody can say.
    """

    queries: tuple[Query, ...] = ()
    refusal: Refusal | None = None
    courtesy: Courtesy | None = None
    ignored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    follow_up: bool = False
    language: str = "en"
