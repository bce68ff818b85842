"""Who is followed: questions that name a watched wallet, or a show that is heard, are about that one."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import structs

from service.ask.classify import ADDRESS
from service.ask.intents.followed import MOVING
from service.transcripts.desk import TranscriptDesk
from service.wallets.desk import WalletDesk
from service.wallets.watchlist import Watched
from service.wire.ask import Classification, Question
from service.wire.transcripts import TranscriptSources, TranscriptsQuery

MOST_WALLETS: Final = 5
"""Watched wallets of a question that are looked up."""

_UNSURE: Final = frozenset({"unknown-symbol", "ambiguous", "out-of-scope"})
"""Why a question is refused that may be about somebody."""

_MOVES: Final = frozenset(MOVING.split("|")) - {"doing", "up", "making", "alert", "alerts"}
"""Words by which a question may be about what somebody moved though it says that in no phrase of ours."""

_SHORTEST: Final = 3
"""Letters of a name that is looked for in a question."""

_ARTICLE: Final = "the "
_WORDS: Final = re.compile(r"[^\W_]+")


class Acquaintances:
    """Knows who is followed, from the desks that follow them.

    Args:
        wallets: Follows wallets.
        transcripts: Follows shows.
    """

    def __init__(self, wallets: WalletDesk, transcripts: TranscriptDesk) -> None:
        self._wallets = wallets
        self._transcripts = transcripts

    async def recognise(self, question: Question, classification: Classification) -> Classification:
        """Look whether a question names somebody who is followed.

        A question about a wallet or about people is refused as long as nobody knows them. One that is refused, and
        names a wallet that is watched by its address or its label, is about that wallet.

        Args:
            question: As it was asked.
            classification: What it was taken for by its words alone.

        Returns:
            The same, or what it is about.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        said = [_Said(text) for text in _texts(question, classification)]
        if classification.intent == "transcripts":
            return _with(classification, shows=await self._shows(said))
        wallets = _named(said, await self._wallets.watched()) if _may_mean_one(classification, said[0]) else ()
        if not wallets:
            return classification
        about = structs.replace(classification.entities, wallets=wallets, action=None, unknown=(), candidates={})
        return structs.replace(classification, intent="wallets", entities=about, refusal=None)

    async def _shows(self, said: Sequence["_Said"]) -> tuple[str, ...]:
        answer = await self._transcripts.transcripts(TranscriptsQuery(action="sources"))
        shows = msgspec.convert(answer.data, TranscriptSources, from_attributes=True).sources
        named = (tuple(show.id for show in shows if text.names(show.name)) for text in said)
        return next(filter(None, named), ())


class _Said:
    """One message, as names are looked for in it: in any case, between any marks."""

    def __init__(self, text: str) -> None:
        self.words = _WORDS.findall(text.casefold())
        self.addresses = frozenset(address.lower() for address in ADDRESS.findall(text))
        self._line = f" {' '.join(self.words)} "

    def names(self, name: str) -> bool:
        """Whether it holds a name, its first part where a comma parts it."""
        short = name.casefold().partition(",")[0].removeprefix(_ARTICLE)
        words = " ".join(_WORDS.findall(short))
        return len(words) >= _SHORTEST and f" {words} " in self._line


def _may_mean_one(classification: Classification, said: _Said) -> bool:
    """Whether a question may be about a wallet though its words do not say so."""
    if classification.intent == "wallets" or classification.refusal in _UNSURE:
        return True
    return classification.refusal is None and not _MOVES.isdisjoint(said.words)


def _with(classification: Classification, shows: tuple[str, ...]) -> Classification:
    return structs.replace(classification, entities=structs.replace(classification.entities, shows=shows))


def _texts(question: Question, classification: Classification) -> Iterator[str]:
    """What the user has written, the last message first; earlier ones where that leans on them."""
    said = [message.content for message in reversed(question.messages) if message.role == "user"]
    yield from said if classification.follow_up else said[:1]


def _named(said: Sequence[_Said], watched: Sequence[Watched]) -> tuple[str, ...]:
    """Addresses of the wallets that are named, those of the newest message that names some."""
    named = (tuple(wallet.address for wallet in watched if _is_named(wallet, text)) for text in said)
    return next(filter(None, named), ())[:MOST_WALLETS]


def _is_named(wallet: Watched, said: _Said) -> bool:
    return wallet.address in said.addresses or (wallet.label is not None and said.names(wallet.label))
