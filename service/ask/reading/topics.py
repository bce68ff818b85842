"""Which topics of the economy a question names, of those that what is said aloud is told apart by. Pure tables.

Only what names a topic plainly counts: whoever speaks about one uses far more words, and those are the tagger's.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from service.wire.transcripts import Macro

_SPOKEN: Final[Mapping[Macro, str]] = {
    "banking": "bank, banks, banking, bank runs, bank run",
    "dollar": "dollar, the dollar, dxy, dollar index",
    "elections": "election, elections, midterms",
    "energy": "energy, energy prices, opec, electricity",
    "etf": "etf, etfs",
    "fiscal": "fiscal, deficit, deficits, debt ceiling, national debt, government debt, treasuries, stimulus, budget",
    "geopolitics": "geopolitics, geopolitical, war, wars, sanctions",
    "growth": "growth, gdp, recession, economy, the economy, economic growth, soft landing",
    "inflation": "inflation, cpi, ppi, pce, deflation, disinflation, stagflation",
    "jobs": "jobs, employment, unemployment, payrolls, nfp, labor market, labour market, jobless claims",
    "liquidity": "liquidity, money supply, m2, quantitative easing, quantitative tightening, qe, qt, money printing",
    "rates": "interest rate, interest rates, rates, rate cut, rate cuts, rate hike, rate hikes, fed, fomc, powell, "
    "central banks, central bank, yields, monetary policy",
    "regulation": "regulation, regulations, regulators, regulatory, sec, cftc, genius act, clarity act, lawsuits",
    "trade": "tariff, tariffs, trade war, trade wars, trade deal, trade deals, trade policy, export controls",
}
_TOPICS: Final[Mapping[tuple[str, ...], Macro | None]] = {
    **{tuple(phrase.split()): topic for topic, phrases in _SPOKEN.items() for phrase in phrases.split(", ")},
    ("funding", "rates"): None,
    ("funding", "rate"): None,
    ("dollar", "terms"): None,
}
"""Words of a phrase → the topic; null: it is none, whatever its words are."""

_LONGEST: Final = max(map(len, _TOPICS))


def find_topics(words: Sequence[str]) -> tuple[Macro, ...]:
    """The topics that are named, each once, in the order in which they are.

    Args:
        words: Of a masked text.
    """
    found: dict[Macro, None] = {}
    at = 0
    while at < len(words):
        size = next((size for size in range(_LONGEST, 0, -1) if tuple(words[at : at + size]) in _TOPICS), 0)
        topic = _TOPICS[tuple(words[at : at + size])] if size else None
        if topic is not None:
            found.setdefault(topic)
        at += size or 1
    return tuple(found)
