"""What the words between the names ask of them: by what, which way, in which state, on which chart. Pure tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeVar

from service.ask.glossary import TERMS
from service.ask.reading.words import bag
from service.wire.ask import Order, Side, Timeframe

Meaning = TypeVar("Meaning", bound=str)
Phrases = Mapping[tuple[str, ...], Meaning]
Trend = Literal["UP", "HODL", "DOWN"]


def _phrases(table: Mapping[Meaning, str]) -> Phrases[Meaning]:
    """Phrases, separated by commas, by what they mean → what they mean, by their words."""
    return {
        tuple(phrase.split()): meaning
        for meaning, phrases in table.items()
        for phrase in phrases.split(",")
        if phrase.strip()
    }


METRICS: Final = _phrases(
    {
        "funding_apr": """
            funding, funding rate, funding rates, fundings, funding apr, apr, carry, pays most, pay most, pays the
            most, pay the most, pays least, paying most, paying the most, negative funding, longs pay, shorts pay
        """,
        "open_interest_usd": "open interest, oi, open positions, most leveraged, largest positions",
        "volume_usd": """
            volume, volumes, traded, trading volume, most active, turnover, liquid, liquidity, by vol, active
        """,
        "btc_correlation": """
            correlated, correlation, correlations, uncorrelated, decoupled, decouple, decoupling, independent,
            correlates, moves with, move with, follow, follows, unrelated, nothing to do with, dont track, dont follow,
            doesnt follow, dont move with, doesnt move with, not move with, not follow, not correlated
        """,
        "change_24h": """
            gainer, gainers, loser, losers, gain, gained, gains, gaining, lost, loss, losses, losing, mover, movers,
            pumping, pumped, dumping, dumped, change, performing, performer, performers, performance, up most,
            up the most, down most, down the most, dropped, dropping, drop, drops, fell, fallen, rallied, rallying,
            best coins, worst coins, winners, winner, mooning, crashed, crashing, outperforming, underperforming,
            dumpers, decliners, sinkers, fallers, plunging, plunged, tumbling, tumbled, sliding, slid, sank, pumpers,
            climbers, risers, surging, surged, soared, moved, strongest, weakest, hottest, laggards, bleeding, tanking,
            ripping, soaring, tanked, rose, risen
        """,
        "price": "price, prices, priced, expensive, cheap, cheapest, priciest, unit price",
    }
)
ORDERS: Final[Phrases[Order]] = _phrases(
    {
        "least": """
            least, lowest, smallest, worst, bottom, loser, losers, weakest, most negative, biggest drop, biggest drops,
            biggest losers, top losers, biggest loser, negative funding, cheapest, fewest, dumping, dumped, dropped,
            fell, fallen, down most, down the most, lost, losing, crashed, crashing, bleeding, laggards, tanking,
            tanked, dumpers, decliners, sinkers, fallers, plunging, plunged, tumbling, tumbled, sliding, slid, sank,
            uncorrelated, decoupled, underperforming, most decoupled, dont move with, doesnt move with, not move with,
            dont follow, doesnt follow, not follow, dont track, not correlated, unrelated, nothing to do with,
            shorts pay, shorts paying, shorts are paying, longs get paid, longs are paid, longs earn, minimum, deepest,
            underperformers, least expensive, most uncorrelated, biggest decline, independent, worst performing,
            biggest declines, biggest dips, most bleeding, down bad, lost the most, losing the most, dropped the most,
            fell the most, most independent, drop, drops, the least
        """,
        "most": """
            most, highest, top, biggest, largest, best, gainer, gainers, strongest, greatest, hottest, maximum, max,
            pumping, pumped, winners, priciest, most positive, up most, up the most, mooning, leaders,
            outperforming, longs pay, most correlated, most expensive, most traded, most active, rallied, rallying,
            gained, ripping, soaring, pumpers, climbers, risers, surging, surged, soared
        """,
    }
)
_MUCH: Final = frozenset({("most",), ("top",), ("biggest",), ("largest",), ("greatest",), ("steepest",), ("hardest",)})
TRENDS: Final[Phrases[Trend]] = _phrases(
    {
        "UP": """
            uptrend, uptrends, uptrending, going up, trending up, trend up, up trend, trending higher, moving up, up
            weekly, up daily, are up, rising, climbing, in uptrend, trending upward, trending upwards, turned up, up
            on the weekly, heading up, up on the daily, upward trend, daily up, weekly up
        """,
        "DOWN": """
            downtrend, downtrends, downtrending, going down, trending down, trend down, down trend, trending lower,
            moving down, down weekly, down daily, are down, falling, declining, in downtrend, trending downward,
            turned down, heading down, down on the weekly, down on the daily, downward trend, daily down, weekly
            down
        """,
        "HODL": "hodl, sideways, ranging, flat, no trend, trendless, undecided, chopping",
    }
)
FRAMES: Final[Phrases[Timeframe]] = _phrases(
    {
        "weekly": "weekly, 1w chart, week chart, 1w trend, higher timeframe, htf, weeklies",
        "daily": "daily, 1d chart, day chart, 1d trend, dailies",
    }
)
TYPES: Final = _phrases(
    {
        "equity": "stock, stocks, equity, equities, shares, share, stonks, stonk, companies",
        "etf": "etf, etfs, funds",
        "metal": "metal, metals, precious metals",
        "commodity": "commodity, commodities, energy",
        "index": "index, indices, indexes, stock index, stock indices, stock indexes",
        "fx": "fx, forex, currency, currencies, currency pairs, fx pairs, foreign exchange",
    }
)
_LONG: Final = frozenset({"long", "longing", "longed", "longs"})
_SHORT: Final = frozenset({"short", "shorting", "shorted", "shorts"})
_NO_SIDE_AFTER: Final = bag(
    """
    term ago answer answers as do does did has have is are was will until before version summary
    """
)
_NO_SIDE_BEFORE: Final = frozenset({"how", "as", "in", "before", "too", "so", "very", "that"})
_WORDS_TOO: Final = frozenset({"up", "down", "long", "short", "price", "question", "rule", "exposure"})
"""Terms that are said without being asked about."""
_TERMS: Final = {
    tuple(name.replace("-", " ").split()): key for key, term in TERMS.items() for name in (key, *term.synonyms)
}
SPOKEN: Final = frozenset(
    word for phrases in (METRICS, ORDERS, TRENDS, FRAMES, TYPES, _TERMS) for phrase in phrases for word in phrase
)
"""Every word that means something here."""


class Traits(NamedTuple):
    """What is asked of what is named; null where nothing is said."""

    metric: str | None
    order: Order | None
    trend: Trend | None
    timeframe: Timeframe | None
    type: str | None
    side: Side | None
    term: str | None


def find_traits(words: Sequence[str]) -> Traits:
    """Read the words of a masked text."""
    order, trend, frame = _order(words), _first(words, TRENDS), _only(words, FRAMES)
    return Traits(
        metric=_metric(words),
        order=order,
        trend=trend,
        timeframe=frame,
        type=_last(words, TYPES),
        side=_side(words),
        term=_term(words),
    )


def _hits(words: Sequence[str], phrases: Phrases[Meaning]) -> Iterable[tuple[int, int, Meaning]]:
    """Where phrases stand: the longest at each word, none within another."""
    longest = max(map(len, phrases))
    at = 0
    while at < len(words):
        for size in range(min(longest, len(words) - at), 0, -1):
            meaning = phrases.get(tuple(words[at : at + size]))
            if meaning is not None:
                yield at, size, meaning
                at += size
                break
        else:
            at += 1


def _first(words: Sequence[str], phrases: Phrases[Meaning]) -> Meaning | None:
    return next((meaning for _, _, meaning in _hits(words, phrases)), None)


def _last(words: Sequence[str], phrases: Phrases[Meaning]) -> Meaning | None:
    return next((meaning for _, _, meaning in reversed([*_hits(words, phrases)])), None)


def _only(words: Sequence[str], phrases: Phrases[Meaning]) -> Meaning | None:
    """What is meant where all phrases mean the same."""
    meant = {meaning for _, _, meaning in _hits(words, phrases)}
    return meant.pop() if len(meant) == 1 else None


def _order(words: Sequence[str]) -> Order | None:
    """Which end is wanted: what says a direction goes before what says only much of it ("the biggest dumpers")."""
    hits = [(meaning, tuple(words[at : at + size])) for at, size, meaning in _hits(words, ORDERS)]
    sure = [meaning for meaning, said in hits if said not in _MUCH]
    return next(iter([*sure, *(meaning for meaning, _ in hits)]), None)


def _term(words: Sequence[str]) -> str | None:
    """The word to be explained: the longest, and of equals one that is nothing but a term."""
    hits = [*_hits(words, _TERMS)]
    return max(hits, key=lambda hit: (hit[1], hit[2] not in _WORDS_TOO))[2] if hits else None


def _metric(words: Sequence[str]) -> str | None:
    """The metric that is named most surely: "price" and "change" give way to what is said beside them."""
    meant = [meaning for _, _, meaning in _hits(words, METRICS)]
    for metric in ("funding_apr", "open_interest_usd", "volume_usd", "btc_correlation", "change_24h", "price"):
        if metric in meant:
            return metric
    return None


def _side(words: Sequence[str]) -> Side | None:
    long = any(_is_side(words, at, _LONG) for at in range(len(words)))
    short = any(_is_side(words, at, _SHORT) for at in range(len(words)))
    if long == short:
        return None
    return "long" if long else "short"


def _is_side(words: Sequence[str], at: int, side: frozenset[str]) -> bool:
    after = words[at + 1] if at + 1 < len(words) else ""
    before = words[at - 1] if at else ""
    return words[at] in side and after not in _NO_SIDE_AFTER and before not in _NO_SIDE_BEFORE
