"""What a question is taken for: by the table of phrases, by what it names, and by what the conversation was about."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from service.ask.aspects import BITCOIN, NAMELESS, OF_COINS_TOO, OF_THINGS, UNANSWERED, refusal, settled
from service.ask.conversation import (
    Heard,
    compares_back,
    details,
    joined,
    names_something,
    opens_on,
    question_of,
    refers_back,
    with_details,
    with_names,
)
from service.ask.intents.cues import Cues, words_of
from service.ask.intents.market import MARKET
from service.ask.intents.named import NAMED
from service.ask.intents.ourselves import OURSELVES
from service.ask.intents.reckoned import RECKONED
from service.ask.intents.row import THIN, Row, Where
from service.ask.intents.table import TABLE
from service.ask.negation import left_out
from service.ask.reading.reader import Reader, Reading
from service.ask.reading.topics import find_topics
from service.wire.ask import Classification, Entities, Intent, Question

MOST_TURNS: Final = 6
"""So many of the user's last messages are read: nobody leaves out what was said before that."""

MOST_WORDS: Final = 160
"""So many words of the last message are looked at, and a quarter of it of every earlier one."""

ADDRESS: Final = re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{40}(?![0-9A-Za-z])")
"""Of an account of an EVM chain."""

_SPOKEN_ADDRESS: Final = "wallet address"
"""What one is read as: its digits are no numbers, and its letters no names."""

_SHORTEST_SUBJECT: Final = 3
_UNCONDITIONAL: Final = 97
"""Rows from this weight on are instructions and errands: they count wherever in a message they stand."""
_ENGLISH: Final = "en"
_COURTEOUS: Final[frozenset[Intent]] = frozenset({"help", "smalltalk"})
_OF_WHAT_WAS_NAMED: Final[frozenset[Intent]] = frozenset({"forecast"})
_OF_A_TIME: Final[frozenset[Intent]] = frozenset({"alerts", "carry", "ranking", "wallets", "transcripts"})
"""Aspects that a time narrows down, which of others would ask how things were then."""

_REASONS: Final = frozenset({"why", "reason", "reasons", "reasoning", "rationale", "explain", "because", "evidence"})
_PREFERRING: Final = frozenset(
    {
        "better",
        "stronger",
        "weaker",
        "prefer",
        "preferable",
        "rather",
        "buy",
        "buying",
        "sell",
        "hold",
        "pick",
        "choose",
        "bullish",
        "bearish",
        "bull",
        "bear",
        "invest",
        "long",
        "short",
        "verdict",
        "verdicts",
        "signal",
        "signals",
        "should",
        "strongest",
        "weakest",
        "best",
        "worse",
        "safer",
        "riskier",
        "healthier",
        "stand",
    }
)
"""Words that ask a comparison which of the two to take: the verdicts are looked up too."""

_CORRELATING: Final = frozenset(
    {
        "correlated",
        "correlation",
        "correlate",
        "correlates",
        "uncorrelated",
        "decoupled",
        "closest",
        "tied",
        "linked",
        "coupled",
        "independent",
        "follow",
        "follows",
        "track",
        "tracks",
        "move",
        "moves",
    }
)
"""Words after which Bitcoin may be what others are measured against."""


_ACTIONS: Final[Mapping[Intent, frozenset[str]]] = MappingProxyType(
    {
        "walkforward": frozenset({"signals", "positions", "outcomes"}),
        "regime": frozenset({"signals", "confidence", "history"}),
    }
)
"""Words that ask for another of the same tool's answers: "and positions?"."""


class Turn(Struct, frozen=True):
    """One message as it was read.

    Attributes:
        reading: What it holds.
        words: The words that phrases are looked for in.
        row: The row of the table that says what it means, null where none does.
    """

    reading: Reading
    words: list[str]
    row: Row | None


class Classifier:
    """Says what questions are about. Pure: the same question is always taken for the same. Immutable.

    Args:
        reader: Knows what can be named.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cues = Cues(TABLE)
        self._own = Cues((*OURSELVES, *MARKET, *RECKONED, *NAMED))

    def classify(self, question: Question) -> Classification:
        """Say what the last message is about.

        Earlier messages of the user supply what it leaves out; `commandContext` supplies names alone, and only where no
        message does. What the assistant said supplies nothing.

        Args:
            question: The conversation.
        """
        said = [message.content for message in question.messages if message.role == "user"][-MOST_TURNS:]
        heard = Heard()
        for text in said[:-1]:
            _, heard = self._understand(text, heard, MOST_WORDS // 4, None)
        classification, _ = self._understand(said[-1], heard, MOST_WORDS, question.commandContext)
        return classification

    def _understand(self, text: str, heard: Heard, most: int, context: str | None) -> tuple[Classification, Heard]:
        reading = self._reader.read(ADDRESS.sub(_SPOKEN_ADDRESS, text))
        if reading.language != _ENGLISH:
            foreign = Classification(
                intent="out-of-scope", entities=reading.entities, refusal="language", language=reading.language
            )
            return foreign, heard
        turn = self._turn(reading, heard, most)
        heard = self._with_context(turn, heard, context)
        classification, aspect = _decided(turn, heard)
        unsaid = classification.refusal == "ambiguous" or (turn.row is None and classification.intent == "overview")
        if unsaid and heard == Heard() and self._is_elsewhere(turn):
            classification = structs.replace(classification, intent="out-of-scope", refusal="out-of-scope")
            aspect = "out-of-scope"
        return classification, _remembered(heard, classification, aspect)

    def _turn(self, reading: Reading, heard: Heard, most: int) -> Turn:
        words = words_of(reading.masked, most)
        named = reading.entities
        if refers_back(words) and not names_something(named) and not named.unknown:
            named = with_names(named, heard.entities)
        row = self._row(words, named)
        asked = question_of(reading.text)
        if asked is not None and (row is None or (row.weight < _UNCONDITIONAL and row.intent != "carry")):
            meant = self._row(words_of(self._reader.read(asked).masked, most), named)
            row = meant if meant is not None and _decides(meant, named) else row
        return Turn(reading, words, row)

    def _row(self, words: list[str], named: Entities) -> Row | None:
        """The heaviest row of the table that words hold."""
        rows = sorted(self._cues.matching(words, left_out(words)))
        fitting = [TABLE[place] for place in rows if _holds(TABLE[place], words, named)]
        return max(fitting, key=lambda row: row.weight, default=None)

    def _is_elsewhere(self, turn: Turn) -> bool:
        """Whether a question that names nothing of ours is about something else: "which laptop should I buy"."""
        if refers_back(turn.words) or turn.reading.entities.candidates:
            return False
        return any(len(word) > _SHORTEST_SUBJECT and not self._own.knows(word) for word in turn.words)

    def _with_context(self, turn: Turn, heard: Heard, context: str | None) -> Heard:
        """What was heard, with what the caller has just looked at where no message names anything."""
        if context is None or names_something(heard.entities) or names_something(turn.reading.entities):
            return heard
        looked_at = self._reader.read(context.strip().partition("\n")[0]).entities
        return Heard(heard.aspect, with_names(heard.entities, looked_at))


def _decides(row: Row, named: Entities) -> bool:
    """Whether the one question of a message says enough to be what all of it is about: an aspect needs its thing."""
    lacks = row.intent in OF_THINGS and not (names_something(named) or named.unknown)
    return row.weight >= THIN and row.intent not in _COURTEOUS and not lacks


def _holds(row: Row, words: list[str], named: Entities) -> bool:
    """Whether what a row needs to be named is named."""
    coins = named.coins
    if coins == (BITCOIN,) and not _CORRELATING.isdisjoint(words):
        coins = ()  # what is correlated is asked for, and Bitcoin is what with
    ones = len(coins) + len(named.assets)
    something = bool(named.coins or named.assets or named.categories or named.unknown)
    met: Mapping[Where, bool] = {
        "any": True,
        "nothing": not something,
        "something": something,
        "no-one": ones == 0,
        "pair": ones > 1,
        "term": named.term is not None and ones == 0,
        "amount": named.amount is not None,
        "one-unit": named.amount is not None and named.amount.value == 1 and named.amount.unit in named.coins,
    }
    return met[row.where]


def _decided(turn: Turn, heard: Heard) -> tuple[Classification, Intent]:
    """What a message is taken for, and the aspect it asks about."""
    aspect, action = _aspect(turn, heard)
    entities = _completed(turn, heard, aspect)
    if action is not None:
        entities = structs.replace(entities, action=action)
    if aspect == "comparison" and not _PREFERRING.isdisjoint(turn.words):
        entities = structs.replace(entities, action="prefer")
    if aspect == "transcripts":
        entities = _with_topics(turn, heard, entities)
    intent, entities = settled(aspect, entities)
    lacking = compares_back(turn.words) and _is_half(aspect, entities)
    if lacking:
        intent = aspect
    classification = Classification(
        intent=intent,
        entities=entities,
        follow_up=_leans_on(turn, heard, aspect, entities),
        why=not _REASONS.isdisjoint(turn.words),
        refusal="ambiguous" if lacking else refusal(intent, entities),
    )
    return classification, aspect


def _with_topics(turn: Turn, heard: Heard, entities: Entities) -> Entities:
    """What is to be heard of: topics are named like coins, and like them take the place of what was named before."""
    own = turn.reading.entities
    topics = find_topics(turn.words)
    if topics:
        return structs.replace(with_names(entities, own), topics=topics)
    kept = heard.aspect == "transcripts" and not names_something(own) and not own.unknown
    return structs.replace(entities, topics=heard.entities.topics) if kept else entities


def _aspect(turn: Turn, heard: Heard) -> tuple[Intent, str | None]:
    """What a message asks about, and which of a tool's answers: said by it, or by the conversation it goes on with."""
    named = turn.reading.entities
    for word in turn.words if opens_on(turn.words) else ():
        if heard.aspect is not None and word in _ACTIONS.get(heard.aspect, ()):
            return heard.aspect, word
    if turn.row is not None and turn.row.weight >= THIN and not _goes_on(turn, heard):
        return turn.row.intent, turn.row.action
    if heard.aspect is not None:
        kept = _kept(turn, heard.aspect)
        if kept is not None:
            return kept, None
    if turn.row is not None:
        return turn.row.intent, turn.row.action
    if names_something(named) or named.unknown or named.candidates:
        return "overview", None
    return "out-of-scope", None


def _kept(turn: Turn, aspect: Intent) -> Intent | None:
    """The conversation's aspect, where a message that says none of its own can mean it; else null."""
    named = turn.reading.entities
    if aspect == "definition":
        return aspect if named.term is not None and not names_something(named) else None
    if names_something(named) or named.unknown or named.candidates:
        takes_coins = aspect in OF_THINGS or aspect in OF_COINS_TOO or aspect in UNANSWERED
        takes = takes_coins or (aspect == "ranking" and not named.coins and not named.assets)
        return aspect if takes else None
    if turn.row is not None and turn.row.intent == "history" and aspect not in _OF_A_TIME:
        return None
    if turn.row is not None and turn.row.intent == "verdict" and aspect in OF_THINGS:
        return None
    if turn.row is not None and turn.row.intent == "trend" and aspect not in {"ranking", "comparison"}:
        return None
    return aspect if details(named) or turn.row is not None or opens_on(turn.words) else None


def _goes_on(turn: Turn, heard: Heard) -> bool:
    """Whether a ranking goes on by another measure, or explaining with another word: "and by volume?"."""
    named = turn.reading.entities
    if not opens_on(turn.words) or named.coins or named.assets or named.unknown:
        return False
    if heard.aspect == "ranking":
        return named.metric is not None or named.order is not None
    return heard.aspect == "definition" and named.term is not None


def _completed(turn: Turn, heard: Heard, aspect: Intent) -> Entities:
    """A message's entities, with what earlier ones named where it names nothing itself."""
    named = turn.reading.entities
    if aspect == "correlation" and _is_half(aspect, named) and compares_back(turn.words):
        named = joined(named, heard.entities)
    own = names_something(named) or bool(named.unknown or named.candidates)
    if aspect == heard.aspect and (not own or turn.row is None or turn.row.weight < THIN):
        named = with_details(named, heard.entities)
    if aspect == "comparison" and _few(named) and not named.unknown:
        return joined(named, heard.entities)
    if own or aspect in NAMELESS:
        return named
    wanted = aspect in OF_THINGS or (aspect == heard.aspect and aspect != "ranking")
    if wanted or ((aspect in OF_COINS_TOO or aspect in _OF_WHAT_WAS_NAMED) and refers_back(turn.words)):
        return with_names(named, heard.entities)
    if aspect == "ranking" and aspect == heard.aspect:
        return structs.replace(named, categories=heard.entities.categories)
    return named


def _is_half(aspect: Intent, named: Entities) -> bool:
    """Whether of two things that are held against each other only one is known."""
    if aspect == "correlation":
        return named.coins == (BITCOIN,)
    return aspect == "comparison" and _few(named) and not named.unknown and not named.categories


def _few(named: Entities) -> bool:
    return len(named.coins) + len(named.assets) < 2  # noqa: PLR2004 - what is compared is two


def _leans_on(turn: Turn, heard: Heard, aspect: Intent, entities: Entities) -> bool:
    """Whether anything of a classification was said earlier."""
    own = turn.reading.entities
    named_before = (entities.coins, entities.assets, entities.categories) != (own.coins, own.assets, own.categories)
    said_before = aspect == heard.aspect and (turn.row is None or turn.row.intent != aspect)
    return (named_before and heard != Heard()) or said_before


def _remembered(heard: Heard, classification: Classification, aspect: Intent) -> Heard:
    """What the conversation is about after a message: courtesies and what is refused as foreign change nothing."""
    if aspect in {"out-of-scope", "smalltalk", "help", "account", "pricing"}:
        return heard
    entities = classification.entities
    if not names_something(entities):
        entities = with_names(entities, heard.entities)
    return Heard(aspect, entities)
