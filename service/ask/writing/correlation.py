"""How closely coins follow BTC."""

from service.ask.draft import Draft, bold
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, correlation


def write(assignment: Assignment, draft: Draft) -> None:
    """The correlation first, then what it is measured by."""
    coins = assignment.evidence.all(RISK)
    for coin in coins:
        draft.say(bold(correlation(coin)), ".")
    if coins and not assignment.style.terse:
        draft.say("It is Pearson's, over the daily log returns of the latest closed days that both have in common.")
    draft.explain("btc-correlation")
