"""`verdict billing receipts`: what was paid for. The answer is in no envelope."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from service.clients.cli.figures import counted, moment
from service.clients.cli.prose import flow
from service.clients.cli.screen import Screen
from service.clients.cli.show.paging import more
from service.clients.cli.tables import table


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the list, newest first.

    Args:
        data: The answer.
        meta: Nothing.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    receipts = data["receipts"]
    if not receipts:
        yield "Nothing has been paid for."
        return
    total = sum((Decimal(one["price_usdc"]) for one in receipts), Decimal())
    yield from flow(screen, [f"{counted(len(receipts), 'receipt')}, {total} USDC in all"])
    yield ""
    rows = [
        (moment(one["settled_at"]).removesuffix(" UTC"), one["route"], one["price_usdc"], one["network"], one["id"])
        for one in receipts
    ]
    yield from table(screen, ("SETTLED, UTC", "FOR", "USDC", "NETWORK", "RECEIPT"), rows, right="llr")
    if data["next_cursor"]:
        yield ""
    yield from more(screen, data)
