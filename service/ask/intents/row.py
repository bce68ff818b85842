"""A row of the table of phrases, and how one is written."""

from typing import Final, Literal

from msgspec import Struct

from service.wire.ask import Intent

Where = Literal["any", "nothing", "something", "no-one", "pair", "term", "amount", "one-unit"]
"""What has to be named: anything or nothing; nothing at all; a coin, an asset, a category or what is none of them here;
no coin and no asset (a category is fine); two coins or assets; a word of the glossary; an amount; one of a coin."""

THIN: Final = 40
"""Rows lighter than this give way to what the conversation was about."""

_RISING: Final = (
    "upward|upwards|rising|rise|pumping|green|mooning|climbing|gaining|rallying|rally|ripping|uptrend|uptrends|uptrending|"
    "surging|bouncing|flying"
)
_FALLING: Final = (
    "downward|downwards|falling|fall|dumping|red|bleeding|dropping|crashing|sinking|downtrend|downtrends|downtrending|"
    "tanking|declining|losing|rekt"
)

CLASSES: Final = {
    "up": f"up|higher|upside|ups|{_RISING}",
    "down": f"down|lower|downs|{_FALLING}",
    "rising": _RISING,
    "falling": _FALLING,
    "coins": "coin|coins|token|tokens|alt|alts|altcoin|altcoins|crypto|cryptos|cryptocurrency|cryptocurrencies|symbols|"
    "tickers|names|perps|memecoins|shitcoins|ones|pairs",
    "market": "market|markets",
    "superlative": "top|best|worst|biggest|largest|highest|lowest|smallest|most|least|strongest|weakest|hottest|"
    "cheapest|bottom|closest|richest|greatest|leading|coldest|steepest|deepest",
    "records": "verdict|verdicts|signal|signals|call|calls|ratings|predictions",
    "thing": "COIN|ASSET|UNKNOWN",
}
"""Sets of words by the name that phrases call them by."""


class Row(Struct, frozen=True):
    """Phrases that mean one intent.

    A phrase is words with blanks between; `a|b` is either, `a?` may be missing, `..` is up to three words of any kind,
    `<up>` a word of a class, `#` a number in digits, `^` the beginning and `$` the end of the question.

    Attributes:
        intent: What is meant.
        weight: How strongly; see the room's docstring.
        phrases: One a line.
        where: What has to be named too.
        action: Which of the tool's answers is wanted.
        unless: Words of which none may occur, as in a place of a phrase.
    """

    intent: Intent
    weight: int
    phrases: str
    where: Where = "any"
    action: str | None = None
    unless: str = ""
