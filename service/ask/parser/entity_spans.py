"""Which coins, assets and categories the words of a text name. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from service.ask.parser.language import is_plain
from service.ask.parser.names import Care, NameIndex, Thing
from service.ask.parser.places import (
    ARTICLES,
    ASPECTS,
    CONTEXTS,
    STATES,
    Place,
    is_certain,
    is_emphatic,
    is_filler,
    is_likely,
)
from service.ask.parser.tokens import Token
from service.sentiment.names import ACRONYMS

_QUOTES: Final = ("usdt", "usdc", "usd", "perp")
_PAIRED: Final = frozenset({"usdt", "usdc", "usd", "perp", "perps"})
_JOINTS: Final = frozenset({"", "-", "/", ":", "(", ")", ".", "&"})
_COORDINATORS: Final = frozenset({
    "and", "or", "vs", "versus", "v", "nor", "plus", "with", "against", "than", "to", "into",
})  # fmt: skip
_BREAKS: Final = frozenset(".,?!;:()\n\u2013\u2014")
_SHORTEST_JOINED: Final = 7
_NOT_JOINED: Final = frozenset({"memecoin", "notcoin"})
_SHOUTED: Final = 2
_ANSWERS: Final = frozenset({"me", "one", "ok", "yes", "go", "t", "etc"})
"""Words that are answers or fillers where they stand alone."""
_KINDS: Final = frozenset({"sector", "category", "ecosystem"})
_GROUPS: Final = CONTEXTS["groups"]
_ABOUT: Final = CONTEXTS["about"]


class EntitySpan(NamedTuple):
    """One place where something is named: words from `start` to before `end`; `topic`: a category of that name."""

    start: int
    end: int
    thing: Thing
    topic: Thing | None = None


class _Seen(NamedTuple):
    """A text while it is read: its words as they are looked up, what is found, and whether all of it is in capitals."""

    tokens: Sequence[Token]
    words: Sequence[str]
    found: dict[int, EntitySpan]
    taken: set[int]
    shouted: bool

    def take(self, span: EntitySpan) -> None:
        self.found[span.start] = span
        self.taken.update(range(span.start, span.end))


def find_entities(known: NameIndex, tokens: Sequence[Token], words: Sequence[str]) -> list[EntitySpan]:
    """Find what is named.

    Args:
        known: Everything that has a name here.
        tokens: The words of a text as they are written.
        words: The same in lower case, with typos corrected.

    Returns:
        In the order of the text; none overlaps another.
    """
    seen = _Seen(tokens, words, {}, set(), is_shouted(tokens))
    unsure = [span for span in _named(known, seen) if not _settle(seen, span)]
    left = len(unsure) + 1
    while len(unsure) < left:  # again for what stands beside what was found
        left = len(unsure)
        unsure = [span for span in unsure if not _decide(seen, span)]
    return [seen.found[start] for start in sorted(seen.found)]


def is_shouted(tokens: Sequence[Token]) -> bool:
    """Whether a text is in capitals as a whole, so that they mean nothing."""
    if any(not token.text.isupper() for token in tokens if token.text.isalpha() and len(token.text) > 1):
        return False
    return sum(len(token.word) > 1 and is_plain(token.word) for token in tokens) >= _SHOUTED


def _settle(seen: _Seen, span: EntitySpan) -> bool:
    """Whether a name needs nothing beside it; "whose trend is NOT up" names no coin, however it is written."""
    place = place_of(seen.tokens, seen.taken, span.start, span.end)
    negates = seen.words[span.start] == "not" and place.before in _IS and place.earlier in ASPECTS
    if span.thing.care is Care.FREE and not negates:
        seen.take(span)
    return span.thing.care is Care.FREE or negates


def _named(known: NameIndex, seen: _Seen) -> Iterator[EntitySpan]:
    """Everything that may be a name, the longest of those that begin at a word."""
    at = 0
    while at < len(seen.tokens):
        span = (
            _longest(known, seen, at) or _joined(known, seen, at) or _pair(known, seen, at) or _owned(known, seen, at)
        )
        if span is None:
            at += 1
        else:
            yield span
            at = span.end


def _longest(known: NameIndex, seen: _Seen, at: int) -> EntitySpan | None:
    if seen.words[at] not in known.parts:
        return None
    reach = at + 1
    while reach < min(at + known.longest, len(seen.tokens)) and seen.tokens[reach].gap in _JOINTS:
        reach += 1
    for end in range(reach, at, -1):
        thing = known.find(tuple(seen.words[at:end]))
        if thing is not None:
            topic = known.topics.get(tuple(seen.words[at:end]))
            grouped = topic if _is_grouped(seen, end, at) else None
            return _weighed(seen, at, end, grouped or thing)._replace(topic=topic)
    return None


_IS: Final = frozenset({"is", "are", "was", "were"})
_BEST: Final = frozenset({"best", "worst", "strongest", "weakest", "biggest", "largest", "smallest", "volatile"})
_ANY: Final = frozenset({"which", "what", "any", "every", "each", "best", "worst", "top", "a"})


def _is_grouped(seen: _Seen, end: int, at: int) -> bool:
    """Whether a word follows that says that a category was named: "meme coins", "which meme coin"."""
    if end < len(seen.tokens) and seen.words[end] in {"coin", "token"} and at and seen.words[at - 1] in _ANY:
        return True
    return (
        end < len(seen.tokens) and not seen.tokens[end].gap and seen.words[end] in _GROUPS - {"coin", "token", "chain"}
    )


def _joined(known: NameIndex, seen: _Seen, at: int) -> EntitySpan | None:
    """A name that was written as two words: "doge coin". A number before a name counts it: "1000 PEPE"."""
    if at + 1 == len(seen.tokens) or seen.tokens[at + 1].gap or seen.tokens[at].is_number:
        return None
    joined = seen.words[at] + seen.words[at + 1]
    thing = known.find((joined,))
    if thing is None or len(joined) < _SHORTEST_JOINED or joined in _NOT_JOINED or joined in known.lots:
        return None
    return _weighed(seen, at, at + 2, thing)


def _pair(known: NameIndex, seen: _Seen, at: int) -> EntitySpan | None:
    """A ticker that is written together with what it is quoted in: "btcusdt"."""
    for quote in _QUOTES:
        word = seen.tokens[at].name
        thing = known.find((word.removesuffix(quote),)) if word.endswith(quote) else None
        if thing is not None and thing.ticker:
            return EntitySpan(at, at + 1, thing._replace(care=Care.FREE))
    return None


def _owned(known: NameIndex, seen: _Seen, at: int) -> EntitySpan | None:
    """A name with an `s` behind it: "mkrs score"; of an English word only beside an aspect: "links price"."""
    word = seen.tokens[at].word
    thing = known.find((word.removesuffix("s"),)) if word.endswith("s") else None
    if thing is None or thing.kind != "coin" or thing.care is Care.STRICT:
        return None
    aspect = at + 1 < len(seen.tokens) and seen.tokens[at + 1].word in ASPECTS
    return _weighed(seen, at, at + 1, thing._replace(care=Care.FREE)) if aspect or not is_plain(word) else None


def _weighed(seen: _Seen, start: int, end: int, thing: Thing) -> EntitySpan:
    """A name with the care it needs as it is written here."""
    token = seen.tokens[start]
    care = thing.care
    follows = seen.tokens[end] if end < len(seen.tokens) else None
    paired = follows is not None and follows.gap in {"/", "-"} and follows.word in _PAIRED
    if token.sigil or (paired and thing.ticker):
        care = Care.FREE
    elif end - start == 1 and not seen.shouted and token.text.isupper() and thing.ticker:
        care = Care(max(0, care - 1))
        stressed = is_emphatic(token.word) or len(token.word) == 1
        if token.word not in ACRONYMS and ("(" in token.gap or not stressed):
            care = Care.FREE
    elif thing.kind == "coin" and (token.owns or (not seen.shouted and _is_capitalised(seen, start))):
        care = Care(max(0, care - 1))
    return EntitySpan(start, end + 1 if paired and thing.kind == "coin" else end, thing._replace(care=care))


def _is_capitalised(seen: _Seen, at: int) -> bool:
    """Whether a word begins with a capital where no sentence begins."""
    return at > 0 and not seen.tokens[at].opens and seen.tokens[at].text[:1].isupper()


def _decide(seen: _Seen, span: EntitySpan) -> bool:
    """Take a name where the words around it show that it is meant."""
    place = place_of(seen.tokens, seen.taken, span.start, span.end)
    if span.topic is not None and _is_topic(seen, span, place):
        span = span._replace(thing=span.topic)
    elif not (_is_category(seen, span, place) if span.thing.kind == "category" else _is_meant(seen, span, place)):
        return False
    seen.take(span)
    return True


def _is_topic(seen: _Seen, span: EntitySpan, place: Place) -> bool:
    """Whether only a category can be meant: "category: meme", "not a meme", "NFT and meme"."""
    if not _KINDS.isdisjoint(seen.words[max(0, span.start - 2) : span.start]):
        return True
    if (place.earlier == "not" and place.before in {"a", "an"}) or (
        place.before in _BEST and span.thing.kind == "coin"
    ):
        return True
    near = {span.start, span.start - 1, span.end, span.end + 1}
    categories = [other for other in seen.found.values() if other.thing.kind == "category"]
    return place.beside and any(other.end in near or other.start in near for other in categories)


def _is_meant(seen: _Seen, span: EntitySpan, place: Place) -> bool:
    name = seen.words[span.start]
    alone = place.before not in ARTICLES and _is_alone(seen, span)
    if span.thing.care is Care.HINTED:
        if is_emphatic(name) and not place.before and place.after not in ASPECTS:
            return False
        return alone or is_likely(place)
    return is_certain(name, place) or (alone and len(name) > 1 and not is_emphatic(name) and name not in _ANSWERS)


def _is_alone(seen: _Seen, span: EntitySpan) -> bool:
    """Whether a message says nothing but a name."""
    return is_filler([*seen.words[: span.start], *seen.words[span.end :]])


def _is_category(seen: _Seen, span: EntitySpan, place: Place) -> bool:
    beside = {other.end + 1 for other in seen.found.values() if other.thing.kind == "category"}
    if place.after in _GROUPS or (place.before in _COORDINATORS and span.start in beside):
        return True
    if place.before in {"either", "both"} or (place.before == "in" and place.earlier in _GROUPS):
        return True
    if place.before in _ABOUT and (not place.after or place.after in STATES):
        return place.before != "is" or place.after in STATES
    return _is_alone(seen, span)


def place_of(tokens: Sequence[Token], taken: set[int], start: int, end: int) -> Place:
    """What stands around the words from `start` to before `end`."""
    opens = start == 0 or bool(_BREAKS & set(tokens[start].gap))
    closes = end >= len(tokens) or bool(_BREAKS & set(tokens[end].gap))
    before = "" if opens else tokens[start - 1].word
    after = "" if closes else tokens[end].word
    deep = not opens and start > 1 and not _BREAKS & set(tokens[start - 1].gap)
    return Place(
        before=before,
        after=after,
        earlier=tokens[start - 2].word if deep else "",
        beside=_is_beside(tokens, taken, start, end),
        named=not opens and start - 1 in taken and tokens[start].gap != "/",
        listed=_is_listed(tokens, taken, start, end),
        introduces=end < len(tokens) and ":" in tokens[end].gap,
    )


def _is_listed(tokens: Sequence[Token], taken: set[int], start: int, end: int) -> bool:
    """Whether names stand on both sides, or two before, with nothing between."""
    behind = [start - 1 in taken and not tokens[start].gap, start - 2 in taken and not tokens[start - 1].gap]
    ahead = end < len(tokens) and end in taken and not tokens[end].gap
    return behind[0] and (ahead or behind[1])


def _is_beside(tokens: Sequence[Token], taken: set[int], start: int, end: int) -> bool:
    """Whether a name stands before or after, with a comma, a slash or a coordinating word between."""
    if start and start - 1 in taken and tokens[start].gap in {",", "/", "-"}:
        return True
    if start > 1 and tokens[start - 1].word in _COORDINATORS and start - 2 in taken:
        return True
    if end < len(tokens) and end in taken and tokens[end].gap in {",", "/"}:
        return True
    return end + 1 < len(tokens) and tokens[end].word in _COORDINATORS and end + 1 in taken
