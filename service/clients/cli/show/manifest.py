"""`verdict manifest`: what is offered, at what price, how fresh, and how to pay."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from service.clients.cli.figures import UNKNOWN, footer, span
from service.clients.cli.prose import facts, flow, wrap
from service.clients.cli.screen import Cell, Screen, cells, safe
from service.clients.cli.tables import table

_ROOMY: Final = 60
"""Cells from which there is room for sentences beside the figures."""


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the manifest.

    Args:
        data: Of the envelope.
        meta: Of the envelope.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    free, tiers = data["free"], data["tiers"]
    yield from flow(screen, [Cell(f"{data['service']} {data['version']}", "strong")])
    yield ""
    yield from facts(
        screen,
        [
            (
                "Free",
                [f"{free['starter']} questions to start with, then {free['perDay']} a day from {free['resetsAt']}"],
            ),
            ("Tiers", ["; ".join(f"{one['tier']}: {_limit(one['perDay'])}" for one in tiers)]),
            ("Paid in", [f"{data['currency']} on {', '.join(data['networks']) or 'no network'}"]),
            ("to", [data["payTo"], Cell(f"({data['settlement']})", "dim")]),
            ("Receipts by", [data["receiptSigner"]]),
        ],
    )
    yield ""
    yield from _routes(data["routes"], data["currency"], screen)
    yield ""
    yield from footer(screen, meta)


def _routes(routes: Sequence[Any], currency: str, screen: Screen) -> Iterator[str]:
    rows = [
        (
            safe(one["id"]),
            safe(one["price_usdc"]) if one["payable"] else "not sold",
            UNKNOWN if one["refresh_seconds"] is None else span(one["refresh_seconds"]),
            one["summary"],
        )
        for one in routes
    ]
    if screen.width < _ROOMY:
        yield from table(screen, ("ROUTE", currency, "FRESH", "WHAT IT TELLS"), rows, whole=True)
        return
    first = max(cells(row[0]) for row in (*rows, ("ROUTE",)))
    head = f"{'ROUTE':<{first}}  {safe(currency):>8}  {'FRESH':>6}  WHAT IT TELLS"
    yield screen.paint("dim", head)
    for name, cost, fresh, summary in rows:
        lead = f"{name:<{first}}  {cost:>8}  {fresh:>6}  "
        yield from wrap(screen, [(summary, None)], lead, " " * cells(lead))


def _limit(per_day: int | None) -> str:
    return "no limit" if per_day is None else f"{per_day} a day"
