"""What the rules make of coins, why, and what would change it."""

from collections.abc import Iterator, Sequence

from service.ask.draft import Draft, Piece, joined
from service.ask.evidence import Found
from service.ask.figures import field, quote, shown, signed_number
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import SIGNAL, ticker
from service.ask.writing.overview import verdict
from service.ask.writing.styles import Style

_EXPLANATION = "/confidence_basis/explanation"


def write(assignment: Assignment, draft: Draft) -> None:
    """The verdict first, then its reasons."""
    signals = assignment.evidence.all(SIGNAL)
    if signals:
        draft.say(*joined([verdict(signal) for signal in signals], "; "), ".")
    for signal in signals:
        _reason(signal, assignment, draft, several=len(signals) > 1)
    for term in ("verdict", "score", "confidence"):
        draft.explain(term)


def _reason(signal: Found, assignment: Assignment, draft: Draft, *, several: bool) -> None:
    style = assignment.style
    if style.cautious:
        draft.say(ticker(signal), ": ", quote(signal, _EXPLANATION))
    if style.full:
        draft.table((ticker(signal), "Value", "Threshold", "Contribution to the score", "Flips at"), _rows(signal))
    elif not style.terse or assignment.classification.why:
        if several:
            draft.say("What counts for and against ", ticker(signal), ":")
        draft.items(_sentences(signal, style, everything=assignment.classification.why))
    if not style.full and (not style.terse or assignment.classification.why):
        _flip(signal, draft)


def _sentences(signal: Found, style: Style, *, everything: bool) -> Iterator[Piece]:
    """What counted, or with `everything` also what did not and what it comes to."""
    for index in range(signal.size("/rules")):
        if everything or signal.get(f"/rules/{index}/contribution"):
            yield quote(signal, f"/evidence/{signal.get(f'/rules/{index}/evidence')}")
    for index in range(signal.size("/rules"), signal.size("/evidence")):
        is_told = style.cautious and signal.get(f"/evidence/{index}") == signal.get(_EXPLANATION)
        if not is_told:
            yield quote(signal, f"/evidence/{index}")


def _rows(signal: Found) -> Iterator[Sequence[Piece]]:
    for index in range(signal.size("/rules")):
        rule = f"/rules/{index}"
        contribution = signed_number(signal, f"{rule}/contribution")
        figures = (shown(signal, f"{rule}/value"), shown(signal, f"{rule}/threshold"))
        yield (quote(signal, f"{rule}/id"), *figures, contribution, shown(signal, f"{rule}/flips_at"))


def _flip(signal: Found, draft: Draft) -> None:
    """The inputs at whose next bound the score would be another."""
    rules = [f"/rules/{index}" for index in range(signal.size("/rules"))]
    known = [rule for rule in rules if signal.get(f"{rule}/flips_at") is not None]
    if known:
        draft.say("The score of ", ticker(signal), " would change if:")
        draft.items(
            (field(signal, str(signal.get(f"{rule}/input"))), " turned to ", shown(signal, f"{rule}/flips_at"))
            for rule in known
        )
