"""The rules that a verdict is made of: what each looked at, what that added, and where it would be another."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.ask.draft import Draft, Piece
from service.ask.evidence import Found
from service.ask.figures import field, quote, shown, signed_number
from service.ask.writing.coin import ticker

EXPLANATION: Final = "/confidence_basis/explanation"
_HEAD: Final = ("Value", "Threshold", "Contribution to the score", "Flips at")


def table(signal: Found, draft: Draft) -> None:
    """Every rule in a row."""
    draft.table((ticker(signal), *_HEAD), _rows(signal))


def flips(signal: Found, draft: Draft) -> None:
    """The inputs at whose next bound the score would be another."""
    known = [rule for rule in _rules(signal) if signal.get(f"{rule}/flips_at") is not None]
    if known:
        draft.say("The score of ", ticker(signal), " would change if:")
        draft.items(
            (field(signal, str(signal.get(f"{rule}/input"))), " turned to ", shown(signal, f"{rule}/flips_at"))
            for rule in known
        )


def sided(signal: Found, sign: int) -> list[Piece]:
    """The names of the rules that count for (1) or against (-1) a coin."""
    rules = [rule for rule in _rules(signal) if (signal.get(f"{rule}/contribution") or 0) * sign > 0]
    return [quote(signal, f"{rule}/id") for rule in rules]


def _rules(signal: Found) -> list[str]:
    return [f"/rules/{index}" for index in range(signal.size("/rules"))]


def _rows(signal: Found) -> Iterator[Sequence[Piece]]:
    for rule in _rules(signal):
        contribution = signed_number(signal, f"{rule}/contribution")
        figures = (shown(signal, f"{rule}/value"), shown(signal, f"{rule}/threshold"))
        yield (quote(signal, f"{rule}/id"), *figures, contribution, shown(signal, f"{rule}/flips_at"))
