"""Where an answer's figures come from: the routes that give the same payloads, and of when those are."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from service.wire.ask import Source, Step
from service.wire.offers import OFFERS

_PATHS: Final[Mapping[str, str]] = {offer.id: offer.path for offer in OFFERS}


class _Staleness(Struct):
    """What payloads say of their age: fields by name, and a verdict of its sources by how each answered."""

    stale_fields: list[str] = msgspec.field(default_factory=list, name="_stale_fields")
    sources: Any = None


def sources_of(steps: Sequence[Step]) -> tuple[Source, ...]:
    """The sources of an answer.

    Args:
        steps: What was found, in the plan's order.

    Returns:
        One for each step that answered, in that order; the same source once. `stale` names fields that could not be
        refreshed, of a verdict its sources that are stale.
    """
    found = [
        Source(step.tool, path_of(step.tool, step.args), step.as_of, _stale(step.result))
        for step in steps
        if step.error is None
    ]
    return tuple(dict.fromkeys(found))


def path_of(tool: str, args: Mapping[str, Any]) -> str | None:
    """Path and query of the route that gives a tool's payload; null where no route does.

    Args:
        tool: Its id.
        args: Its arguments: the route's parameters.
    """
    path = _PATHS.get(tool)
    if path is None:
        return None
    query = {}
    for name, value in args.items():
        place = f"{{{name}}}"
        if place in path:
            path = path.replace(place, quote(str(value), safe=""))
        elif value is not None:
            query[name] = value
    return f"{path}?{urlencode(query)}" if query else path


def _stale(result: Any) -> tuple[str, ...]:
    try:
        told = msgspec.json.decode(encoded(result), type=_Staleness)
    except msgspec.ValidationError:  # a payload that is no object, or has fields of those names for something else
        return ()
    states = told.sources if isinstance(told.sources, dict) else {}
    return (*told.stale_fields, *(name for name, state in states.items() if state == "stale"))


def encoded(result: Any) -> bytes:
    """A step's result as JSON."""
    return bytes(result) if isinstance(result, msgspec.Raw) else msgspec.json.encode(result)
