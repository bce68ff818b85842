"""Where in a question a coin stands: the words around a name that show a coin is meant. Pure.

The words are data: `contexts.toml`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from service.ask.load import load

CONTEXTS: Final = {
    name: frozenset(words.split())
    for name, words in load(Path(__file__).with_name("contexts.toml"), dict[str, str]).items()
}
"""Sets of words by what they show; see the file."""

ASPECTS: Final = CONTEXTS["aspects"]
STATES: Final = CONTEXTS["states"]
NOUNS: Final = CONTEXTS["nouns"]
OF: Final = CONTEXTS["of"]
ARTICLES: Final = CONTEXTS["articles"]
FUNCTION: Final = CONTEXTS["function"]
AFTER: Final = ASPECTS | NOUNS | STATES | CONTEXTS["after"]

_FEW: Final = 12
"""Words of the longest message that may be nothing but a name."""
_AGAINST: Final = frozenset({"against", "versus", "vs"})
_OPENING: Final = STATES | CONTEXTS["opening"]
_WINDOW: Final = re.compile(r"\d+(?:h|d|w|m|mo|y)")
_OWNING: Final = frozenset({"into", "hold", "own", "bought", "on"})


class Place(NamedTuple):
    """What stands around a name: the word before it and after it, empty where the clause begins or ends.

    Attributes:
        before: The word before.
        after: The word after.
        earlier: The word before that.
        beside: Whether a coin or an asset stands before or after, with at most an "and", "or", "vs" or comma between.
        named: Whether what stands right before it is a name itself, with nothing between.
        listed: Whether it is one of several names with nothing between: "arb op strk".
        introduces: Whether a colon follows.
    """

    before: str
    after: str
    earlier: str
    beside: bool
    named: bool
    listed: bool = False
    introduces: bool = False


def is_likely(place: Place) -> bool:
    """Whether a coin stands well here: a word that may be one is taken for it."""
    before, after = place.before, place.after
    if place.listed or (place.introduces and not before):
        return True
    if place.beside and (not after or after in AFTER or _WINDOW.fullmatch(after)):
        return True
    if place.named or before in ARTICLES:
        return (after in NOUNS and before in {"the", "my"}) or (after in ASPECTS and before == "the")
    if after in ASPECTS or after in NOUNS:
        return True
    if not before and (after in _OPENING or _WINDOW.fullmatch(after)):
        return True
    return _follows(before, after)


def _follows(before: str, after: str) -> bool:
    """Whether the word before is one that a coin follows."""
    if (before[:1].isdigit() and not before.endswith("%")) or before in _OWNING or before in _AGAINST:
        return True
    if before in CONTEXTS["before"] and (not after or after in AFTER):
        return True
    if before in OF and after[:1].isdigit():
        return True
    return before in {"are", "how"} and after in STATES


def is_certain(word: str, place: Place) -> bool:
    """Whether nothing but a coin can stand here: even a word that every sentence has is taken for one."""
    before, after = place.before, place.after
    if place.named or before in ARTICLES or before in CONTEXTS["torn"]:
        return False
    if before in OF and place.earlier in ASPECTS and not after:
        return True
    if word in FUNCTION:
        return False
    return after in ASPECTS or after in {"token", "coin"} or (before in {"is", "hows"} and after in STATES)


def is_emphatic(word: str) -> bool:
    """Whether a word is written in capitals to stress it."""
    return word in CONTEXTS["emphatic"]


def is_filler(words: Sequence[str]) -> bool:
    """Whether a few words change nothing: a name among them stands alone."""
    return len(words) < _FEW and CONTEXTS["fillers"].issuperset(words)
