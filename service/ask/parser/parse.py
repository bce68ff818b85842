"""Reads conversations: the last message as queries, with what earlier messages say, and every word accounted for."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk, Name, cut
from service.ask.parser.clause import read_clause
from service.ask.parser.followup import follow
from service.ask.parser.gate import gate, reason_of
from service.ask.parser.known import Known
from service.ask.parser.language import language_of
from service.ask.parser.lexicon import VOCABULARY
from service.ask.parser.mentions import find_mentions
from service.ask.parser.segments import segments
from service.ask.parser.spelling import KEYWORDS, MOST_MENDED, Speller
from service.ask.parser.strangers import find_strangers
from service.ask.parser.tokens import Token, tidy, tokenise
from service.ask.parser.words import is_plain
from service.ask.query import (
    Courtesy,
    Explain,
    Measure,
    Query,
    Reason,
    Refusal,
    Route,
    Subject,
    Understanding,
)

MOST_WORDS: Final = 400
MOST_TURNS: Final = 6
_ENGLISH: Final = "en"
_BLOCKING: Final = frozenset(
    {
        "number",
        "time",
        "compare",
        "neg",
        "super",
        "state",
        "direction",
        "measure",
        "sign",
        "except",
        "side",
        "holding",
        "topic",
        "frame",
        "coin",
        "asset",
        "category",
        "ordinal",
        "blocked",
    }
)
"""Pieces that change a question: one that is not read is a reason to refuse."""

_ASKING: Final = frozenset(
    {
        "any",
        "count",
        "share",
        "all",
        "none",
        "when",
        "since",
        "why",
        "mean",
        "median",
        "sum",
        "ratio",
        "record",
        "buy",
        "short",
        "rank",
    }
)
_COURTESIES: Final[Mapping[Courtesy, str]] = {
    "thanks": "thanks|thank you|thx|ty|cheers|thank you so much|thanks a lot|many thanks|great thanks|nice thanks|perfect thanks|appreciate it",
    "greeting": "hi|hello|hey|yo|gm|good morning|good evening|good afternoon|hi there|hello there|hey there|sup|whats up|how are you|hey how are you",
    "goodbye": "bye|goodbye|see you|good night|gn|cya",
    "help": "help|what can you do|what can i ask|what do you do|how do you work|who are you|what are you|how does this work|what questions can i ask"
    "|help me|what can i ask you|what are you good for|what do you know|how do i use this|what is verdict|what can you tell me",
}
_POLITE: Final = {phrase: courtesy for courtesy, phrases in _COURTESIES.items() for phrase in phrases.split("|")}
_DEFINING: Final = re.compile(
    r"\b(?:define|definition|explain|meaning|means?|signify|signifies|stand for|stands for|difference between|calculated"
    r"|computed|determined|derived|plain english|pays whom)\b"
)
_PLAIN_QUESTION: Final = re.compile(
    r"(?:what(?:s| is| are|s a| is a| is an)|whats the term|term) (?:a |an )?(.+?)(?: here| please| in crypto)?"
)
"""So: "what is funding?". With an article before it ("what is the funding") a figure is asked for."""

_JUDGING: Final = re.compile(r"\bis (?:that|it|this) (?:high|low|normal|a lot|much|good|bad|unusual)\b")
"""Nothing here says what is much."""

_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{40}\b")
_BULLET: Final = re.compile(
    r"(?:(?<=^)|(?<=[\s;]))(?:\(?\d{1,2}[.)]|[-*\u2022]|(?:[Tt]ask|[Ss]tep|[Qq]uestion|[Qq])\s?\d{1,2}\s?[:.)]|(?:[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)(?:ly)?(?:[:,]|(?=\s(?:the|its|a|an|what|which)\s)))\s+(?=[A-Za-z$\"'`{])"
)


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
        self._names = names
        self._speller = Speller(
            {**{word: word for word in (KEYWORDS | VOCABULARY) if len(word) > 3}, **names.known.meanings()}
        )

    def read(self, messages: Sequence[str], now_ms: int) -> Understanding:
        """Read a conversation.

        Args:
            messages: What the user said, oldest first; the last is the question.
            now_ms: Epoch milliseconds.
        """
        before: tuple[Query, ...] = ()
        for text in messages[:-1][-MOST_TURNS:]:
            earlier = self._message(text, before, now_ms)
            before = earlier.queries or before
        return self._message(messages[-1], before, now_ms)

    def _message(self, text: str, before: tuple[Query, ...], now_ms: int) -> Understanding:
        tidied = tidy(_BULLET.sub(" ; ", text))
        tokens = tokenise(tidied)[:MOST_WORDS]
        courtesy = _POLITE.get(
            " ".join(token.word for token in tokens if token.word not in {"please", "verdict"} or len(tokens) < 3)
        )
        if courtesy is not None:
            return Understanding(courtesy=courtesy)
        names, mended, language = self._recognise(tokens, tidied)
        if language != _ENGLISH:
            return Understanding(refusal=Refusal("language"), language=language)
        unknown = [name for name in names if name.kind == "unknown"]
        chunks = [
            structs.replace(chunk, kind="filler", words=())
            if mended[chunk.start] == "return" and (chunk.start == 0 or chunk.gap)
            else chunk
            for chunk in cut(tokens, mended, names, now_ms)
        ]
        written = [" ".join(mended[chunk.start : chunk.end]) for chunk in chunks]
        if _JUDGING.search(" ".join(written)):
            return Understanding(refusal=Refusal("unread", (text.strip()[:80],)))
        row = gate(chunks, written)
        reason = reason_of(row) if row is not None else None
        if row is not None and reason:
            return Understanding(refusal=Refusal(reason))
        terms = self._terms(chunks, written)
        if terms:
            service = Subject(scope="service")
            return Understanding(queries=tuple(Query(operation=Explain(term), subject=service) for term in terms))
        named = any(chunk.kind in {"coin", "asset", "category"} for chunk in chunks)
        if row is not None and not named and not unknown and row.intent in {"account", "pricing"}:
            return Understanding(queries=(Query(operation=Route(row.intent), subject=Subject(scope="service")),))
        if row is not None and not named and not unknown and row.intent in {"help", "smalltalk"} and not before:
            return Understanding(courtesy="help" if row.intent == "help" else "thanks")
        if unknown and not named:
            return Understanding(refusal=self._unknown(unknown[0], tokens))
        missing = tuple(" ".join(token.text for token in tokens[name.start : name.end]) for name in unknown)
        chunks = [structs.replace(chunk, kind="filler") if chunk.kind == "unknown" else chunk for chunk in chunks]
        refused = _refused(chunks, tokens)
        if refused is not None:
            return Understanding(refusal=refused)
        understood = self._clauses(chunks, written, tokens, before)
        return structs.replace(understood, unknown=missing)

    def _clauses(
        self, chunks: Sequence[Chunk], written: Sequence[str], tokens: Sequence[Token], before: tuple[Query, ...]
    ) -> Understanding:
        queries: list[Query] = []
        unread: list[str] = []
        ignored: list[str] = []
        follow_up = False
        context = before
        for start, end in segments(chunks, written):
            part, words = chunks[start:end], written[start:end]
            read, used = read_clause(part, words)
            edited = follow(part, words, context, read, used)
            if edited is not None:
                read, used, follow_up = edited.queries, edited.used, True
            loose = _loose(part, words, read, used, follow_up=edited is not None)
            if loose is not None:
                return Understanding(refusal=loose)
            queries.extend(read)
            context = tuple(read) or context
            for at, chunk in enumerate(part):
                if at not in used and _blocks(chunk):
                    unread.append(_as_written(tokens, chunk))
                elif at not in used and chunk.kind == "word":
                    ignored.append(_as_written(tokens, chunk))
        if unread:
            return Understanding(refusal=Refusal("unread", tuple(unread), instead=None), ignored=tuple(ignored))
        if not queries:
            reason: Reason = "ambiguous" if not ignored else "out-of-scope"
            return Understanding(refusal=Refusal(reason, tuple(ignored)))
        return Understanding(
            queries=tuple(dict.fromkeys(queries)) if _hashable(queries) else tuple(queries),
            ignored=tuple(ignored),
            follow_up=follow_up,
        )

    # Names

    def _recognise(self, tokens: Sequence[Token], text: str) -> tuple[list[Name], list[str], str]:
        names, mended = self._mend(tokens)
        special = self._special(tokens)
        taken = {at for name in special for at in range(name.start, name.end)}
        found = [
            mention
            for mention in find_mentions(self._names.known, tokens, names)
            if not taken & set(range(mention.start, mention.end))
            and not (
                mention.thing.keys == ("BTC",) and mended[mention.end : mention.end + 1] in (["correlation"], ["corr"])
            )
        ]
        covered = taken | {at for mention in found for at in range(mention.start, mention.end)}
        language = language_of(tokens, covered, mended, text)
        strangers = find_strangers(self._names.known, tokens, mended, found) if language == _ENGLISH else []
        listed = list(special)
        for mention in (*found, *strangers):
            if taken & set(range(mention.start, mention.end)):
                continue
            thing = mention.thing
            word = " ".join(mended[mention.start : mention.end])
            if thing.kind == "UNKNOWN" and thing.keys:
                listed.append(Name("coin", thing.keys[:1], mention.start, mention.end))
            elif thing.kind == "UNKNOWN":
                if word in VOCABULARY or all(part in VOCABULARY for part in word.split()):
                    continue
                listed.append(Name("unknown", word, mention.start, mention.end))
            elif (
                thing.kind == "COIN"
                and mention.end - mention.start == 1
                and len(tokens[mention.start].text) == 1
                and tokens[mention.start].text.islower()
                and not tokens[mention.start].sigil
            ):
                continue
            elif len(thing.keys) > 1 and not thing.both:
                listed.append(Name(thing.kind.lower(), thing.keys[:1], mention.start, mention.end))
            else:
                listed.append(Name(thing.kind.lower(), thing.keys, mention.start, mention.end))
        return sorted(listed, key=lambda name: name.start), mended, language

    def _mend(self, tokens: Sequence[Token]) -> tuple[list[str], list[str]]:
        names, mended, left = [token.name for token in tokens], [token.word for token in tokens], MOST_MENDED
        for at, token in enumerate(tokens):
            if (
                not left
                or token.sigil
                or token.is_number
                or token.name in self._names.known.parts
                or token.word in VOCABULARY
            ):
                continue
            if (token.text.isupper() and len(token.text) <= 5) or is_plain(token.name) or is_plain(token.word):
                continue
            left -= 1
            better = self._speller.mend(token.name)
            if better is not None:
                names[at] = mended[at] = better
        return names, mended

    def _special(self, tokens: Sequence[Token]) -> list[Name]:
        """Watched wallets by label or address, and shows by name."""
        words = [token.word for token in tokens]
        found: list[Name] = []
        for kind, table in (("wallet", self._names.wallets), ("show", self._names.shows)):
            for name, key in table.items():
                parts = name.split()
                for at in range(len(words) - len(parts) + 1):
                    if words[at : at + len(parts)] == parts:
                        found.append(Name(kind, (key,), at, at + len(parts)))
        for at, token in enumerate(tokens):
            if _ADDRESS.fullmatch(token.text):
                found.append(Name("wallet", (token.text,), at, at + 1))
        return found

    def _unknown(self, name: Name, tokens: Sequence[Token]) -> Refusal:
        written = " ".join(token.text for token in tokens[name.start : name.end])
        candidates = tuple(self._names.known.directory.candidates(written)[:3]) if " " not in written else ()
        return Refusal("unknown-symbol", (written,), candidates)

    def _terms(self, chunks: Sequence[Chunk], written: Sequence[str]) -> list[str]:
        """The terms a message asks to define, one or two; none where it asks for data."""
        if any(chunk.kind in {"coin", "asset", "category", "time", "set", "wallet", "show"} for chunk in chunks):
            return []
        text = " ".join(written)
        plain = _PLAIN_QUESTION.fullmatch(text)
        if plain is not None:
            key = self._names.terms.get(plain[1]) or self._names.terms.get(plain[1].removesuffix("s"))
            if key is not None:
                return [key]
        if _DEFINING.search(text) is None or "why" in text.split():
            return []
        words, found, at = text.split(), list[str](), 0
        while at < len(words):
            size = next((size for size in range(4, 0, -1) if " ".join(words[at : at + size]) in self._names.terms), 0)
            if size and words[at : at + size] not in (["mean"], ["means"]):
                found.append(self._names.terms[" ".join(words[at : at + size])])
            at += size or 1
        return list(dict.fromkeys(found))[: 2 if "difference" in words else 1]


_PRONOUN: Final = re.compile(r"\b(it|its|that token|that coin|this coin|this one|that one|this token)\b")


def _loose(
    part: Sequence[Chunk], words: Sequence[str], read: Sequence[Query], used: set[int], *, follow_up: bool
) -> Refusal | None:
    """Why a clause that names nothing is about nothing here: a pronoun without what it stands for, another subject."""
    if (
        not read
        or follow_up
        or any(chunk.kind in {"set", "category", "topic", "asset", "wallet", "show"} for chunk in part)
    ):
        return None
    query = read[0]
    text = " ".join(words)
    if isinstance(query.operation, Route) and query.operation.topic == "wallets" and not query.subject.wallets:
        owner = next(
            (at for at, chunk in enumerate(part[:-1]) if chunk.kind == "word" and part[at + 1].has("topic")), None
        )
        if owner is not None:
            return Refusal("not-available", (words[owner],))
    names = sum(chunk.kind == "coin" for chunk in part)
    if names == 1 and _PRONOUN.search(text) and any(word.value == "compare" for chunk in part for word in chunk.words):
        return Refusal("ambiguous")
    if names or query.subject.scope not in {"all", "market"}:
        return None
    if any(chunk.kind == "measure" or ((value := chunk.as_("super")) is not None and value.measure) for chunk in part):
        return None
    unread = tuple(
        text
        for at, (chunk, text) in enumerate(zip(part, words, strict=True))
        if chunk.kind == "word" and at not in used
    )
    if _PRONOUN.search(text) and "is it" not in text[:6]:
        return Refusal("ambiguous")
    if _PRONOUN.search(text) and query.subject.scope == "all":
        return Refusal("ambiguous")
    return Refusal("out-of-scope", unread) if unread else None


def _blocks(chunk: Chunk) -> bool:
    """Whether a piece that was not read changes the question."""
    if chunk.kind == "ask":
        return chunk.value in _ASKING and chunk.value not in {"any", "all"}
    return chunk.kind in _BLOCKING and not any(word.kind in {"filler", "ask"} for word in chunk.words[1:])


def _refused(chunks: Sequence[Chunk], tokens: Sequence[Token]) -> Refusal | None:
    for at, chunk in enumerate(chunks):
        if any(other.value == "walkforward" for other in chunks):
            break
        if chunk.kind == "unsupported" and not (
            at
            and chunks[at - 1].kind == "filler"
            and chunks[at - 1].end - chunks[at - 1].start == 1
            and tokens[chunk.start - 1].word in {"you", "u", "do"}
        ):
            return Refusal("not-available", (_as_written(tokens, chunk),))
    return None


def _as_written(tokens: Sequence[Token], chunk: Chunk) -> str:
    return " ".join(token.sigil + token.text for token in tokens[chunk.start : chunk.end])


def _hashable(queries: Sequence[Query]) -> bool:
    try:
        hash(tuple(queries))
    except TypeError:
        return False
    return True


DEFAULT: Final = Measure("price")
