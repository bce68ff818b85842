"""How verdicts turned out."""

from collections.abc import Iterator, Sequence

from service.ask.draft import Draft, Piece, bold
from service.ask.evidence import Found
from service.ask.figures import count, days, quote, share, signed
from service.ask.writing.assignment import Assignment
from service.ask.writing.coin import SIGNAL, ticker

_HEAD = ("Horizon", "Days", "Outcomes", "Hit rate", "From", "To", "Base rate", "Mean change")
_RECORDS = (("live", "live"), ("backtested", "recomputed from past bars"))


def write(assignment: Assignment, draft: Draft) -> None:
    """What became of verdicts of the same kind, of all coins and of this one."""
    for signal in assignment.evidence.all(SIGNAL):
        if signal.get("/record") is None:
            draft.say(bold("No track record is known of ", ticker(signal), "'s verdict"), ".")
            continue
        label = bold(quote(signal, "/verdict"))
        for name, told in _RECORDS:
            if signal.get(f"/record/{name}") is None:
                continue
            draft.say(
                "What became of verdicts that are ",
                label,
                ", as ",
                ticker(signal),
                "'s is now, ",
                told,
                ", of all coins:",
            )
            draft.items(_says(signal, f"{name}/all_coins"))
            if assignment.entities.coins or assignment.style.full:
                draft.say("On ", ticker(signal), " alone:")
                draft.items(_says(signal, f"{name}/this_coin"))
            if assignment.style.full:
                draft.table(_HEAD, _rows(signal, f"{name}/all_coins"))
        if not assignment.style.terse:
            draft.say("What the verdict claims:")
            draft.items(_claims(signal))
    draft.explain("track-record")


def _claims(signal: Found) -> Iterator[Piece]:
    for index in range(signal.size("/claims")):
        claim = f"/claims/{index}"
        if signal.get(f"{claim}/probability") is None:
            yield quote(signal, f"{claim}/reason")
        else:
            told = quote(signal, f"{claim}/target"), " after ", days(signal, f"{claim}/days"), ": "
            yield *told, share(signal, f"{claim}/probability"), ", base rate ", share(signal, f"{claim}/base_rate")


def _says(signal: Found, of: str) -> Iterator[Piece]:
    for index in range(signal.size(f"/record/{of}")):
        yield quote(signal, f"/record/{of}/{index}/says")


def _rows(signal: Found, of: str) -> Iterator[Sequence[Piece]]:
    for index in range(signal.size(f"/record/{of}")):
        row = f"/record/{of}/{index}"
        rates = [share(signal, f"{row}/{name}") for name in ("hit_rate", "hit_rate_low", "hit_rate_high", "base_rate")]
        seen = count(signal, f"{row}/days_seen"), count(signal, f"{row}/outcomes")
        yield days(signal, f"{row}/days"), *seen, *rates, signed(signal, f"{row}/mean_move_pct")
