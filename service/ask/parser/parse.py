"""Reads conversations: the last message as queries, with what earlier messages say, and every word accounted for."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk, Name, cut
from service.ask.parser.clause import read_clause
from service.ask.parser.gate import gate, reason_of
from service.ask.parser.known import Known
from service.ask.parser.language import language_of
from service.ask.parser.lexicon import VOCABULARY
from service.ask.parser.mentions import find_mentions
from service.ask.parser.spelling import KEYWORDS, MOST_MENDED, Speller
from service.ask.parser.strangers import find_strangers
from service.ask.parser.tokens import Token, tidy, tokenise
from service.ask.parser.words import is_plain
from service.ask.query import (
    Explain,
    Measure,
    Query,
    Rank,
    Refusal,
    Route,
    Subject,
    Test,
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
_COURTESIES: Final[Mapping[str, str]] = {
    "thanks": "thanks|thank you|thx|ty|cheers|thank you so much|thanks a lot|many thanks|great thanks|nice thanks|perfect thanks|appreciate it",
    "greeting": "hi|hello|hey|yo|gm|good morning|good evening|good afternoon|hi there|hello there|hey there|sup|whats up|how are you|hey how are you",
    "goodbye": "bye|goodbye|see you|good night|gn|cya",
    "help": "help|what can you do|what can i ask|what do you do|how do you work|who are you|what are you|how does this work|what questions can i ask"
    "|help me|what can i ask you|what are you good for|what do you know|how do i use this|what is verdict|what can you tell me",
}
_POLITE: Final = {phrase: courtesy for courtesy, phrases in _COURTESIES.items() for phrase in phrases.split("|")}
_JUDGING: Final = re.compile(r"\bis (?:that|it|this) (?:high|low|normal|a lot|much|good|bad|unusual)\b")
"""Nothing here says what is much."""

_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{40}\b")
_BULLET: Final = re.compile(
    r"(?:(?<=^)|(?<=[\s;]))(?:\(?\d{1,2}[.)]|[-*\u2022]|(?:[Tt]ask|[Ss]tep|[Qq]uestion|[Qq])\s?\d{1,2}\s?[:.)])\s+(?=[A-Za-z$\"'`{])"
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
        reason = reason_of(row) if row is not None else ""
        if row is not None and reason:
            return Understanding(refusal=Refusal(reason))
        term = self._term(chunks, written)
        if term is not None:
            return Understanding(queries=(Query(operation=Explain(term), subject=Subject(scope="service")),))
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
            reason = "ambiguous" if not ignored else "out-of-scope"
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

    def _term(self, chunks: Sequence[Chunk], written: Sequence[str]) -> str | None:
        """The term a message asks to define; null where it asks for data."""
        if any(
            chunk.kind in {"coin", "asset", "category", "time", "number", "set", "wallet", "show"} for chunk in chunks
        ):
            return None
        text = " ".join(written)
        made = re.fullmatch(
            r"how (?:is|are|do you|does|was) (?:the |your |a )?(.+?) (?:calculated|computed|made|derived|determined|work|works|calculate|compute|built|measured|measure|defined)",
            text,
        )
        if made is not None and (key := self._names.terms.get(made[1]) or self._names.terms.get(made[1].split()[0])):
            return key
        asked = re.match(
            r"(?:(?:can|could) you |please |pls |hey |so |ok |and )*(?:what(?:s| is| are| does| do)(?: the| a| an)?|define|explain|meaning of|definition of"
            r"|what do you mean by|whats the meaning of|what is the meaning of|how do you define|tell me what|explain to me)(?: the| a| an| term)? (.+?)"
            r"(?: mean| means| meaning| stand for| as a trend| as a verdict| as a regime| like im| like i am| five| to a beginner| for a beginner| for beginners| for dummies| in plain english| in this service| in simple terms| here| exactly| in crypto| please| is| to me| work)*$",
            text,
        )
        if asked is None:
            return None
        term = asked[1].strip()
        key = self._names.terms.get(term) or self._names.terms.get(term.removesuffix("s"))
        defining = any(word in text for word in ("define", "explain", "mean", "definition"))
        if key is not None and (defining or not text.startswith(("what is the", "whats the"))):
            return key
        return None


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


class _Edited(Struct):
    queries: list[Query]
    used: set[int]


def follow(
    part: Sequence[Chunk], words: Sequence[str], before: tuple[Query, ...], read: list[Query], used: set[int]
) -> _Edited | None:
    """A follow-up: the slots of the last query with those that this clause names.

    Args:
        part: The clause.
        words: Its words.
        before: The queries before it.
        read: What it was read as by itself.
        used: The pieces that reading took.

    Returns:
        Null where it stands by itself.
    """
    if not before or not part:
        return None
    last = before[-1]
    text = " ".join(words)
    leading = re.match(
        r"(?:and|what about|how about|ok and|now|only|just|same|instead|also|but|or|then|ok|over|by|in|for|since|why|with|without|excluding|except|those|of those|which of|vs|versus|compared)\b",
        text,
    )
    refers = re.search(r"\b(ones|only|it|its|them|they|their|those|these|that one|that|the same|same|both|one)\b", text)
    if read:
        query = read[0]
        bare = isinstance(query.operation, Rank) and not any(
            chunk.as_("measure") is not None or ((v := chunk.as_("super")) is not None and v.measure) for chunk in part
        )
        if bare and last.measures and query.subject.scope == "all" and not any(chunk.kind == "set" for chunk in part):
            direction = (
                query.operation.direction
                if not isinstance(last.operation, Rank) or last.operation.limit == 1
                else last.operation.direction
            )
            return _Edited([structs.replace(last, operation=Rank(direction, query.operation.limit))], used)
        complete = bool(
            query.subject.coins or query.subject.assets or query.subject.categories
        ) or query.subject.scope in {"market", "service", "wallets", "shows"}
        overview = query.operation.__class__.__name__ == "Value" and not query.measures
        if complete and not (overview and (leading or len(words) <= 4)):
            return None
        if overview and complete:
            subject = query.subject
            if subject.scope == "coins" and last.subject.scope in {"coins", "assets", "market"}:
                kept = structs.replace(last, subject=structs.replace(subject))
                return _Edited([kept], used)
            if subject.scope == "category":
                base = last.subject if last.subject.scope in {"all", "category"} else subject
                kept = structs.replace(
                    last, subject=structs.replace(base, scope="category", categories=subject.categories)
                )
                return _Edited([kept], used)
            return None
        if query.subject.scope == "all" and not (refers or leading):
            return None
        repeated = (
            last.operation.__class__.__name__ in {"Profit", "ValueOf"} or getattr(last.operation, "limit", None) == 1
        )
        if query.subject.scope == "all" and last.operation.__class__.__name__ == "Profit":
            return _Edited([last], used)
        if query.subject.scope == "all" and repeated and refers and not any(chunk.kind == "set" for chunk in part):
            extra = tuple(measure for measure in query.measures if measure not in last.measures)
            return _Edited([structs.replace(last, measures=(*last.measures, *extra))], used)
        same = (
            isinstance(query.where, Test)
            and isinstance(last.where, Test)
            and query.where.measure.name == last.where.measure.name
        )
        if query.subject.scope == "all" and same and leading:
            return _Edited([structs.replace(last, where=query.where)], used)
        if query.subject.scope == "all" and refers and last.subject.scope != "coins" and query.where is not None:
            where = query.where if last.where is None else _both(last.where, query.where)
            return _Edited([structs.replace(query, subject=last.subject, where=where)], used)
        if query.subject.scope == "all" and leading and not any(chunk.kind == "set" for chunk in part):
            merged = structs.replace(
                last,
                measures=_kept_span(query.measures, last.measures) or last.measures,
                where=query.where
                if query.where is not None and last.where is None
                else last.where
                if query.where is None
                else _both(last.where, query.where)
                if last.where is not None
                else query.where,
                operation=query.operation
                if query.operation.__class__.__name__ in {"Count", "Rank", "Share"}
                else last.operation,
                time=query.time if query.time.__class__.__name__ != "Now" else last.time,
            )
            return _Edited([merged], used)
        if query.subject.scope == "all" and refers and last.subject.coins:
            return _Edited([structs.replace(query, subject=last.subject)], used)
        return None
    return _edit(part, words, last)


def _edit(part: Sequence[Chunk], words: Sequence[str], last: Query) -> _Edited | None:
    """Slots without a subject: a measure, a time, a size, "why", "since when", "only those …"."""
    limits = [chunk for chunk in part if chunk.kind == "number"]
    if (
        isinstance(last.operation, Rank)
        and len(limits) == 1
        and all(chunk.kind in {"number", "filler", "ask", "and"} for chunk in part)
    ):
        limit = int(limits[0].value.value)
        return _Edited(
            [structs.replace(last, operation=structs.replace(last.operation, limit=limit))], set(range(len(part)))
        )
    stand_in = Chunk("coin", last.subject.coins or ("BTC",), part[-1].end, part[-1].end + 1, gap=",")
    read, used = read_clause([*part, stand_in], [*words, "it"])
    used.discard(len(part))
    if not read:
        return None
    query = read[0]
    frame = next((chunk.value for chunk in part if chunk.kind == "frame" and chunk.value in {"daily", "weekly"}), None)
    if frame is not None and not query.measures and query.where is None:
        measures = tuple(structs.replace(m, frame=frame) if m.name == "trend" else m for m in last.measures)
        where = last.where
        if isinstance(where, Test) and where.measure.name == "trend":
            where = structs.replace(where, measure=structs.replace(where.measure, frame=frame))
        if measures != last.measures or where != last.where:
            used |= {at for at, chunk in enumerate(part) if chunk.kind == "frame"}
            return _Edited([structs.replace(last, measures=measures, where=where)], used)
    subject = last.subject
    operation = query.operation
    name = operation.__class__.__name__
    if name == "Value" and not query.measures and query.where is None:
        if query.time.__class__.__name__ == "Now":
            return None
        measures = tuple(
            structs.replace(measure, over=query.time)
            if measure.over is not None
            or measure.name in {"change", "high", "low", "volatility", "drawdown", "correlation", "strength"}
            else measure
            for measure in last.measures
        )
        if any(measure.over is not None for measure in measures):
            return _Edited([structs.replace(last, measures=measures)], used)
        return _Edited([structs.replace(last, time=query.time)], used)
    if name == "Value" and query.measures and not last.operation.__class__.__name__ == "Value":
        if last.operation.__class__.__name__ in {"Rank", "Compare", "Extreme"}:
            return _Edited([structs.replace(last, measures=query.measures)], used)
    measures = query.measures or last.measures
    if name == "Check" and subject.scope in {"all", "category"}:
        where = query.where if last.where is None else _both(last.where, query.where)
        return _Edited([structs.replace(last, where=where)], used)
    time = query.time if query.time.__class__.__name__ != "Now" else last.time
    return _Edited([structs.replace(query, subject=subject, measures=measures, time=time)], used)


def _kept_span(measures: tuple[Measure, ...], before: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Measures with the window that the same measure had before."""
    spans = {measure.name: measure.over for measure in before}
    return tuple(structs.replace(m, over=spans.get(m.name)) if m.over is None else m for m in measures)


def _both(one: object, other: object) -> "object":
    from service.ask.query import All

    return All((one, other))


def segments(chunks: Sequence[Chunk], written: Sequence[str]) -> list[tuple[int, int]]:
    """Clauses: cut at marks that end a sentence, and before a second request after "and" or a comma."""
    cuts = [0]
    for at in range(1, len(chunks)):
        gap = chunks[at].gap
        if any(mark in gap for mark in "?!;") or ("." in gap and chunks[at - 1].kind != "number"):
            cuts.append(at)
        elif chunks[at].kind == "and" or "," in gap:
            begin = at + 1 if chunks[at].kind == "and" else at
            first = written[cuts[-1]].split()[0] if written[cuts[-1]] else ""
            if (
                first not in _INTRODUCING
                and _opens_request(chunks, written, begin)
                and _has_request(chunks[cuts[-1] : at])
            ):
                cuts.append(begin)
    cuts.append(len(chunks))
    spans = [(start, end) for start, end in zip(cuts, cuts[1:], strict=False) if start < end]
    return [
        span for span in spans if any(chunk.kind not in {"filler", "and"} for chunk in chunks[span[0] : span[1]])
    ] or spans


_INTRODUCING: Final = frozenset(
    "among amongst of for out within besides except excluding if given considering with in from".split()
)
"""A clause that begins so belongs to the next."""

_OPENERS: Final = re.compile(
    r"(what|whats|how|hows|which|who|when|why|list|show|give|tell|compare|is|are|does|did|has|rank|find|name|count|whether|if)\b"
)


def _opens_request(chunks: Sequence[Chunk], written: Sequence[str], at: int) -> bool:
    while at < len(chunks) and written[at] in {"also", "then", "please", "finally", "and"}:
        at += 1
    if at >= len(chunks):
        return False
    if _OPENERS.match(written[at]) is not None:
        return True
    if written[at] == "the" and at + 1 < len(chunks):
        at += 1
    # A superlative with its own subject or number: "…, the top 3 gainers today".
    value = chunks[at].as_("super")
    rest = [chunk.kind for chunk in chunks[at + 1 : at + 4]]
    more = any(kind in {"super", "set", "category", "measure"} for kind in rest)
    return value is not None and more and (value.plural or chunks[at + 1].kind == "number")


def _has_request(chunks: Sequence[Chunk]) -> bool:
    """Whether chunks ask for something, and do not only name things."""
    names = {"filler", "and", "or", "word", "coin", "asset", "category", "time", "ask", "frame", "neg", "set"}
    return any(chunk.kind not in names for chunk in chunks)


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
