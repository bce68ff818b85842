"""Which way coins are going, and since when."""

from service.ask.draft import Draft, bold
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, price, say_units, ticker, trend, trends

_BOTH = ("daily", "weekly")


def write(assignment: Assignment, draft: Draft) -> None:
    """The trend that is asked for first, then the other one and the price."""
    coins = assignment.evidence.all(RISK)
    asked = assignment.entities.timeframe
    for coin in coins:
        if asked is None:
            draft.say(bold(ticker(coin), ": ", trends(coin)), ".")
        else:
            other = _BOTH[1 - _BOTH.index(asked)]
            draft.say(bold(ticker(coin), ": ", trend(coin, asked)), "; ", trend(coin, other), ".")
    if not assignment.style.terse:
        for coin in coins:
            draft.say(price(coin), ".")
        say_units(assignment.evidence, draft)
    for term in ("trend", "hodl"):
        draft.explain(term)
