"""A row of the table of phrases, and how one is written."""

from typing import Final, Literal

from msgspec import Struct

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

_BECOME: Final = (
    "hit|hits|reach|reaches|break|breaks|moon|moons|crash|crashes|pump|pumps|dump|dumps|double|doubles|triple|triples|"
    "recover|recovers|rebound|rebounds|bounce|bounces|explode|explodes|rally|rallies|collapse|collapses|outperform|"
    "outperforms|surge|surges|skyrocket|skyrockets|tank|tanks|flip|flips|overtake|overtakes|surpass|surpasses|"
    "peak|peaks|implode|implodes|plummet|plummets|plunge|plunges|soar|soars|correct|corrects|retrace|retraces|"
    "survive|survives"
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
    "will": "will|ll|wont|whatll|itll|wherell|howll|whenll|theyll|thatll|wholl|therell",
    "become": _BECOME,
    "turn": "crash|correction|pullback|rally|breakout|run|pump|dump|bounce|reversal|dip|drop|move|comeback|recovery|"
    "collapse|squeeze|leg|higher|lower|moonshot|retrace|retracement|supercycle|breakdown|selloff",
    "crowned": "ath|aths|moon|high|highs|low|lows|million|parity",
    "month": "january|february|march|april|june|july|august|september|october|november|december",
    "people": "vitalik|vitaliks|cz|saylor|saylors|microstrategy|satoshi|wintermute|blackrock|grayscale|alameda|"
    "gox|musk|elon|elons|vc|vcs|insiders|funds|institutions|miners|founders|devs|team|teams|holders|government|"
    "governments|etfs|banks|billionaires|treasuries|he|she",
    "anyone": "someone|somebody|anyone|anybody",
    "shows": "podcast|podcasts|pod|pods|show|shows|channel|channels|feed|feeds|youtube|youtuber|youtubers|videos|"
    "sources",
}
"""Sets of words by the name that phrases call them by."""


class Row(Struct, frozen=True):
    """Phrases that mean one intent.

    A phrase is words with blanks between; `a|b` is either, `a?` may be missing, `..` is up to three words of any kind,
    `<up>` a word of a class, `#` a number in digits, `TIMES` a multiple, `^` the beginning and `$` the end of the
    question.

    Attributes:
        intent: What is meant.
        weight: How strongly; see the room's docstring.
        phrases: One a line.
        where: What has to be named too.
        action: Which of the tool's answers is wanted.
        unless: Words of which none may occur, as in a place of a phrase.
    """

    intent: str
    weight: int
    phrases: str
    where: Where = "any"
    action: str | None = None
    unless: str = ""
