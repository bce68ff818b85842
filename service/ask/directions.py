"""Words that say the sign of a figure: which way something went, and who pays whom."""

import re
from typing import Final, Literal

Way = Literal[-1, 0, 1]

_LESS: Final = (
    "down|fell|falls?|fallen|falling|lost|loses?|losing|drop(?:s|ped|ping)?|declin(?:es?|ed|ing)|decreas(?:es?|ed|ing)"
    "|below|under|behind|minus|negative|loss|losses|lower|less|slid|slides?|sank|shed|sheds|trails?|trailing|trailed"
    "|shrank|weaker|plunged|crashed|tumbled|dipped|retreated|slipped|worse|drawdown"
)
_MORE: Final = (
    "up|rose|rises?|risen|rising|gain(?:s|ed|ing)?|climb(?:s|ed|ing)?|higher|above|ahead|plus|positive"
    "|increas(?:es?|ed|ing)|jumped|surged|rallied|grew|grown|grows|advanced|added|soared|leads|leading|stronger|better"
)
_WAY: Final = re.compile(rf"\b(?:(?P<less>{_LESS})|(?P<more>{_MORE}))\b", re.IGNORECASE)
_SIDES: Final = re.compile(
    r"\b(?P<side>longs?|shorts?)\b(?P<between>(?:[^.;]|\.(?=\d)){0,60}?)\b"
    r"(?:(?P<pay>pay|pays|paid|paying|costs?|owes?)|(?P<take>receives?|received|receiving|earns?|earned|collects?|gets?))\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"\b(?:not|never|no longer|n't|don't|doesn't)\b", re.IGNORECASE)


def way(clause: str, at: int) -> Way:
    """Which way the words around a figure say it goes.

    Args:
        clause: The words around it.
        at: Where in them the figure begins.

    Returns:
        -1 down, 1 up, by the nearest such word before the figure, else after it; 0 where there is none. States of a
        trend (`UP`, `DOWN`) are no such words.
    """
    words = [found for found in _WAY.finditer(clause) if not found.group().isupper()]
    before = [found for found in words if found.start() < at]
    nearest = before[-1] if before else next(iter(words), None)
    if nearest is None:
        return 0
    return -1 if nearest["less"] else 1


def payer(clause: str) -> Way:
    """Who is said to pay: 1 longs, -1 shorts, 0 where nobody is, or where it is denied."""
    found = _SIDES.search(clause)
    if found is None or _NOT.search(found["between"]):
        return 0
    side: Way = 1 if found["side"].lower().startswith("long") else -1
    if found["take"]:
        return 1 if side < 0 else -1
    return side
