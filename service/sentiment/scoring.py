"""What a text says of a market, from -1 to 1: VADER (Hutto and Gilbert 2014) over our own lexicon.

VADER counts words one by one. What takes more than one word to say is folded into one token before it counts: phrases
of the lexicon ("rug pull"), things that are good because something bad gets less ("fees fall"), and denials.

Weights are on VADER's own scale, -4 to 4 (its raters gave "good" 1.9, "horrible" -2.5). Variants of one term stand
beside each other, parted by `/`. A blank in a phrase also stands for a hyphen. Words absent from VADER's lexicon are
silent there: it was made of the words of tweets and film reviews, not of markets.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Final

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

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

CLEAR: Final = 0.2
"""A score beyond this, to either side, is clear; between, a text is neutral."""

LONGEST: Final = 600
"""Characters that are read; VADER's time grows with the square of a text's words."""

_DAMPED: Final = 0.25
"""What is asked, supposed or explained is not said: a quarter of its weight is left."""

_DECIMALS: Final = 4
_BLANKS: Final = re.compile(r"[\s-]+")
_DOWN: Final = (
    r"(?:fall|falls|fell|drop|drops|dropped|cut|shrink|shrinks|sink|sinks|decline|declines|halve|halves|slide|slides|"
    r"ease|eases|eased|fade|fades|faded|cool|cools|cooled|recede|recedes|subside|subsides|slow|slows|plunge|plunges)"
)
_UP: Final = (
    r"(?:rise|rises|rose|climb|climbs|jump|jumps|spike|spikes|spiked|surge|surges|soar|soars|grow|grows|mount|mounts|"
    r"deepen|deepens|widen|widens|gain|gains)"
)
_LESS: Final = (
    r"(?:cut|cuts|slash|slashes|halve|halves|lower|lowers|reduce|reduces|trim|trims|avoid|avoids|avert|averts|dodge|"
    r"dodges|survive|survives|weather|weathers|recover|recovers|shrug off|shrugs off|ends|end)"
)
_BURDEN: Final = (
    r"(?:fees|gas fees|gas costs|costs|cost|hack losses|losses|inflation|emissions|outflows|liquidations|fears|worries|"
    r"concerns|tensions|panic|stress|defaults|confirmation times|sell[ -]?off|difficulty jump|death cross|ban)"
)
_BLESSING: Final = (
    r"(?:hopes?|optimism|momentum|rally|recovery|demand|activity|volumes?|revenue|interest|liquidity|funding|fees)"
)
_BETWEEN: Final = r"(?:[\w']+\s+){0,5}?"
_TO_A_LOW: Final = r"(?:\s+to\s+(?:a|the|its|their)\s+(?:[\w-]+\s+)?(?:lows?|lowest)(?:\s+level)?)?"

_TURNS: Final[Sequence[tuple[str, str]]] = (
    (rf"\b{_LESS}\s+{_BETWEEN}{_BURDEN}\b", " less_burden "),
    (r"\bhot(?:ter)? inflation\b", " setback "),
    (rf"\b{_BURDEN}\s+{_BETWEEN}{_DOWN}{_TO_A_LOW}\b", " less_burden "),
    (rf"\b{_BURDEN}\s+{_BETWEEN}{_UP}\b", " more_burden "),
    (rf"\b{_BLESSING}\s+{_BETWEEN}(?:fades?|faded|fizzles?|dims?|evaporates?|vanish|dries up)\b", " less_blessing "),
    (r"\b(?:denies|deny|denied|dismisses rumou?rs|rebuts|debunks)\b", " not "),
    (r"\bno (?:signs?|evidence|sight|risk|need) (?:of|that)\b", " not "),
    (r"\b(?:fails?|failed|failing|unable|refuses|refused) to\b", " setback not "),
    (r"\b(?:loses?|lost|losing) (?:its|their|his|a|the|grip)\b", " setback not "),
    (r"\bsends? (?:\w+ ){1,4}(?:lower|down)\b|\b(?:down|lower)\s*$", " falls "),
    (r"\bsends? (?:\w+ ){1,4}(?:higher|up)\b|\b(?:up|higher)\s*$", " rises "),
    (r"\bgives? (?:back|up) (?:its|their|all|most|the) [\w-]+", " gives back "),
    (r"\b(?:adds|adding|buys|buying) [\d,]+ (?:bitcoin|btc|ether|eth|coins|xxx+)", " buys "),
    (r"\bnot in sight\b|\bno [\w-]+ in sight\b|\bno relief\b", " setback "),
    (r"\b(?:up|adds?|gains?) (?:by )?\d+(?:[.,]\d+)?(?:%| percent)", " rises "),
    (r"\b(?:down|off|loses?|sheds?) (?:by )?\d+(?:[.,]\d+)?(?:%| percent)", " falls "),
    (r"\b(?:under|below|beneath) \$\d", " falls $"),
    (r"\b(?:above|over|past|tops|crosses|clears|reclaims) \$\d", " rises $"),
    (r"\braises? \$\d", " partnership $"),
    (r"\bloses? \$\d", " loses falls $"),
)
"""Patterns and the tokens they become, in this order."""

_TOKENS: Final = {"less_burden": RELIEF, "more_burden": SETBACK, "less_blessing": SETBACK, "setback": SETBACK}
_ASKED: Final = re.compile(
    r"\?\s*$|^(?:how|what|who|when|where|which|will|would|could|can|should|is|are|does|do|if|whether)\b|"
    r"\bexplained\b|\bexplains\b|:\s+(?:what|how)\b"
)
_MIXED: Final = re.compile(
    r"\bmixed\b|\bevenly matched\b|\bsome up\b|\bopinions differ\b|\bdisagree\b|\boffset\b|\bno effect\b|\bunchanged\b|"
    r"\blittle changed\b|\bhalf empty\b|\brise or fall\b|\bup or down\b"
)


class LexiconScorer:
    """Scores texts; made once (`lexicon_scorer`), because reading VADER's lexicon takes ten milliseconds."""

    def __init__(self) -> None:
        self._vader = SentimentIntensityAnalyzer()
        self._analyzer = SentimentIntensityAnalyzer()
        phrases: list[str] = []
        for term in TERMS:
            for variant in term.variants.split("/"):
                _weigh(self._analyzer.lexicon, _token(variant), term.weight)
                if _BLANKS.search(variant):
                    phrases.append(variant)
        self._analyzer.lexicon.update(_TOKENS)
        self._folds: Sequence[Callable[[str], str]] = (
            *(partial(re.compile(pattern).sub, token) for pattern, token in _TURNS),
            partial(_any_of(phrases).sub, lambda found: f" {_token(found[0])} "),
        )

    def score(self, text: str, names: Iterable[tuple[int, int]] = ()) -> float:
        """Score a text.

        Args:
            text: A headline or a sentence; only its first 600 characters are read.
            names: Where names stand in it, start and end: "Optimism" and "Harmony" are not praise then.

        Returns:
            -1 (bad for holders) to 1 (good for them), 4 decimals; 0 where nothing is said either way.
        """
        return self.scores(text, names)[0]

    def scores(self, text: str, names: Iterable[tuple[int, int]] = ()) -> tuple[float, float]:
        """Score a text by the lexicon, and by VADER alone; each as `score`."""
        read = mask_names(text[:LONGEST], names).lower().replace("\u2019", "'")
        vader = round(float(self._vader.polarity_scores(read)["compound"]), _DECIMALS)
        damped = _DAMPED if _ASKED.search(read) or _MIXED.search(read) else 1.0
        for fold in self._folds:
            read = fold(read)
        return round(float(self._analyzer.polarity_scores(read)["compound"]) * damped, _DECIMALS), vader


@cache
def lexicon_scorer() -> LexiconScorer:
    """The one scorer of this process, made when first used."""
    return LexiconScorer()


def _weigh(lexicon: dict[str, float], token: str, weight: float) -> None:
    """Set a weight; a silenced word is taken out, for VADER's boosters would lift a zero."""
    if weight:
        lexicon[token] = weight
    else:
        lexicon.pop(token, None)


def _token(phrase: str) -> str:
    return _BLANKS.sub("_", phrase.strip())


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of some phrases, the longest first; a blank matches blanks and hyphens."""
    ordered = sorted(phrases, key=len, reverse=True)
    return re.compile(
        r"(?<![\w$])(?:"
        + "|".join(r"[\s-]+".join(map(re.escape, _BLANKS.split(phrase))) for phrase in ordered)
        + r")(?!\w)"
    )


def mask_names(text: str, names: Iterable[tuple[int, int]]) -> str:
    """Replace names by `x`, so that no name is read as a word."""
    for start, end in names:
        text = text[:start] + "x" * (min(end, len(text)) - start) + text[end:]
    return text
