"""Finds names of coins, assets and categories that do not exist here. Pure."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.entity_spans import EntitySpan, is_shouted, place_of
from service.ask.parser.known import TABLES, Care, Known, Thing
from service.ask.parser.lexicon import VOCABULARY
from service.ask.parser.places import AFTER, ASPECTS, CONTEXTS, FUNCTION, OF, STATES, Place, is_likely
from service.ask.parser.spelling import KEYWORDS, PLAIN, Speller, is_plain
from service.ask.parser.tokens import Token

MOST: Final = 5
"""Unknown names of a text that are looked for: more than an answer can name."""

_JARGON: Final = KEYWORDS | VOCABULARY
_NO_MISTAKE: Final = 4
"""Letters up to which a word that is no English one is not taken for a misspelt one."""
_ENGLISH: Final = Speller({word: word for word in PLAIN if len(word) > _NO_MISTAKE})
_MOST_WORDS: Final = 3
_NO_NAMES: Final = FUNCTION | AFTER | _JARGON
_LONGEST_TICKER: Final = 12
_TAILS: Final = ("coin", "token", "swap", "inu")
_GROUPS: Final = frozenset({"coins", "tokens", "sector", "category", "ecosystem", "altcoins"})
_PAPERS: Final = frozenset({"stock", "stocks", "shares", "share", "etf", "equity", "futures"})
_TALK: Final = ASPECTS | CONTEXTS["talk"]
_DEALS: Final = CONTEXTS["deals"]
_DONE: Final = CONTEXTS["done"]
_OWN: Final = _JARGON | TABLES.acronyms


def find_unknown(
    known: Known, tokens: Sequence[Token], corrected: Sequence[str], found: Sequence[EntitySpan]
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


def _is_unknown(known: Known, token: Token, place: Place, *, alone: bool, shouted: bool) -> bool:
    if token.sigil == "$" or (place.after in _GROUPS and token.word in TABLES.absent_categories):
        return True
    if known.directory.was_listed(token.name):
        return not is_plain(token.name) or token.text.isupper() or is_likely(place)
    if token.text.isupper() and not shouted and _ends_on(place) and token.word not in FUNCTION:
        return True
    if _is_word(token):
        return False
    if token.text.isupper() and not shouted:
        return 1 < len(token.text) <= _LONGEST_TICKER
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
    return at not in taken and not token.gap and not token.is_number and not _is_word(token)


def _may_begin(tokens: Sequence[Token], at: int) -> bool:
    """Whether an English word begins a name: where it has the place of one and no other."""
    token = tokens[at]
    behind = at > 1 and tokens[at - 1].word in OF and tokens[at - 2].word in _TALK
    return behind and not token.gap and token.word not in _NO_NAMES and len(token.word) > _NO_MISTAKE


def _is_word(token: Token) -> bool:
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
