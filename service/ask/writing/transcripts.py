"""What is said aloud: quotes, word for word, with who said them and where."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Evidence, Found
from service.ask.figures import count, counted, date, length, place, quote, said, since
from service.ask.writing import sound
from service.ask.writing.assignment import Assignment

TOOL: Final = "transcripts"
_NARROWS: Final = ("coin", "sector", "macro")
_HEAD: Final = ("Show", "Kind", "Language", "Episodes read", "Newest episode", "Status")
_SOMEBODY: Final = "Somebody"

Shows = Mapping[str, tuple[Found, str]]
"""Where the followed shows stand in the results, by their ids."""


def write(assignment: Assignment, draft: Draft) -> None:
    """Quote what was said of each thing that was asked about, and name the shows that are followed."""
    evidence = assignment.evidence
    found = evidence.all(TOOL)
    told = [each for each in found if each.get("/highlights") is not None]
    listings = [each for each in found if each.get("/sources") is not None]
    if listings and not any(each.size("/sources") for each in listings):
        draft.say(bold("No podcasts or videos are followed here"), ": the operator of this service has listed none.")
        return
    shows = {str(each.get(f"{row}/id")): (each, row) for each in listings for row in _rows(each, "/sources")}
    whole = [_quote_all(each, assignment, shows, draft) for each in told]
    if not all(whole):
        draft.say("A part of what was said is left out: it could not be quoted safely.")
    if any(each.size("/highlights") for each in told) and not assignment.style.terse:
        draft.say("These are the words of those who spoke, not of this service.")
    if told:
        _untold(assignment, draft)
        _followed(evidence, shows, draft)
    else:
        for each in listings:
            _list(each, evidence, draft)


def _rows(found: Found, of: str) -> list[str]:
    return [f"{of}/{index}" for index in range(found.size(of))]


def _quote_all(found: Found, assignment: Assignment, shows: Shows, draft: Draft) -> bool:
    """Quote one result; say whether all of it could be."""
    rows = _rows(found, "/highlights")
    of, when = _about(found), (" since ", since(found)) if found.args.get("since") else ()
    if not rows:
        draft.say(bold("Nothing was said", *of), " in what is followed", *when, ".")
        return True
    draft.say(bold(counted(found, "/meta/total", "passage", "passages"), *of), *when, ", the newest episodes first:")
    items = _sound(found, rows, assignment, shows)
    draft.items(items)
    return len(items) == len(rows)


def _about(found: Found) -> Sequence[Piece]:
    """` on SOL`: what a result was narrowed down to."""
    name = next((str(found.args[key]) for key in _NARROWS if key in found.args), None)
    if name is None:
        return ()
    coins = "/highlights/0/coins"
    named = (f"{coins}/{index}" for index in range(found.size(coins)))
    return " on ", next((quote(found, at) for at in named if found.get(at) == name), said(name))


def _sound(found: Found, rows: Sequence[str], assignment: Assignment, shows: Shows) -> list[Piece]:
    """Passages as they may be quoted: with their speaker, without one whose name cannot be told, or not at all."""

    def compose(draft: Draft, some: Sequence[tuple[str, Piece]]) -> None:
        draft.items(_item(found, row, who, assignment, shows) for row, who in some)

    told: dict[str, Piece] = {}
    for name in (_speaker, _nobody):
        some = [(row, name(found, row)) for row in rows if row not in told]
        told |= dict(sound.kept(assignment.evidence, some, compose))
    return [_item(found, row, told[row], assignment, shows) for row in rows if row in told]


def _speaker(found: Found, row: str) -> Piece:
    return _nobody(found, row) if found.get(f"{row}/speaker") is None else quote(found, f"{row}/speaker")


def _nobody(_found: Found, _row: str) -> Piece:
    return _SOMEBODY


def _item(found: Found, row: str, who: Piece, assignment: Assignment, shows: Shows) -> Piece:
    title: Piece = (", “", quote(found, f"{row}/title"), "”") if assignment.style.full else ()
    where = (" in ", _show(found, row, shows), title, ", ", date(found, f"{row}/publishedAt"))
    return (who, *where, ", at ", place(found, f"{row}/start_seconds"), ": “", quote(found, f"{row}/quote"), "”")


def _show(found: Found, row: str, shows: Shows) -> Piece:
    """The name of the show, its id where that is all that is known."""
    listing, at = shows.get(str(found.get(f"{row}/source")), (found, row))
    return quote(listing, f"{at}/name") if listing is not found else quote(found, f"{row}/source")


def _untold(assignment: Assignment, draft: Draft) -> None:
    assets = [said(asset) for asset in assignment.entities.assets]
    if assets:
        draft.say("What is said is not told apart by ", listed(assets), ".")


def _followed(evidence: Evidence, shows: Shows, draft: Draft) -> None:
    """Name the shows that are followed, and those that could not be read last time."""
    names = [(found, row, quote(found, f"{row}/name")) for found, row in shows.values()]
    names = sound.kept(evidence, names, lambda trial, some: trial.say(listed([name for _, _, name in some])))
    if names:
        draft.say("Followed here: ", listed([name for _, _, name in names]), ".")
    silent = [name for found, row, name in names if found.get(f"{row}/status") != "ok"]
    if silent:
        draft.say("Not read last time: ", listed(silent), ".")


def _list(found: Found, evidence: Evidence, draft: Draft) -> None:
    shows = "show is" if found.size("/sources") == 1 else "shows are"
    draft.say(bold(length(found, "/sources"), f" {shows} followed"), ":")
    if not sound.table(evidence, draft, _HEAD, [_cells(found, row) for row in _rows(found, "/sources")]):
        draft.say("A part of this list is left out: it could not be told safely.")


def _cells(found: Found, row: str) -> Sequence[Piece]:
    language: Piece = "" if found.get(f"{row}/language") is None else quote(found, f"{row}/language")
    newest: Piece = "none yet" if found.get(f"{row}/lastEpisodeAt") is None else date(found, f"{row}/lastEpisodeAt")
    about = (quote(found, f"{row}/name"), quote(found, f"{row}/kind"), language)
    return (*about, count(found, f"{row}/episodes"), newest, quote(found, f"{row}/status"))
