"""Who pays whom for holding coins, and how much."""

from service.ask.draft import Draft, bold
from service.ask.figures import quote, signed
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, capital, funding, ticker


def write(assignment: Assignment, draft: Draft) -> None:
    """Who pays and the rate first; several coins in a table as well."""
    coins = assignment.evidence.all(RISK)
    for coin in coins:
        draft.say(bold(capital(funding(coin))), ".")
    if len(coins) > 1 or (assignment.style.full and coins):
        head = ("Coin", "Funding a year", "Long receives a year", "Short receives a year")
        fields = ("/funding_apr", "/carry_if_long", "/carry_if_short")
        draft.table(head, ((ticker(coin), *(signed(coin, field) for field in fields)) for coin in coins))
    elif coins and not assignment.style.terse:
        venue = quote(coins[0], "/venue")
        draft.say("It is the simple yearly rate of the perpetual on ", venue, ": for an hour, one hour's part of it.")
    draft.explain("funding")
