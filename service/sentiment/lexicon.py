"""Our crypto lexicon: what a word or phrase says of a market, how strongly, and why VADER alone gets it wrong.

Weights are on VADER's own scale, -4 to 4 (its raters gave "good" 1.9, "horrible" -2.5). Variants of one term stand
beside each other, parted by `/`. A blank in a phrase also stands for a hyphen. Words absent from VADER's lexicon are
silent there: it was made of the words of tweets and film reviews, not of markets.
"""

from collections.abc import Sequence
from typing import Final

from service.sentiment.event_terms import GROWTH, HARM, LAW, PLAINER, SILENCED
from service.sentiment.price_terms import FLOWS, MORE_DOWN, MORE_UP, PRICES_DOWN, PRICES_UP
from service.sentiment.term import Term

TERMS: Final[Sequence[Term]] = (
    *MORE_UP,
    *MORE_DOWN,
    *PRICES_UP,
    *PRICES_DOWN,
    *FLOWS,
    *LAW,
    *HARM,
    *GROWTH,
    *PLAINER,
    *SILENCED,
)
"""Everything; a later term overrides an earlier one and VADER's own."""

RELIEF: Final = 1.9
"""Of something bad that gets less: fees fall, fears fade, inflation is cut."""

SETBACK: Final = -1.8
"""Of something good that gets less, or something bad that gets more: hopes fade, fees spike."""
