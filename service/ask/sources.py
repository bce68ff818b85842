"""The route that gives the same payload as a tool."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from service.wire.offers import OFFERS

_PATHS: Final[Mapping[str, str]] = {offer.id: offer.path for offer in OFFERS}


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
