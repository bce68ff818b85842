"""What coins cost."""

from service.ask.draft import Draft
from service.ask.figures import quote
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, funding, prices, say_units, trends


def write(assignment: Assignment, draft: Draft) -> None:
    """The prices first, then the trends they stand in."""
    coins = assignment.evidence.all(RISK)
    if not coins:
        return
    known = all(coin.get("/price") is not None for coin in coins)
    where = (": the mark price of the perpetual on ", quote(coins[0], "/venue")) if known else ()
    draft.say(prices(coins), where, ".")
    say_units(assignment.evidence, draft)
    if assignment.style.full:
        draft.items((quote(coin, "/symbol"), ": ", trends(coin), "; ", funding(coin), ".") for coin in coins)
    elif not assignment.style.terse and len(coins) == 1:
        draft.say("Its trend is ", trends(coins[0]), ".")
    draft.explain("price")
