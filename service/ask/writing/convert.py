"""What an amount is worth, and what it buys."""

from service.ask.draft import Draft, bold
from service.ask.evidence import Found
from service.ask.figures import cents, quantity, quote, usd
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import say_units, ticker

_VALUE = "compute.value"


def write(assignment: Assignment, draft: Draft) -> None:
    """The result first, then the prices it follows from."""
    for value in assignment.evidence.all(_VALUE):
        _tell(value, draft)
    say_units(assignment.evidence, draft)


def _tell(value: Found, draft: Draft) -> None:
    unit, symbol = value.get("/unit"), value.get("/symbol")
    if value.get("/price") is None or (unit != symbol and value.get("/quantity") is None):
        draft.say(bold("That cannot be said"), ": a price is not known, of ", ticker(value), " or of what pays for it.")
    elif unit == "USD":
        bought = bold(cents(value, "/amount"), " buys ", quantity(value, "/quantity"), " ", ticker(value))
        draft.say(bought, " at ", usd(value, "/price"), ", the mark price of ", ticker(value), ", before any cost.")
    elif unit == symbol:
        worth = bold(quantity(value, "/amount"), " ", ticker(value), " is worth ", cents(value, "/usd"))
        draft.say(worth, " at ", usd(value, "/price"), ", the mark price of ", ticker(value), ".")
    else:
        paid = (quantity(value, "/amount"), " ", quote(value, "/unit"))
        draft.say(bold(*paid, " buys ", quantity(value, "/quantity"), " ", ticker(value)), ", before any cost.")
        draft.say("The price of ", quote(value, "/unit"), " is ", usd(value, "/unit_price"), ".")
        draft.say("The price of ", ticker(value), " is ", usd(value, "/price"), ".")
