"""How coins are doing: price, trends, funding, mood and verdict."""

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Evidence, Found
from service.ask.figures import quote
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import (
    RISK,
    SIGNAL,
    capital,
    correlation,
    funding,
    price,
    say_units,
    ticker,
    trends,
    verdict,
)
from service.ask.writing.comparison import compare
from service.ask.writing.rules import EXPLANATION, flips, table
from service.ask.writing.styles import Style


def write(assignment: Assignment, draft: Draft) -> None:
    """One coin in sentences, several in a table."""
    evidence, style = assignment.evidence, assignment.style
    coins = evidence.all(RISK)
    if len(coins) > 1:
        compare(evidence, style, draft)
        return
    for coin in coins:
        _tell(coin, evidence, style, draft)
    if not coins:
        for signal in evidence.all(SIGNAL):
            draft.say(verdict(signal), ".")
    for term in ("trend", "funding", "verdict"):
        draft.explain(term)


def _tell(coin: Found, evidence: Evidence, style: Style, draft: Draft) -> None:
    draft.say(bold(price(coin)), ", ", trends(coin), ".")
    signal = evidence.of(SIGNAL, str(coin.get("/symbol")))
    if signal is not None:
        draft.say(verdict(signal), ".")
        _rest(signal, style, draft)
    if style.terse:
        draft.say(capital(funding(coin)), ". Mood: ", quote(coin, "/sentiment_stance"), ".")
        return
    draft.say(capital(funding(coin)), ". ", correlation(coin), ".")
    draft.say(*mood(coin))
    say_units(evidence, draft)


def _rest(signal: Found, style: Style, draft: Draft) -> None:
    """What a verdict rests on, for whom that matters."""
    if style.cautious or style.full:
        draft.say(quote(signal, EXPLANATION))
    if style.full:
        table(signal, draft)
    elif style.cautious:
        flips(signal, draft)


def mood(coin: Found) -> tuple[Piece, ...]:
    """The stance on a coin, and what it rests on: the sentence of the result."""
    if coin.get("/sentiment_stance") is None:
        return ("Nothing is known of the mood on ", ticker(coin), ".")
    summary = coin.get("/sentiment_summary") is not None
    rests: Piece = (" ", quote(coin, "/sentiment_summary")) if summary else ""
    return ("The mood on ", ticker(coin), " is ", quote(coin, "/sentiment_stance"), ".", rests)
