"""Recognises what a text names, its typos and its language. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.ask.parser.chunks import Name
from service.ask.parser.entity_spans import EntitySpan, find_entities
from service.ask.parser.known import Known
from service.ask.parser.language import ENGLISH, FOREIGN, language_of
from service.ask.parser.lexicon import LEXICON, VOCABULARY
from service.ask.parser.spelling import KEYWORDS, MOST_CORRECTED, SHORTHAND, Speller, is_plain
from service.ask.parser.tokens import Token
from service.ask.parser.unknown_entities import find_unknown

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_LONGEST_TICKER: Final = 5
_OWN_VENUE: Final = "hyperliquid"
_CURRENCIES: Final = frozenset({("xyz:EUR",), ("xyz:JPY",), ("xyz:GBP",)})
"""Assets that figures may be asked in, such as "in euros". All figures are in dollars."""


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

    def __init__(self, known: Known, wallets: Mapping[str, str], shows: Mapping[str, str]) -> None:
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
        in_currency = start > 0 and tokens[start - 1].word == "in" and keys in _CURRENCIES
        return Name("blocked" if in_currency else thing.kind, keys, start, end, per_coin=thing.per_coin)


def _is_measure(span: EntitySpan, words: Sequence[str]) -> bool:
    """Whether a name belongs to a measure: "BTC correlation"."""
    return span.thing.keys == ("BTC",) and words[span.end : span.end + 1] in (["correlation"], ["corr"])


def _is_venue(span: EntitySpan, named: Sequence[EntitySpan], words: Sequence[str]) -> bool:
    """Whether a name says where another coin is traded: "SOL on Uniswap"; of our own venue also "funding on …"."""
    if words[max(0, span.start - 1) : span.start] != ["on"]:
        return False
    own = words[span.start] == _OWN_VENUE and len(named) > 1
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
