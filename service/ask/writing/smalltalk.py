"""A word back to who greets or thanks."""

from service.ask.draft import Draft
from service.ask.writing.assignment import Assignment


def write(assignment: Assignment, draft: Draft) -> None:
    """Be brief, and say how to go on."""
    draft.say(
        "" if assignment.style.terse else "Hello, and glad to be of use. ",
        "Ask me about a coin, a category, a stock or the market: “how is BTC doing”, say, or “help” for more.",
    )
