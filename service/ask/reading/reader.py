"""Reading: a text in, what it names and how it is built out. Pure but for the present, which dates are counted from."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.ask.reading.amounts import find_limit, find_sum
from service.ask.reading.exclusions import find_excluded
from service.ask.reading.known import Known
from service.ask.reading.language import FOREIGN, language_of
from service.ask.reading.mentions import Mention, find_mentions
from service.ask.reading.parts import find_part
from service.ask.reading.periods import Span, find_spans
from service.ask.reading.spelling import KEYWORDS, MOST_MENDED, Speller
from service.ask.reading.strangers import find_strangers
from service.ask.reading.tokens import Token, tidy, tokenise
from service.ask.reading.traits import find_traits
from service.ask.reading.words import bag, is_plain
from service.clock import Clock
from service.market.symbols import MOST_CANDIDATES
from service.wire.ask import Entities, Period

_MOST_WORDS: Final = 500
_TAIL: Final = 150
_DAY_H: Final = 24
_HELD: Final = bag("hold holding held keep keeping pay paid paying cost costs carry carrying long short position earn")
_MOST_CANDIDATE_LETTERS: Final = 12


class Reading(Struct, frozen=True):
    """What a text says.

    Attributes:
        text: The text in one form: blanks single, nothing invisible.
        masked: Its words in lower case, with `COIN`, `ASSET`, `CATEGORY`, `UNKNOWN`, `EXCLUDED`, `PERIOD` and `AMOUNT`
            in place of what was recognised.
        entities: What was recognised.
        language: ISO 639-1 of its language; `und` where it is surely not English and nobody can say what.
    """

    text: str
    masked: str
    entities: Entities
    language: str


class Reader:
    """Reads questions.

    Args:
        known: Everything that can be named.
        clock: What weekdays and dates are counted from; without one they stand for nothing.
    """

    def __init__(self, known: Known, clock: Clock | None = None) -> None:
        self._known = known
        self._clock = clock
        self._speller = Speller({**{word: word for word in KEYWORDS}, **known.meanings()})

    def read(self, text: str) -> Reading:
        """Read a text; its first 8,000 characters."""
        tidied = tidy(text)
        tokens = _bounded(tokenise(tidied))
        names, mended = self._mend(tokens)
        found = find_mentions(self._known, tokens, names)
        taken = _covered(found)
        language = language_of(tokens, taken, mended, tidied)
        if language == "en":
            strangers = find_strangers(self._known, tokens, mended, found)
            found = sorted([*found, *strangers])
        spans = find_spans(tokens, _covered(found), None if self._clock is None else self._clock.now_ms())
        return self._compose(tidied, tokens, mended, found, spans, language)

    def _mend(self, tokens: Sequence[Token]) -> tuple[list[str], list[str]]:
        """The words of a text as names are looked up by, and as they are understood: both mended."""
        names, mended, left = [token.name for token in tokens], [token.word for token in tokens], MOST_MENDED
        for at, token in enumerate(tokens):
            if left and self._is_odd(token):
                left -= 1
                better = self._speller.mend(token.name)
                if better is not None:
                    names[at] = mended[at] = better
        return names, mended

    def _is_odd(self, token: Token) -> bool:
        """Whether a word may be a misspelt one: none that is known, no ticker in capitals, no English word."""
        if token.sigil or token.is_number or token.name in self._known.parts or token.word in KEYWORDS:
            return False
        if token.word in FOREIGN:
            return False
        ticker = token.text.isupper() and len(token.text) <= len("TICKE")
        return not ticker and not is_plain(token.name) and not is_plain(token.word)

    def _compose(
        self, text: str, tokens: Sequence[Token], mended: Sequence[str], found: Sequence[Mention],
        spans: Sequence[Span], language: str,
    ) -> Reading:  # fmt: skip
        excluded = find_excluded(tokens, found)
        coins = {mention.start: mention for mention in found if mention.thing.kind == "COIN"}
        timed = {at for span in spans for at in range(span.start, span.end)}
        total = find_sum(tokens, timed | _covered(found), coins)
        marks = {span.start: ("PERIOD", span.end) for span in spans}
        if total is not None:
            marks[total.start] = ("AMOUNT", total.end)
        for at, mention in enumerate(found):
            marks[mention.start] = ("EXCLUDED" if at in excluded else mention.thing.kind, mention.end)
        words = _masked(mended, marks)
        traits = find_traits(words)
        summed = set() if total is None else set(range(total.start, total.end))
        grouped = {mention.start for mention in found if mention.thing.kind == "CATEGORY"}
        named = [mention for at, mention in enumerate(found) if at not in excluded]
        entities = Entities(
            coins=_keys(named, "COIN"),
            assets=_keys(named, "ASSET"),
            categories=_keys(named, "CATEGORY"),
            unknown=_unknown(tokens, named),
            candidates=self._candidates(tokens, named),
            excluded=_excluded(found, excluded),
            period=_period(spans),
            amount=None if total is None else total.amount,
            days=_days(spans, words),
            limit=find_limit(tokens, timed | summed | (_covered(found) - grouped), grouped),
            part=find_part(words),
            **traits._asdict(),
        )
        return Reading(text, " ".join(words), entities, language)

    def _candidates(self, tokens: Sequence[Token], named: Sequence[Mention]) -> Mapping[str, tuple[str, ...]]:
        candidates: dict[str, tuple[str, ...]] = {}
        unknown = _unknown(tokens, named)
        for mention in named:
            thing, written = mention.thing, _written(tokens, mention)
            if thing.kind == "UNKNOWN":
                ticker = tokens[mention.start].text
                single = mention.end - mention.start == 1 and thing.ticker and len(ticker) <= _MOST_CANDIDATE_LETTERS
                meant = thing.keys or (tuple(self._known.directory.candidates(ticker)) if single else ())
                if meant and written in unknown:
                    candidates.setdefault(written, meant[:MOST_CANDIDATES])
            elif len(thing.keys) > 1 and not thing.both:
                candidates.setdefault(written, thing.keys[:MOST_CANDIDATES])
        return candidates


def _bounded(tokens: list[Token]) -> list[Token]:
    """The beginning and the end of a long text, which hold what it asks for: reading costs by the word."""
    if len(tokens) <= _MOST_WORDS:
        return tokens
    head, tail = tokens[: -_TAIL + _MOST_WORDS], tokens[-_TAIL:]
    return [*head, tail[0]._replace(gap="."), *tail[1:]]


def _covered(found: Sequence[Mention]) -> set[int]:
    return {at for mention in found for at in range(mention.start, mention.end)}


def _written(tokens: Sequence[Token], mention: Mention) -> str:
    """A name as it is written."""
    return " ".join(token.sigil.strip("#") + token.text for token in tokens[mention.start : mention.end])


def _keys(named: Sequence[Mention], kind: str) -> tuple[str, ...]:
    things = [mention.thing for mention in named if mention.thing.kind == kind]
    return tuple(dict.fromkeys(key for thing in things if thing.both or len(thing.keys) == 1 for key in thing.keys))


def _unknown(tokens: Sequence[Token], named: Sequence[Mention]) -> tuple[str, ...]:
    """Names of nothing that is here, once each; "Pepe (KPEPE)" names a coin that is."""
    coins = _keys(named, "COIN")
    strangers = [
        _written(tokens, mention)
        for mention in named
        if mention.thing.kind == "UNKNOWN" and not (mention.thing.keys and mention.thing.keys[0] in coins)
    ]
    return tuple({written.casefold(): written for written in reversed(strangers)}.values())[::-1]


def _excluded(found: Sequence[Mention], excluded: set[int]) -> tuple[str, ...]:
    """Tickers that are left out; a coin of which only thousands are traded leaves those out."""
    things = [found[at].thing for at in sorted(excluded)]
    return tuple(dict.fromkeys(key for thing in things if thing.kind in {"COIN", "UNKNOWN"} for key in thing.keys[:1]))


def _period(spans: Sequence[Span]) -> Period | None:
    for span in spans:
        if span.unit == "d":
            return Period(round(span.hours / _DAY_H), "d")
        return Period(max(1, round(span.hours)), "h")
    return None


def _days(spans: Sequence[Span], words: Sequence[str]) -> float | None:
    held = [span for span in spans if span.held and not span.ago]
    return held[-1].hours / _DAY_H if held and not _HELD.isdisjoint(words) else None


def _masked(words: Sequence[str], marks: Mapping[int, tuple[str, int]]) -> list[str]:
    masked: list[str] = []
    at = 0
    while at < len(words):
        mark, end = marks.get(at, (words[at], at + 1))
        masked.append(mark)
        at = max(end, at + 1)
    return [word for word in masked if word]
