"""What a text names as a coin, an asset or a category that is none here. Pure."""

from collections.abc import Sequence
from typing import Final

from service.ask.reading.known import Care, Known, Thing
from service.ask.reading.mentions import Mention, is_shouted, place_of
from service.ask.reading.names import ABSENT_TOPICS, ACRONYMS
from service.ask.reading.places import AFTER, ASPECTS, OF, STATES, Place, is_likely
from service.ask.reading.spelling import KEYWORDS, Speller
from service.ask.reading.tokens import Token
from service.ask.reading.traits import SPOKEN
from service.ask.reading.words import PLAIN, bag, is_plain

MOST: Final = 5
"""Strangers of a text that are looked for; five are more than an answer can talk about."""

_SPELLER: Final = Speller({word: word for word in PLAIN if len(word) > 4})  # noqa: PLR2004 - short words are misspelt into anything
JARGON: Final = KEYWORDS | SPOKEN
"""Words that mean something here."""
_NO_MISTAKE: Final = 4
"""Letters up to which a word that is no English one is not taken for a misspelt one."""
_LONGEST_TICKER: Final = 12
_GROUPS: Final = frozenset({"coins", "tokens", "sector", "category", "ecosystem", "altcoins"})
_PAPERS: Final = frozenset({"stock", "stocks", "shares", "share", "etf", "equity", "futures"})
_TALK: Final = ASPECTS | bag(
    """
    alerts analysis bear bull call chart correlations info news opinion outlook overview rundown signals snapshot
    summary
    take thoughts update view quotes worth cost
    """
)
_DEALS: Final = bag("ape buy buying hold holding long longing own sell selling short shorting trade trading")
_COMMON_MISTAKES: Final = bag("teh waht wht whts hte adn nad pric wats wuts whta tje thr iz te")
_OWN: Final = JARGON | ACRONYMS | _COMMON_MISTAKES


def find_strangers(
    known: Known, tokens: Sequence[Token], mended: Sequence[str], found: Sequence[Mention]
) -> list[Mention]:
    """Find what is named and unknown, beside what was found.

    Args:
        known: Everything that has a name here.
        tokens: The words of a text.
        mended: The same, mended: a word that could be mended is no stranger.
        found: What was recognised.

    Returns:
        At most five, in the order of the text.
    """
    taken = {at for mention in found for at in range(mention.start, mention.end)}
    shouted = is_shouted(tokens)
    strangers: list[Mention] = []
    for at, token in enumerate(tokens):
        if at not in taken and token.word == mended[at] and not token.is_number and len(strangers) < MOST:
            place = place_of(tokens, taken, at, at + 1)
            if _is_stranger(known, token, place, alone=len(tokens) == 1, shouted=shouted):
                strangers.append(Mention(at, at + 1, Thing("UNKNOWN", (), Care.FREE, ticker=True)))
                taken.add(at)
    return strangers


def _is_stranger(known: Known, token: Token, place: Place, *, alone: bool, shouted: bool) -> bool:
    if token.sigil == "$" or (place.after in _GROUPS and token.word in ABSENT_TOPICS):
        return True
    if known.directory.was_listed(token.name):
        return not is_plain(token.name) or token.text.isupper() or is_likely(place)
    if _is_word(token):
        return False
    if token.text.isupper() and not shouted:
        return 1 < len(token.text) <= _LONGEST_TICKER
    return (alone or _is_named(place)) and not _is_mistake(token.word)


def _is_word(token: Token) -> bool:
    """Whether a word is one that has its own meaning."""
    words = {token.word, token.name}
    return not token.text.isascii() or not _OWN.isdisjoint(words) or any(map(is_plain, words))


def _is_named(place: Place) -> bool:
    """Whether only a name of something traded can stand here."""
    before, after = place.before, place.after
    if after in ASPECTS or after in _PAPERS or after in _GROUPS or after in {"token", "coin"}:
        return True
    if before in _DEALS or (before in OF and place.earlier in _TALK):
        return not after or after in AFTER
    if before in {"is", "hows", "how"} and after in STATES:
        return True
    return place.beside


def _is_mistake(word: str) -> bool:
    return len(word) > _NO_MISTAKE and _SPELLER.mend(word) is not None
