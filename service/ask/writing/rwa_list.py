"""Which real-world assets there are, by type."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from service.ask.draft import Draft, Piece, bold, listed
from service.ask.evidence import Found
from service.ask.figures import counted, length, quote
from service.ask.writing.assignment import Assignment

_NAMES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "equity": ("equity", "equities"),
        "etf": ("fund", "funds"),
        "metal": ("metal", "metals"),
        "commodity": ("commodity", "commodities"),
        "index": ("index", "indices"),
        "fx": ("currency", "currencies"),
    }
)
_ALL: Final = ("real-world asset", "real-world assets")


def write(assignment: Assignment, draft: Draft) -> None:
    """Tell how many there are and name them."""
    for found in assignment.evidence.all("rwa.assets"):
        _tell(found, draft)
    if assignment.evidence.all("rwa.assets"):
        draft.explain("rwa")


def _tell(found: Found, draft: Draft) -> None:
    wanted = _NAMES.get(str(found.args.get("type")))
    if not found.size("/assets"):
        draft.say(bold("None"), " is listed", f" among the {wanted[1]}" if wanted else "", " now.")
        return
    shown = [(names[1].capitalize(), _named(found, kind)) for kind, names in _NAMES.items() if _rows(found, kind)]
    verb = " trades" if found.get("/count") == 1 else " trade"
    many = bold(counted(found, "/count", *(wanted or _ALL)))
    if wanted:
        draft.say(many, verb, " here as perpetuals, the most traded first: ", *(names for _, names in shown), ".")
    else:
        draft.say(many, verb, " here as perpetuals, the most traded first:")
        draft.items([(bold(plural), ": ", names) for plural, names in shown])
    if found.get("/count") != found.size("/assets"):
        draft.say("These are the ", length(found, "/assets"), " most traded.")


def _rows(found: Found, kind: str) -> list[str]:
    rows = (f"/assets/{index}" for index in range(found.size("/assets")))
    return [row for row in rows if found.get(f"{row}/assetType") == kind]


def _named(found: Found, kind: str) -> Piece:
    rows = _rows(found, kind)
    return listed([(quote(found, f"{row}/name"), " (", quote(found, f"{row}/symbol"), ")") for row in rows])
