"""Reads conversations: the last message as queries, with what earlier messages say, and every word accounted for."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct, structs

from service.ask import query as q
from service.ask.describe import describe
from service.ask.parser.accounting import (
    about_nothing,
    as_written,
    both_of_one,
    dropped,
    followed,
    guessed,
    in_lots,
    not_available,
    unread,
    without_headings,
)
from service.ask.parser.answer_format import how_to_answer, without_templates
from service.ask.parser.chunks import Chunk, cut, names_measure, segments
from service.ask.parser.clause import read_clause
from service.ask.parser.edits import replaced
from service.ask.parser.followup import follow
from service.ask.parser.gate import defined_terms, gate, reason_of
from service.ask.parser.language import ENGLISH
from service.ask.parser.lexicon import COURTESIES
from service.ask.parser.names import NameIndex
from service.ask.parser.qualifiers import qualified, unread_qualifiers
from service.ask.parser.recognise import Recogniser
from service.ask.parser.tokens import Token, tidy, tokenise
from service.ask.parser.windows import share_window, within_breadth
from service.ask.parser.zones import UnclearTime
from service.ask.understanding import Courtesy, Refusal, Understanding

MOST_WORDS: Final = 400
MOST_TURNS: Final = 6
_SERVICE: Final = q.Subject(scope="service")
_SHORT: Final = 2
_EXCERPT: Final = 80
_UNREADABLE: Final = re.compile(
    r"\bis (?:that|it|this) (?:high|low|normal|a lot|much|good|bad|unusual)\b"
    r"|\b(?:wallets?|transfers?|whales?)\b.*\busd[ct]\b|\busd[ct]\b.*\b(?:wallets?|transfers?|whales?)\b"
    r"|\bpays (?:the )?most to be (?:long|short)\b"
    r"|\b(?:two|2) (?:\w+ ){0,4}correlat\w+(?!.* (?:to|with) (?!each|one))"
    r"|\bpairs? .*(?:correlat|\bmov)|\bcorrelated pairs?\b"
    r"|\b(?:which|what) (?:\w+ ){1,4}correlated (?:to|with) (?:each other|one another)\b"
    r"|\b(?:each|every) (?:of )?(?:the |these |those )?(?:last|past|previous|one of the)\b"
    r"|\b(?:plus|and) whichever\b"
    r"|\b(?:(?:in|for|of) (?:each|every)|per) category\b"
    r"|\b(?:weekly|monthly) (?:return|change|gain|loss|performance)s?\b.* (?:in|during|last|yesterday|since)\b"
)
"""Nothing here says what is much; of wallets only coins are told apart, to which USDC does not belong; who pays whom
must be said; "plus whichever …" is of all coins, not of those named before; coins are ranked by their correlation with
one coin, never in pairs; and a span has one return, not one for each of its weeks."""

_SAME_SPAN: Final = re.compile(
    r"\b(?:daily (?=.*\byesterday\b)|weekly (?=.*\blast week\b)"
    r"|monthly (?=.*\b(?:last month|in (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b))"
    r"(?=(?:return|change|gain|loss|performance)\b)",
    re.IGNORECASE,
)
"""A length that the named span has anyway: "the monthly return in October"."""

_DAY_BEGINS: Final = re.compile(r"(?<=day) (?:at )?00:00(?::00)?(?: ?UTC)?\b")
"""A day begins at midnight UTC: behind a day this says nothing more."""

_AS_PERCENT: Final = re.compile(r"(?<=\bas )(?:a )?%(?= of\b)")
_TAG: Final = re.compile(r"</?(?!script)[A-Za-z_]+>")
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

    known: NameIndex
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
        self._lots = names.known.lots
        self._recogniser = Recogniser(names.known, names.wallets, names.shows)

    def read(self, messages: Sequence[str], now_ms: int) -> Understanding:
        """Read a conversation.

        Args:
            messages: What the user said, oldest first; the last is the question.
            now_ms: Epoch milliseconds.
        """
        before: tuple[q.Query, ...] = ()
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

    def _message(self, text: str, before: tuple[q.Query, ...], now_ms: int) -> Understanding:
        tidied = tidy(
            _without_bullets(
                _TAG.sub(
                    " , ",
                    without_templates(_DAY_BEGINS.sub("", _SAME_SPAN.sub("", _AS_PERCENT.sub("a percentage", text)))),
                )
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
        chunks = qualified(how_to_answer(chunks, written), written)
        if _UNREADABLE.search(" ".join(written)):
            return Understanding(refusal=Refusal("unread", (text.strip()[:_EXCERPT],)))
        at_once = self._at_once(chunks, written, tokens, follows=bool(before))
        if at_once is not None:
            return at_once
        unknown_chunks = [chunk for chunk in chunks if chunk.kind == "unknown"]
        unknown = tuple(as_written(tokens, chunk) for chunk in unknown_chunks)
        named = chunks
        chunks = [structs.replace(chunk, kind="filler") if chunk.kind == "unknown" else chunk for chunk in chunks]
        understood = _clauses(chunks, written, tokens, before)
        left = unread_qualifiers(named, written, understood.queries)
        left = [at for at in left if understood.refusal is None or named[at].kind == "unknown"]
        unread_words = tuple(as_written(tokens, chunks[at]) for at in left)
        refusal = in_lots(self._lots, chunks, tokens, understood.queries)
        compares = any(chunk.as_("ask") == "compare" for chunk in chunks)
        if unknown and not unread_words and (compares or understood.refusal is not None):
            refusal = Refusal("unknown-symbol", unknown[:1], unknown_chunks[0].value)
        if refusal is not None:
            return Understanding(refusal=refusal)
        if unread_words:
            of_others = any(named[at].kind in {"coin", "asset"} for at in left)  # they are no subjects
            queries = () if of_others else understood.queries
            understood = structs.replace(understood, refusal=Refusal("unread", unread_words), queries=queries)
        queries = understood.queries
        queries = tuple(query for at, query in enumerate(queries) if not (at and _is_told(queries[at - 1], query)))
        if _loses_size(queries):
            understood = structs.replace(understood, refusal=Refusal("unread", (text.strip()[:_EXCERPT],)))
        if any(isinstance(one.operation, q.Rank) and _is_why_of_all(then) for one, then in pairwise(queries)):
            understood = structs.replace(
                understood,
                refusal=Refusal("unread", ("why" if isinstance(queries[-1].operation, q.Why) else "since when",)),
            )
        return structs.replace(understood, queries=queries, unknown=unknown)

    def _at_once(
        self, chunks: Sequence[Chunk], written: Sequence[str], tokens: Sequence[Token], *, follows: bool
    ) -> Understanding | None:
        """What a message as a whole is: no query, a definition, about the service, or about an unknown name."""
        match = gate(chunks, written)
        row = match.rule if match is not None else None
        reason = reason_of(row) if row is not None else None
        if reason and match is not None:
            asked = structs.replace(chunks[match.first], end=chunks[match.last].end)
            named_words = (as_written(tokens, asked),) if reason == "not-available" else ()
            return Understanding(refusal=Refusal(reason, named_words))
        if terms := defined_terms(self._terms, chunks, written):
            return Understanding(queries=tuple(q.Query(operation=q.Explain(term), subject=_SERVICE) for term in terms))
        named = any(chunk.kind in {"coin", "asset", "category"} for chunk in chunks)
        unknown = next((chunk for chunk in chunks if chunk.kind == "unknown"), None)
        if row is not None and not named and unknown is None:
            if row.intent in {"account", "pricing"}:
                return Understanding(queries=(q.Query(operation=q.Route(row.intent), subject=_SERVICE),))
            if row.intent in {"help", "smalltalk"} and not follows:
                return Understanding(courtesy="help" if row.intent == "help" else "thanks")
        refusal = _unclear(chunks) or not_available(chunks, tokens)
        if unknown is not None and not named:
            refusal = Refusal("unknown-symbol", (as_written(tokens, unknown),), tuple(unknown.value))
        return None if refusal is None else Understanding(refusal=refusal)


def _unclear(chunks: Sequence[Chunk]) -> Refusal | None:
    """Why a time is not read whose zone or clock is unclear."""
    times = (chunk.value for chunk in chunks if isinstance(chunk.value, UnclearTime))
    return next((Refusal("unread", (time.words,), time.readings) for time in times), None)


def _is_why_of_all(query: q.Query) -> bool:
    """Whether a "why" or "since when" names nobody: behind a ranking it asks about the first, who is not known yet."""
    return isinstance(query.operation, q.Why | q.When) and query.subject.scope in {"all", "category", "assets"}


def _is_told(ranked: q.Query, query: q.Query) -> bool:
    """Whether a ranking by the age of a trend tells since when, which a query behind it asks."""
    streak = isinstance(ranked.operation, q.Rank) and ranked.measures[0].name == "streak"
    return streak and isinstance(query.operation, q.When) and query.where == ranked.where


def _loses_size(queries: Sequence[q.Query]) -> bool:
    """Whether the size of a position is named in one query and missing in another: "short $5,000 … cost a week"."""
    carried = [one for query in queries for one in query.measures if one.name == "carry" or one.mean]
    return any(one.notional for one in carried) and not all(one.notional for one in carried)


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


def _shares_measure(before: Sequence[Chunk], part: Sequence[Chunk], queries: Sequence[q.Query], query: q.Query) -> bool:
    """Whether a ranking says by what the one before it ranks: "top 5 memes and top 5 L1s by volume"."""
    ranked = bool(queries) and isinstance(queries[-1].operation, q.Rank) and isinstance(query.operation, q.Rank)
    named = any(chunk.has("measure") for chunk in part)  # not "which is the largest and which fell the most"
    own = any(one.has("super") and other.has("measure") for one, other in pairwise(part))
    apart = own and any(chunk.kind == "category" for chunk in before)  # "best L1 and highest funding"
    return ranked and not part[0].gap.strip(" ,") and named and not apart and not names_measure(before)


def _shares_set(before: Sequence[Chunk], part: Sequence[Chunk], queries: Sequence[q.Query], query: q.Query) -> bool:
    """Whether a ranking says which coins the one before it ranks: "top 3 gainers and top 3 losers among L1s"."""
    ranked = bool(queries) and isinstance(queries[-1].operation, q.Rank) and isinstance(query.operation, q.Rank)
    named = any(chunk.kind in {"set", "category", "coin"} for chunk in before)
    moves = all(any((one := chunk.as_("super")) and one.measure for chunk in side) for side in (before, part))
    return ranked and not part[0].gap.strip(" ,") and not named and (moves or not names_measure(before))


def _leaves_heading(chunks: Sequence[Chunk], part: Sequence[Chunk], read: Sequence[q.Query]) -> bool:
    """Whether a clause below a heading that names a coin, such as "BTC: …", is read as one about all coins."""
    heads = len(chunks) > 1 and chunks[0].kind in {"coin", "asset"} and ":" in chunks[1].gap
    named = any(chunk.kind in {"set", "category"} for chunk in part)
    return heads and not named and any(query.subject.scope == "all" for query in read)


def _clauses(
    chunks: Sequence[Chunk], written: Sequence[str], tokens: Sequence[Token], before: tuple[q.Query, ...]
) -> Understanding:
    """Read clause by clause; each may follow up the one before it."""
    queries: list[q.Query] = []
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
        read = [] if start and _leaves_heading(chunks, part, read) else read
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
        blocking += both_of_one(part, words) if start else []
        ignored += [as_written(tokens, chunk) for chunk in others]
    if blocking:
        read = [query for at, query in enumerate(queries) if query not in queries[:at]]
        return Understanding(queries=tuple(read), refusal=Refusal("unread", tuple(blocking)), ignored=tuple(ignored))
    if not queries:
        return Understanding(refusal=Refusal("out-of-scope" if ignored else "ambiguous", tuple(ignored)))
    queries = share_window(within_breadth(queries))
    once = without_headings([query for at, query in enumerate(queries) if query not in queries[:at]])
    lost = [as_written(tokens, chunk) for chunk in dropped(chunks, written, once)]
    if lost := lost or guessed(chunks, written, once, ignored):
        return Understanding(queries=tuple(once), refusal=Refusal("unread", tuple(lost)), ignored=tuple(ignored))
    return Understanding(queries=tuple(once), ignored=tuple(ignored), follow_up=follow_up)
