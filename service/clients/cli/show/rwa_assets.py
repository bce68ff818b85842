"""`verdict rwa assets`: what real-world assets there are, the most traded first."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from service.clients.cli.figures import footer
from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.tables import table


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the list.

    Args:
        data: Of the envelope.
        meta: Of the envelope.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    assets = data["assets"]
    kinds = Counter(one["assetType"] for one in assets)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    shown = f"{len(assets)} of {data['count']}" if len(assets) < data["count"] else str(len(assets))
    yield from flow(screen, [Cell(f"{shown} real-world assets", "strong"), f"· {said}" if said else ""])
    if assets:
        yield ""
        rows = [
            (place, one["symbol"], one["name"], Cell(one["assetType"], "dim"), one["id"])
            for place, one in enumerate(assets, 1)
        ]
        yield from table(screen, ("", "SYMBOL", "NAME", "TYPE", "ID"), rows, right="r")
    yield ""
    yield from footer(screen, meta, "the most traded first")
