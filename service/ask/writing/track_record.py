"""How verdicts turned out."""

from collections.abc import Iterator, Sequence

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, days, number, quote, share, signed
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import SIGNAL, ticker

_HEAD = ("Horizon", "Outcomes", "Hit rate", "Base rate", "Brier score", "Mean change")


def write(assignment: Assignment, draft: Draft) -> None:
    """What became of verdicts of the same kind, of all coins and of this one."""
    for signal in assignment.evidence.all(SIGNAL):
        if signal.get("/track_record") is None:
            draft.say(bold("No track record is known of ", ticker(signal), "'s verdict"), ".")
            continue
        label = bold(quote(signal, "/verdict"))
        draft.say("What became of verdicts that are ", label, ", as ", ticker(signal), "'s is now, of all coins:")
        draft.items(_says(signal, "all_coins"))
        if assignment.entities.coins or assignment.style.full:
            draft.say("On ", ticker(signal), " alone:")
            draft.items(_says(signal, "this_coin"))
        if assignment.style.full:
            draft.table(_HEAD, _rows(signal, "all_coins"))
        if not assignment.style.terse:
            draft.say("The verdict claims no probability that ", ticker(signal), "'s price rises.")
    for term in ("track-record", "brier"):
        draft.explain(term)


def _says(signal: Found, of: str) -> Iterator[Piece]:
    for index in range(signal.size(f"/track_record/{of}")):
        yield quote(signal, f"/track_record/{of}/{index}/says")


def _rows(signal: Found, of: str) -> Iterator[Sequence[Piece]]:
    for index in range(signal.size(f"/track_record/{of}")):
        row = f"/track_record/{of}/{index}"
        rates = (share(signal, f"{row}/hit_rate"), share(signal, f"{row}/base_rate"))
        scores = (number(signal, f"{row}/brier"), signed(signal, f"{row}/mean_move_pct"))
        yield days(signal, f"{row}/days"), count(signal, f"{row}/outcomes"), *rates, *scores
