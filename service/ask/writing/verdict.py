"""What the rules make of coins, why, and what would change it."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, joined
from service.ask.evidence import Found
from service.ask.figures import quote, signed_number
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import SIGNAL, ticker, verdict
from service.ask.writing.rules import EXPLANATION, flips, sided, table
from service.ask.writing.styles import Style

_FLIP: Final = "flip"
_FLIPS: Final = "flips-at"
"""What is asked about where somebody asks what would flip a verdict."""


def write(assignment: Assignment, draft: Draft) -> None:
    """The verdict first, then its reasons."""
    signals = assignment.evidence.all(SIGNAL)
    if signals:
        draft.say(*joined([verdict(signal) for signal in signals], "; "), ".")
    if len(signals) > 1 and not assignment.style.full and not assignment.classification.why:
        _beside(signals, assignment.style, draft)
    else:
        for signal in signals:
            _reason(signal, assignment, draft, several=len(signals) > 1)
    for term in ("verdict", "score", "confidence"):
        draft.explain(term)


def _reason(signal: Found, assignment: Assignment, draft: Draft, *, several: bool) -> None:
    style, why = assignment.style, assignment.classification.why
    asks_for_flips = assignment.entities.term == _FLIPS or assignment.entities.action == _FLIP
    if style.cautious or style.full:
        draft.say(ticker(signal), ": ", quote(signal, EXPLANATION))
    if style.full:
        table(signal, draft)
        return
    if style.cautious or asks_for_flips:
        flips(signal, draft)
    if asks_for_flips and not why:
        return
    if not style.terse or why:
        if several or style.cautious or asks_for_flips:
            draft.say("What counts for and against ", ticker(signal), ":")
        draft.items(_sentences(signal, style, everything=why))
        if not style.cautious and not asks_for_flips:
            flips(signal, draft)


def _beside(signals: Sequence[Found], style: Style, draft: Draft) -> None:
    """Several verdicts, briefly: by which rules they are what they are."""
    head = ("Coin", "Verdict", "Score", "Rules for it", "Rules against it")
    if not style.terse:
        draft.table(head, [_short(signal) for signal in signals])
    if style.cautious:
        draft.items((ticker(signal), ": ", quote(signal, EXPLANATION)) for signal in signals)


def _short(signal: Found) -> Sequence[Piece]:
    sides = [joined(sided(signal, sign)) or "none" for sign in (1, -1)]
    return ticker(signal), quote(signal, "/verdict"), signed_number(signal, "/score"), *sides


def _sentences(signal: Found, style: Style, *, everything: bool) -> Iterator[Piece]:
    """What counted, or with `everything` also what did not and what it comes to."""
    for index in range(signal.size("/rules")):
        if everything or signal.get(f"/rules/{index}/contribution"):
            yield quote(signal, f"/evidence/{signal.get(f'/rules/{index}/evidence')}")
    for index in range(signal.size("/rules"), signal.size("/evidence")):
        is_told = style.cautious and signal.get(f"/evidence/{index}") == signal.get(EXPLANATION)
        if not is_told:
            yield quote(signal, f"/evidence/{index}")
