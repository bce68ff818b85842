"""Reads conversations: the last message as queries, with what earlier messages say, and every word accounted for."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct, structs

from service.ask.describe import describe
from service.ask.parser.accounting import (
    about_nothing,
    as_written,
    dropped,
    followed,
    not_available,
    unread,
)
from service.ask.parser.chunks import Chunk, cut, names_measure
from service.ask.parser.clause import read_clause
from service.ask.parser.followup import follow
from service.ask.parser.frames import how_to_answer, without_templates
from service.ask.parser.gate import defined_terms, gate, reason_of
from service.ask.parser.known import Known
from service.ask.parser.language import ENGLISH
from service.ask.parser.lexicon import COURTESIES
from service.ask.parser.other_things import replaced
from service.ask.parser.recognise import Recogniser
from service.ask.parser.segments import segments
from service.ask.parser.tokens import Token, tidy, tokenise
from service.ask.parser.windows import share_window, within_breadth
from service.ask.query import Explain, Query, Rank, Route, Subject
from service.ask.understanding import Courtesy, Refusal, Understanding

MOST_WORDS: Final = 400
MOST_TURNS: Final = 6
_SERVICE: Final = Subject(scope="service")
_SHORT: Final = 2
_EXCERPT: Final = 80
_UNREADABLE: Final = re.compile(
    r"\bis (?:that|it|this) (?:high|low|normal|a lot|much|good|bad|unusual)\b"
    r"|\b(?:wallets?|transfers?|whales?)\b.*\busd[ct]\b|\busd[ct]\b.*\b(?:wallets?|transfers?|whales?)\b"
)
"""Nothing here says what is much; and of wallets only coins are told apart, to which USDC does not belong."""

_DAY_BEGINS: Final = re.compile(r"(?<=day) (?:at )?00:00(?::00)?(?: ?UTC)?\b")
"""A day begins at midnight UTC: behind a day this says nothing more."""

_AS_PERCENT: Final = re.compile(r"(?<=\bas )(?:a )?%(?= of\b)")
_TAG: Final = re.compile(r"</?[A-Za-z_]+>")
_FIRST: Final = re.compile(r"(?:^|\s|\()1[.)]\s")
_BULLET: Final = re.compile(
    r"(?:(?<=^)|(?<=[\s;]))"
    r"(?:\(?[1-9]\d?[.)]|\((?:[ivx]{1,4}|[a-h])\)|[A-H]\)|[-*\u2022]|(?:[Tt]ask|[Ss]tep|[Qq]uestion|[Qq])\s?\d{1,2}\s?[:.)]"
    r"|(?<![a-z0-9] )(?:[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)(?:ly)?"
    r"(?:[:,]|(?=\s(?:the|its|a|an|what|which|give|tell|show|list|find)\s)))"
    r"\s+(?=[A-Za-z$\"'`{])"
)


_CORRECTING: Final = frozenset({"i", "sorry", "wait", "just", "of", "it", "thats", "make"})
"""Words behind a leading "no" that corrects the last message: "no, I meant …"."""


class Names(Struct, frozen=True):
    """What can be named.

    Attributes:
        known: Coins, assets and categories.
        wallets: Labels and addresses of watched wallets, lower case, to their address.
        shows: Names of shows, lower case, to their id.
        terms: Words of the glossary to their key.
    """

    known: Known
    wallets: Mapping[str, str] = {}
    shows: Mapping[str, str] = {}
    terms: Mapping[str, str] = {}


class Parser:
    """Reads questions. Pure but for its names.

    Args:
        names: What can be named.
    """

    def __init__(self, names: Names) -> None:
        self._terms = names.terms
        self._recogniser = Recogniser(names.known, names.wallets, names.shows)

    def read(self, messages: Sequence[str], now_ms: int) -> Understanding:
        """Read a conversation.

        Args:
            messages: What the user said, oldest first; the last is the question.
            now_ms: Epoch milliseconds.
        """
        before: tuple[Query, ...] = ()
        for text in messages[:-1][-MOST_TURNS:]:
            earlier = self._message(text, before, now_ms)
            before = before if earlier.refusal else earlier.queries or before
        understood = self._message(messages[-1], before, now_ms)
        return self._refused(understood, understood.refusal, now_ms) if understood.refusal else understood

    def _refused(self, understood: Understanding, refusal: Refusal, now_ms: int) -> Understanding:
        """A refusal that suggests what was read of the question, where those words alone are read the same."""
        texts = [(query, describe(query)) for query in understood.queries]
        same = (text for query, text in texts if self._message(text, (), now_ms) == Understanding(queries=(query,)))
        return structs.replace(understood, queries=(), refusal=structs.replace(refusal, instead=next(same, None)))

    def _message(self, text: str, before: tuple[Query, ...], now_ms: int) -> Understanding:
        tidied = tidy(
            _without_bullets(
                _TAG.sub(" , ", without_templates(_DAY_BEGINS.sub("", _AS_PERCENT.sub("a percentage", text))))
            )
        )
        tokens = tokenise(tidied)[:MOST_WORDS]
        courtesy = _courtesy(tokens)
        if courtesy is not None:
            return Understanding(courtesy=courtesy)
        names, mended, language = self._recogniser.read(tokens, tidied)
        if language != ENGLISH:
            return Understanding(refusal=Refusal("language"), language=language)
        chunks = [_command(chunk, mended, tokens) for chunk in cut(tokens, mended, names, now_ms)]
        written = [" ".join(mended[chunk.start : chunk.end]) for chunk in chunks]
        chunks = how_to_answer(chunks, written)
        if _UNREADABLE.search(" ".join(written)):
            return Understanding(refusal=Refusal("unread", (text.strip()[:_EXCERPT],)))
        at_once = self._at_once(chunks, written, tokens, follows=bool(before))
        if at_once is not None:
            return at_once
        unknown = tuple(as_written(tokens, chunk) for chunk in chunks if chunk.kind == "unknown")
        chunks = [structs.replace(chunk, kind="filler") if chunk.kind == "unknown" else chunk for chunk in chunks]
        understood = _clauses(chunks, written, tokens, before)
        if understood.refusal is not None and unknown:
            candidates = next(name.value for name in names if name.kind == "unknown")
            return Understanding(refusal=Refusal("unknown-symbol", unknown[:1], candidates))
        per_coin = frozenset(key for name in names if name.per_coin for key in name.value)
        queries = tuple(_per_coin(query, per_coin) for query in understood.queries)
        return structs.replace(understood, queries=queries, unknown=unknown)

    def _at_once(
        self, chunks: Sequence[Chunk], written: Sequence[str], tokens: Sequence[Token], *, follows: bool
    ) -> Understanding | None:
        """What a message as a whole is: no query, a definition, about the service, or about an unknown name."""
        row = gate(chunks, written)
        reason = reason_of(row) if row is not None else None
        if reason:
            return Understanding(refusal=Refusal(reason))
        if terms := defined_terms(self._terms, chunks, written):
            return Understanding(queries=tuple(Query(operation=Explain(term), subject=_SERVICE) for term in terms))
        named = any(chunk.kind in {"coin", "asset", "category"} for chunk in chunks)
        unknown = next((chunk for chunk in chunks if chunk.kind == "unknown"), None)
        if row is not None and not named and unknown is None:
            if row.intent in {"account", "pricing"}:
                return Understanding(queries=(Query(operation=Route(row.intent), subject=_SERVICE),))
            if row.intent in {"help", "smalltalk"} and not follows:
                return Understanding(courtesy="help" if row.intent == "help" else "thanks")
        refusal = not_available(chunks, tokens)
        if unknown is not None and not named:
            refusal = Refusal("unknown-symbol", (as_written(tokens, unknown),), tuple(unknown.value))
        return None if refusal is None else Understanding(refusal=refusal)


def _per_coin(query: Query, named: frozenset[str]) -> Query:
    """A query that says of which coins one is meant where the venue trades thousands."""
    coins = tuple(coin for coin in query.subject.coins if coin in named)
    return structs.replace(query, subject=structs.replace(query.subject, per_coin=coins)) if coins else query


def _without_bullets(text: str) -> str:
    """A text with a semicolon for each bullet; numbers count as such where the first is 1."""
    numbered = _FIRST.search(text) is not None
    return _BULLET.sub(lambda found: " ; " if numbered or not found[0].strip("( ")[0].isdigit() else found[0], text)


def _courtesy(tokens: Sequence[Token]) -> Courtesy | None:
    """Which courtesy a message is that holds nothing else: a greeting, thanks, or a call for help."""
    short = len(tokens) <= _SHORT
    return COURTESIES.get(" ".join(one.word for one in tokens if short or one.word not in {"please", "verdict"}))


def _command(chunk: Chunk, mended: Sequence[str], tokens: Sequence[Token]) -> Chunk:
    """At the beginning of a sentence "return" is no measure, and "no," negates nothing behind it."""
    of = mended[chunk.end : chunk.end + 1] in (["of"], ["on"], ["for"])
    begins = mended[chunk.start] == "return" and (chunk.start == 0 or chunk.gap) and not of
    no = mended[0] == "no" and chunk.end == 1 < len(tokens)
    begins = begins or (no and ("," in tokens[1].gap or mended[1] in _CORRECTING))
    return structs.replace(chunk, kind="filler", words=()) if begins else chunk


def _shares_measure(before: Sequence[Chunk], part: Sequence[Chunk], queries: Sequence[Query], query: Query) -> bool:
    """Whether a ranking says by what the one before it ranks: "top 5 memes and top 5 L1s by volume"."""
    ranked = bool(queries) and isinstance(queries[-1].operation, Rank) and isinstance(query.operation, Rank)
    named = any(chunk.has("measure") for chunk in part)  # not "which is the largest and which fell the most"
    own = any(one.has("super") and other.has("measure") for one, other in pairwise(part))
    apart = own and any(chunk.kind == "category" for chunk in before)  # "best L1 and highest funding"
    return ranked and not part[0].gap.strip(" ,") and named and not apart and not names_measure(before)


def _shares_set(before: Sequence[Chunk], part: Sequence[Chunk], queries: Sequence[Query], query: Query) -> bool:
    """Whether a ranking says which coins the one before it ranks: "top 3 gainers and top 3 losers among L1s"."""
    ranked = bool(queries) and isinstance(queries[-1].operation, Rank) and isinstance(query.operation, Rank)
    named = any(chunk.kind in {"set", "category", "coin"} for chunk in before)
    moves = all(any((one := chunk.as_("super")) and one.measure for chunk in side) for side in (before, part))
    return ranked and not part[0].gap.strip(" ,") and not named and (moves or not names_measure(before))


def _clauses(
    chunks: Sequence[Chunk], written: Sequence[str], tokens: Sequence[Token], before: tuple[Query, ...]
) -> Understanding:
    """Read clause by clause; each may follow up the one before it."""
    queries: list[Query] = []
    blocking: list[str] = []
    ignored: list[str] = []
    follow_up = False
    context = before
    spans = segments(chunks, written)
    for start, end in spans:
        out = replaced(chunks[start:end], context[-1]) if context else set()
        chunks = [
            structs.replace(chunk, kind="filler", words=()) if at - start in out else chunk
            for at, chunk in enumerate(chunks)
        ]
        part, words = chunks[start:end], written[start:end]
        read, used = read_clause(part, words)
        edited = follow(part, words, context, read, used, within=bool(queries))
        if edited is not None:
            read, used, follow_up = edited.queries, followed(part, words, edited.used), True
        refusal = about_nothing(part, words, read[0], used) if read and edited is None else None
        if refusal is not None:
            return Understanding(refusal=refusal)
        if edited is not None and edited.narrows and queries:
            queries.pop()
        if read and start and _shares_measure(chunks[:start], part, queries, read[0]):
            named = any(chunk.kind in {"set", "category"} for chunk in chunks[:start])
            first = queries[-1] if named else structs.replace(read[0], operation=queries[-1].operation)
            queries[-1] = structs.replace(first, measures=read[0].measures)
        if read and start and _shares_set(chunks[:start], part, queries, read[0]):
            queries[-1] = structs.replace(queries[-1], subject=read[0].subject, where=read[0].where)
        queries.extend(read)
        context = tuple(read) or context
        alone = not read and len(spans) > 1
        blocks, others = unread(part, words, set() if alone else used, read)
        blocking += [as_written(tokens, chunk) for chunk in blocks]
        ignored += [as_written(tokens, chunk) for chunk in others]
    if blocking:
        read = [query for at, query in enumerate(queries) if query not in queries[:at]]
        return Understanding(queries=tuple(read), refusal=Refusal("unread", tuple(blocking)), ignored=tuple(ignored))
    if not queries:
        return Understanding(refusal=Refusal("out-of-scope" if ignored else "ambiguous", tuple(ignored)))
    queries = share_window(within_breadth(queries))
    once = [query for at, query in enumerate(queries) if query not in queries[:at]]
    if lost := [as_written(tokens, chunk) for chunk in dropped(chunks, written, once)]:
        return Understanding(queries=tuple(once), refusal=Refusal("unread", tuple(lost)), ignored=tuple(ignored))
    return Understanding(queries=tuple(once), ignored=tuple(ignored), follow_up=follow_up)
