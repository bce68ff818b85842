"""Where in a question a coin stands: the words around a name that say a coin is meant. Pure tables and rules."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.ask.parser.words import bag

ASPECTS: Final = bag(
    """
    apr apy beta bullish bearish carry chart correlation fundings funding futures fut history momentum mood oi perp
    perpetual perpetuals perps position price prices pricing quote rate regime risk sentiment signal stance stats
    swap ticker trend trends usd usdc usdt verdict vibes volume volatility vol outlook performance
    """
)
"""What follows a coin's name and belongs to it."""

ITS: Final = frozenset({"token", "coin", "tokens", "holders", "protocol", "network", "chain", "perp", "perps"})
STATES: Final = bag(
    """
    up down doing trending bullish bearish overheated pumping dumping falling rising cheap expensive crashing mooning
    looking going moving trading correlated at
    """
)
"""What is said of a coin after "is" and its name."""

OF: Final = bag("of on for about in against versus vs with than like is hows at v from into")
BEFORE: Final = bag(
    """
    about accumulating against and around at behind bought but buy buying check coin compare crypto did do does for from
    has hold holding hows hs in into is like long longing now on of or own quote rate sell selling short shorted
    shorting sold symbol than then ticker to token trade pumping dumping trading versus vs v whats wheres will with
    without except excluding
    """
)
"""What stands before a coin's name."""
AFTER: Final = (
    ASPECTS
    | ITS
    | STATES
    | bag(
        """
        vs versus v and or today now right rn please pls in on over is was did do move moved this last weekly daily long
        short follow track mirror copy correlate trade pump dump hold cost perform react these lately currently a still
        ever already too worth have had look looks going for flipped flip turned turn broke crossed changed go goes went
        """
    )
)
"""What follows a coin's name without belonging to it."""
_FILLERS: Final = bag("and what about how now then also ok please pls the on for of or hows whats yo hey")

_FEW: Final = 12

ARTICLES: Final = bag("a an the my this that his her their per no each which any some your network natural")
_TORN: Final = bag("don doesn isn can won didn wasn haven hasn what that it he she let there i you we they")
"""What is left of a word whose apostrophe was left out: the letter after it is no ticker."""
_EMPHATIC: Final = frozenset(
    {"not", "no", "all", "any", "now", "it", "in", "is", "only", "my", "us", "we", "so", "more"}
)
_AGAINST: Final = frozenset({"against", "versus", "vs"})
FUNCTION: Final = bag(
    """
    all any big first good hot in is it just me more most my new next no not now on one only open or our out the to two
    up us we you if at so can it its be by i a an of super safe real people coin strategy
    """
)
"""Words that every sentence has: an aspect behind them proves nothing."""


class Place(NamedTuple):
    """What stands around a name: the word before it and after it, empty where the clause begins or ends.

    Attributes:
        before: The word before.
        after: The word after.
        earlier: The word before that.
        beside: Whether a coin or an asset stands before or after, with at most an "and", "or", "vs" or comma between.
        named: Whether what stands right before it is a name itself, with nothing between.
    """

    before: str
    after: str
    earlier: str
    beside: bool
    named: bool


def is_likely(place: Place) -> bool:
    """Whether a coin stands well here: a word that may be one is taken for it."""
    before, after = place.before, place.after
    if (before[:1].isdigit() and not before.endswith("%")) or before in {"into", "hold", "own", "bought", "on"}:
        return True
    if place.beside and (not after or after in AFTER):
        return True
    if place.named or before in ARTICLES:
        return after in ITS and before in {"the", "my"}
    if after in ASPECTS or after in ITS or before in _AGAINST:
        return True
    if before in BEFORE and (not after or after in AFTER):
        return True
    if before in {"are", "how"} and after in STATES:
        return True
    return not before and (after in STATES or after in {"vs", "versus", "v", "is", "has", "was", "against"})


def is_certain(word: str, place: Place) -> bool:
    """Whether nothing but a coin can stand here: even a word that every sentence has is taken for one."""
    before, after = place.before, place.after
    if place.named or before in ARTICLES or before in _TORN:
        return False
    if before in OF and place.earlier in ASPECTS and not after:
        return True
    if word in FUNCTION:
        return False
    if after in ASPECTS or after in {"token", "coin"}:
        return True
    return before in {"is", "hows"} and after in STATES


def is_emphatic(word: str) -> bool:
    """Whether a word is written in capitals to stress it."""
    return word in _EMPHATIC


def is_alone(words: Sequence[str], name: str) -> bool:
    """Whether a message says nothing but a name."""
    return len(words) <= _FEW and all(word == name or word in _FILLERS for word in words)
