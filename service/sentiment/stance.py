"""Stances, by the rules published in the package's docstring: pure, no I/O, no clock."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from service.wire.market import Stance

SURGE_7D: Final = 15.0
SURGE_24H: Final = 8.0
FLAT_7D: Final = 2.0
WARM: Final = 0.15
HOT: Final = 0.35
TURN: Final = 0.2
PAID_WARM: Final = 20.0
PAID_HOT: Final = 40.0
PAID_COLD: Final = -20.0
GREED: Final = 75
FEAR: Final = 25
BUSY: Final = 1.2
ENOUGH: Final = 2
EXTREME: Final = 3


class NewsTone(Struct, frozen=True):
    """What was written: `score` -1 to 1, its change over 24 hours, items of the last seven days. Null: nothing was."""

    score: float | None = None
    slope_24h: float | None = None
    mentions: int = 0


class Trading(Struct, frozen=True):
    """How a coin trades; every figure may be unknown.

    Attributes:
        title: What people call it ("Chainlink").
        change_24h: Percent over 24 hours.
        change_7d: Percent over seven days.
        funding_apr: Percent a year; positive: longs pay.
        volume_ratio: Volume of 24 hours over that of a usual day.
        observed_ms: When the price was observed.
        units: How many coins the venue trades as one.
    """

    title: str = ""
    change_24h: float | None = None
    change_7d: float | None = None
    funding_apr: float | None = None
    volume_ratio: float | None = None
    observed_ms: int | None = None
    units: int = 1


class Judgement(NamedTuple):
    """A stance, the rule that gave it in a few words, and one sentence with the figures it rests on."""

    stance: Stance
    reason: str
    summary: str


def judge(news: NewsTone, view: Trading, fear_greed: int | None) -> Judgement:
    """Take a stance.

    Args:
        news: What was written about it.
        view: How it trades.
        fear_greed: The market's index, 0 to 100.

    Returns:
        The first rule that holds, in the order of the package's docstring.
    """
    stance, reason = _first_rule(news, view, crowd(news, view, fear_greed))
    figures = ", ".join(_figures(news, view, fear_greed)) or "nothing is known"
    return Judgement(stance, reason, f"{stance.capitalize()}: {reason} ({figures}).")


def crowd(news: NewsTone, view: Trading, fear_greed: int | None) -> int:
    """How the crowd leans, from -5 (fear) to 5 (greed): points of news, funding and the market's index."""
    points = 0
    if news.score is not None:
        points += (news.score >= WARM) + (news.score >= HOT) - (news.score <= -WARM) - (news.score <= -HOT)
    if view.funding_apr is not None:
        paid = view.funding_apr
        points += (paid >= PAID_WARM) + (paid >= PAID_HOT) - (paid < 0) - (paid <= PAID_COLD)
    if fear_greed is not None:
        points += (fear_greed >= GREED) - (fear_greed <= FEAR)
    return points


def _first_rule(news: NewsTone, view: Trading, lean: int) -> tuple[Stance, str]:
    day, week = view.change_24h, view.change_7d
    if day is None and week is None:
        return "neutral", "no price to set it against"
    rising = (week or 0.0) >= SURGE_7D or (day or 0.0) >= SURGE_24H
    falling = (week or 0.0) <= -SURGE_7D or (day or 0.0) <= -SURGE_24H
    slope = news.slope_24h or 0.0
    if (week or 0.0) >= SURGE_7D and ((day or 0.0) < 0 or slope <= -TURN):
        return "exhaustion", "a steep rise is running out of breath"
    if (week or 0.0) <= -SURGE_7D and ((day or 0.0) > 0 or slope >= TURN):
        return "exhaustion", "a steep fall is running out of sellers"
    if rising and lean >= EXTREME:
        return "euphoria", "a steep rise, and the crowd pays to be part of it"
    if falling and lean <= -ENOUGH:
        return "capitulation", "a steep fall, and the crowd has given up"
    return _quiet_rule(view, lean, rising=rising, falling=falling)


def _quiet_rule(view: Trading, lean: int, *, rising: bool, falling: bool) -> tuple[Stance, str]:
    move = view.change_7d if view.change_7d is not None else view.change_24h or 0.0
    busy = view.volume_ratio is not None and view.volume_ratio >= BUSY
    if move <= FLAT_7D and lean >= ENOUGH:
        return "distribution", "the crowd is eager and the price does not follow"
    if move >= -FLAT_7D and lean <= -ENOUGH:
        return "accumulation", "the crowd is afraid and the price holds"
    if busy and move < -FLAT_7D and lean >= 0 and not falling:
        return "distribution", "a quiet fall on heavy volume while nobody is alarmed"
    if busy and move > FLAT_7D and lean <= 0 and not rising:
        return "accumulation", "a quiet rise on heavy volume while nobody is excited"
    return "neutral", "crowd and price do not disagree"


def _figures(news: NewsTone, view: Trading, fear_greed: int | None) -> Iterator[str]:
    if news.score is not None:
        items = "item" if news.mentions == 1 else "items"
        yield f"news {news.score:+z.2f} from {news.mentions} {items} in 7 days"
    else:
        yield "no news in 7 days"
    if view.change_24h is not None:
        yield f"price {view.change_24h:+z.1f} % in 24 h"
    if view.change_7d is not None:
        yield f"price {view.change_7d:+z.1f} % in 7 days"
    if view.funding_apr is not None:
        yield f"funding {view.funding_apr:+z.1f} % a year"
    if view.volume_ratio is not None:
        yield f"volume {view.volume_ratio:.1f} times the usual"
    if fear_greed is not None:
        yield f"Fear & Greed {fear_greed}"
