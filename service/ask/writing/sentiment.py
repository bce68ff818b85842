"""The mood on coins."""

from service.ask.draft import Draft, bold
from service.ask.figures import quote
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import RISK, ticker


def write(assignment: Assignment, draft: Draft) -> None:
    """The stance first, then the sentence that says what it rests on."""
    for coin in assignment.evidence.all(RISK):
        if coin.get("/sentiment_stance") is None:
            draft.say(bold("Nothing is known of the mood on ", ticker(coin)), ".")
            continue
        stance = bold("The mood on ", ticker(coin), " is ", quote(coin, "/sentiment_stance"))
        summary = coin.get("/sentiment_summary") is not None
        draft.say(stance, ". ", quote(coin, "/sentiment_summary") if summary else "")
        if coin.get("/sentiment_stance") != "neutral":
            draft.explain(str(coin.get("/sentiment_stance")))
    draft.explain("sentiment")
