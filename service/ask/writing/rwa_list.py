"""Which real-world assets there are, by type."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import count, length, quote
from service.ask.writing.assignment import Assignment

_PLURAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "equity": "Equities",
        "etf": "Funds",
        "metal": "Metals",
        "commodity": "Commodities",
        "index": "Indices",
        "fx": "Currencies",
    }
)


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell how many there are and name them."""
    for found in assignment.evidence.all("rwa.assets"):
        _tell(found, draft)
    if assignment.evidence.all("rwa.assets"):
        draft.explain("rwa")


def _tell(found: Found, draft: Draft) -> None:
    wanted = _PLURAL.get(str(found.args.get("type")))
    if not found.size("/assets"):
        draft.say(bold("None"), " is listed", f" among the {wanted.lower()}" if wanted else "", " now.")
        return
    what: Piece = f"{wanted.lower()}" if wanted else "real-world assets"
    draft.say(bold(count(found, "/count"), " ", what), " trade here as perpetuals, the most traded first:")
    draft.items([(bold(plural), ": ", _named(found, kind)) for kind, plural in _PLURAL.items() if _rows(found, kind)])
    if found.get("/count") != found.size("/assets"):
        draft.say("These are the ", length(found, "/assets"), " most traded.")


def _rows(found: Found, kind: str) -> list[str]:
    rows = (f"/assets/{index}" for index in range(found.size("/assets")))
    return [row for row in rows if found.get(f"{row}/assetType") == kind]


def _named(found: Found, kind: str) -> Piece:
    rows = _rows(found, kind)
    return listed([(quote(found, f"{row}/name"), " (", quote(found, f"{row}/symbol"), ")") for row in rows])
