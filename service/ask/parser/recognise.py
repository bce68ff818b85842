"""Recognises what a text names, names that do not exist here, typos and its language. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.ask.parser.chunks import Name
from service.ask.parser.entity_spans import EntitySpan, find_entities, is_shouted, place_of
from service.ask.parser.language import (
    ENGLISH,
    FOREIGN,
    KEYWORDS,
    MOST_CORRECTED,
    PLAIN,
    SHORTHAND,
    Speller,
    is_plain,
    language_of,
)
from service.ask.parser.lexicon import LEXICON, VOCABULARY
from service.ask.parser.names import CURRENCIES, TABLES, Care, NameIndex, Thing
from service.ask.parser.places import AFTER, ASPECTS, CONTEXTS, FUNCTION, OF, STATES, Place, is_likely
from service.ask.parser.tokens import Token

MOST: Final = 5
"""Unknown names of a text that are looked for: more than an answer can name."""

_JARGON: Final = KEYWORDS | VOCABULARY
_NO_MISTAKE: Final = 4
"""Letters up to which a word that is no English one is not taken for a misspelt one."""
_ENGLISH: Final = Speller({word: word for word in PLAIN if len(word) > _NO_MISTAKE})
_MOST_WORDS: Final = 3
_NO_NAMES: Final = FUNCTION | AFTER | _JARGON
_LONGEST_UNKNOWN: Final = 12
_TAILS: Final = ("coin", "token", "swap", "inu")
_GROUPS: Final = frozenset({"coins", "tokens", "sector", "category", "ecosystem", "altcoins"})
_PAPERS: Final = frozenset({"stock", "stocks", "shares", "share", "etf", "equity", "futures"})
_TALK: Final = ASPECTS | CONTEXTS["talk"]
_DEALS: Final = CONTEXTS["deals"]
_DONE: Final = CONTEXTS["done"]
_OWN: Final = _JARGON | TABLES.acronyms


def find_unknown(
    known: NameIndex, tokens: Sequence[Token], corrected: Sequence[str], found: Sequence[EntitySpan]
) -> list[EntitySpan]:
    """Find unknown names.

    Args:
        known: Everything that has a name here.
        tokens: The words of a text.
        corrected: The same without typos: a word that could be corrected is no unknown name.
        found: What was recognised.

    Returns:
        At most five, in the order of the text.
    """
    taken = {at for span in found for at in range(span.start, span.end)}
    shouted = is_shouted(tokens)
    unknown: list[EntitySpan] = []
    for at, token in enumerate(tokens):
        if at not in taken and token.word == corrected[at] and not token.is_number and len(unknown) < MOST:
            start, end = _extent(tokens, taken, at)
            place = place_of(tokens, taken, start, end)
            if _is_unknown(known, token, place, alone=len(tokens) == 1, shouted=shouted):
                unknown.append(EntitySpan(start, end, Thing("unknown", (), Care.FREE, ticker=end - start == 1)))
                taken.update(range(start, end))
    return unknown


def _is_unknown(known: NameIndex, token: Token, place: Place, *, alone: bool, shouted: bool) -> bool:
    if token.sigil == "$" or (place.after in _GROUPS and token.word in TABLES.absent_categories):
        return True
    if known.directory.delisted(token.name):
        return not is_plain(token.name) or token.text.isupper() or is_likely(place)
    if token.text.isupper() and not shouted and _ends_on(place) and token.word not in FUNCTION:
        return True
    if _has_own_meaning(token):
        return False
    if token.text.isupper() and not shouted:
        return 1 < len(token.text) <= _LONGEST_UNKNOWN
    return (alone or _is_named(place) or token.word.endswith(_TAILS)) and not _is_mistake(token.word)


def _ends_on(place: Place) -> bool:
    """Whether "price of …" ends here: what is written there in capitals is a ticker, whatever it spells."""
    return place.before in OF and place.earlier in ASPECTS and not place.after


def _extent(tokens: Sequence[Token], taken: set[int], at: int) -> tuple[int, int]:
    """Where the name begins and ends that an unknown word belongs to: "mooncat inu", "hamster kombat"."""
    start, end = at, at + 1
    if tokens[at].sigil or tokens[at].text.isupper():
        return start, end
    while end < min(len(tokens), at + _MOST_WORDS) and _goes_on(tokens, taken, end):
        end += 1
    before = tokens[at - 1] if at else None
    if before is not None and not tokens[at].gap and at - 1 not in taken and _may_begin(tokens, at - 1):
        start -= 1
    return start, end


def _goes_on(tokens: Sequence[Token], taken: set[int], at: int) -> bool:
    token = tokens[at]
    return at not in taken and not token.gap and not token.is_number and not _has_own_meaning(token)


def _may_begin(tokens: Sequence[Token], at: int) -> bool:
    """Whether an English word begins a name: where it has the place of one and no other."""
    token = tokens[at]
    behind = at > 1 and tokens[at - 1].word in OF and tokens[at - 2].word in _TALK
    return (
        behind and not (token.gap or token.is_number) and token.word not in _NO_NAMES and len(token.word) > _NO_MISTAKE
    )


def _has_own_meaning(token: Token) -> bool:
    """Whether a word is one that has its own meaning."""
    words = {token.word, token.name}
    return not token.text.isascii() or not _OWN.isdisjoint(words) or any(map(is_plain, words))


def _is_named(place: Place) -> bool:
    """Whether only a name of something traded can stand here."""
    before, after = place.before, place.after
    if after in ASPECTS or after in _PAPERS or after in _GROUPS or after in {"token", "coin"}:
        return True
    if before in OF and place.earlier in _TALK:
        return True
    if before in _DEALS:
        return not after or after in AFTER
    if before in {"called", "named"} or (before in {"is", "hows", "how"} and after in STATES):
        return True
    return place.beside or (before in {"did", "does", "has"} and after in _DONE)


def _is_mistake(word: str) -> bool:
    return len(word) > _NO_MISTAKE and _ENGLISH.correct(word) is not None


_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_LONGEST_TICKER: Final = 5
_OWN_VENUE: Final = "hyperliquid"


class Recognised(NamedTuple):
    """What a text holds.

    Attributes:
        names: What is named, in order. The value of an unknown name is what may have been meant.
        words: Its words with typos corrected.
        language: ISO 639-1, or `und`.
    """

    names: Sequence[Name]
    words: Sequence[str]
    language: str


class Recogniser:
    """Recognises names.

    Args:
        known: Coins, assets and categories.
        wallets: Labels and addresses of watched wallets, lower case, to their address.
        shows: Names of shows, lower case, to their id.
    """

    def __init__(self, known: NameIndex, wallets: Mapping[str, str], shows: Mapping[str, str]) -> None:
        self._known = known
        self._special = [
            (kind, key, name.split())
            for kind, table in (("wallet", wallets), ("show", shows))
            for name, key in table.items()
        ]
        keywords = {word: word for word in KEYWORDS | VOCABULARY}
        self._speller = Speller({**keywords, **known.meanings()})

    def read(self, tokens: Sequence[Token], text: str) -> Recognised:
        """Recognise what a text holds.

        Args:
            tokens: Its tokens.
            text: The text itself.
        """
        names, words = self._corrected(tokens)
        listed = self._specials(tokens)
        taken = {at for name in listed for at in range(name.start, name.end)}
        found = [
            span
            for span in find_entities(self._known, tokens, names)
            if taken.isdisjoint(range(span.start, span.end)) and not _is_measure(span, words)
        ]
        covered = taken | {at for span in found for at in range(span.start, span.end)}
        language = language_of(tokens, covered, words, text)
        unknown = find_unknown(self._known, tokens, words, found) if language == ENGLISH else []
        unknown = [span for span in unknown if taken.isdisjoint(range(span.start, span.end))]
        listed += self._unread_categories(tokens, {*covered, *(at for span in unknown for at in range(*span[:2]))})
        named = [span for span in (*found, *unknown) if not _is_word(span, tokens, words)]
        venues = [span for span in named if _is_venue(span, named, words)]
        listed += [Name("blocked", None, *span[:2]) for span in venues if words[span.start] != _OWN_VENUE]
        listed += [self._name(span, tokens) for span in named if span not in venues]
        return Recognised(sorted(listed, key=lambda name: name.start), words, language)

    def _unread_categories(self, tokens: Sequence[Token], covered: set[int]) -> list[Name]:
        """Names of categories where none was recognised: such a word changes a question, so it is not left out."""
        left = (at for at in range(len(tokens)) if at not in covered)
        return [
            Name("blocked", None, at, at + 1)
            for at in left
            if (tokens[at].name,) in self._known.topics and tokens[at].word not in LEXICON
        ]

    def _corrected(self, tokens: Sequence[Token]) -> tuple[list[str], list[str]]:
        """The words that names are looked up by, and the words of the text, both with typos corrected."""
        names, words, left = [token.name for token in tokens], [token.word for token in tokens], MOST_CORRECTED
        for at, token in enumerate(tokens):
            better = None if token.word in FOREIGN else SHORTHAND.get(token.word)
            if better is None and left and not self._is_known(token):
                left -= 1
                better = self._speller.correct(token.name)
            if better is not None:
                names[at] = words[at] = better
        return names, words

    def _is_known(self, token: Token) -> bool:
        """Whether a token needs no correction: it means something, may be a ticker, or is foreign."""
        if token.sigil or token.is_number or (token.text.isupper() and len(token.text) <= _LONGEST_TICKER):
            return True
        if token.name in self._known.parts or token.word in VOCABULARY or token.word in FOREIGN:
            return True
        return is_plain(token.name) or is_plain(token.word)

    def _specials(self, tokens: Sequence[Token]) -> list[Name]:
        """Watched wallets by label or address, and shows by name."""
        words = [token.word for token in tokens]
        found = [
            Name(kind, (key,), at, at + len(parts))
            for kind, key, parts in self._special
            for at in range(len(words) - len(parts) + 1)
            if words[at : at + len(parts)] == parts
        ]
        addresses = (
            Name("wallet", (token.text,), at, at + 1)
            for at, token in enumerate(tokens)
            if _ADDRESS.fullmatch(token.text)
        )
        return [*found, *addresses]

    def _name(self, span: EntitySpan, tokens: Sequence[Token]) -> Name:
        start, end, thing = span.start, span.end, span.thing
        keys = thing.keys
        if thing.kind == "unknown" and not keys:
            keys = self._known.candidates(" ".join(token.name for token in tokens[start:end]))
        in_currency = start > 0 and tokens[start - 1].word == "in" and keys in CURRENCIES
        return Name("blocked" if in_currency else thing.kind, keys, start, end)


def _is_measure(span: EntitySpan, words: Sequence[str]) -> bool:
    """Whether a name belongs to a measure: "BTC correlation"."""
    return span.thing.keys == ("BTC",) and words[span.end : span.end + 1] in (["correlation"], ["corr"])


def _is_venue(span: EntitySpan, named: Sequence[EntitySpan], words: Sequence[str]) -> bool:
    """Whether a name says where another coin is traded: "SOL on Uniswap"; of our own venue also "funding on …"."""
    if words[max(0, span.start - 1) : span.start] != ["on"]:
        return False
    of_set = any(word.kind in {"set", "super"} for said in words for word in LEXICON.get(said, ()))
    own = words[span.start] == _OWN_VENUE and (len(named) > 1 or of_set)
    return own or any(one.end == span.start - 1 for one in named)


def _is_word(span: EntitySpan, tokens: Sequence[Token], words: Sequence[str]) -> bool:
    """Whether what looks like a name is a word: one of the lexicon, or a single small letter."""
    if span.thing.kind == "unknown":
        before, after = words[max(0, span.start - 2) : span.start], words[span.end : span.end + 1]
        if span.thing.keys or before == ["price", "of"] or after == ["price"]:
            return False
        return all(word in VOCABULARY for word in words[span.start : span.end])
    token = tokens[span.start]
    is_letter = len(token.text) == 1 and token.text.islower() and not token.sigil
    return span.thing.kind == "coin" and span.end - span.start == 1 and is_letter
