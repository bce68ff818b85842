"""Views of `manifest`, `billing tier`, `billing receipts` and `billing show`."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from service import formats
from service.cli.formatting import UNKNOWN, footer, moment, span
from service.cli.layout import facts, flow, table, wrap
from service.cli.show.plain import next_page
from service.cli.terminal import Cell, Display, cells, safe

_ROOMY: Final = 60
"""Width in cells from which sentences fit beside the figures."""


def manifest(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the manifest."""
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


def _routes(routes: Sequence[Any], currency: str, screen: Display) -> Iterator[str]:
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


_SOURCES: Final[Mapping[str, str]] = {
    "default": "what everybody has",
    "grant": "granted by the operator",
    "wallet": "of the wallet",
}
_KINDS: Final[Mapping[str, str]] = {"api_key": "an API key", "session": "a session"}


def billing_tier(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the entitlement."""
    caller = data["identity"]
    until = f"until {moment(data['expiresAt'])}" if data["expiresAt"] else "no expiry"
    kind = _KINDS.get(caller["kind"], caller["kind"])
    yield from facts(
        screen,
        [
            ("Tier", [Cell(data["tier"], "strong"), f", {_SOURCES.get(data['source'], data['source'])}, {until}"]),
            ("Who", [f"user {caller['userId']}, by {kind}"]),
            ("Wallet", [caller["walletAddress"] or "none"]),
        ],
    )
    yield ""
    yield screen.paint("dim", f"at {moment(meta['ts'])}")


def receipts_list(data: Any, _meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the list, newest first."""
    receipts = data["receipts"]
    if not receipts:
        yield "Nothing has been paid for."
        return
    total = sum((Decimal(one["price_usdc"]) for one in receipts), Decimal())
    yield from flow(screen, [f"{formats.count(len(receipts), 'receipt')}, {total} USDC in all"])
    yield ""
    rows = [
        (moment(one["settled_at"]).removesuffix(" UTC"), one["route"], one["price_usdc"], one["network"], one["id"])
        for one in receipts
    ]
    yield from table(screen, ("SETTLED, UTC", "FOR", "USDC", "NETWORK", "RECEIPT"), rows, right="llr")
    if data["next_cursor"]:
        yield ""
    yield from next_page(screen, data)


def receipts_get(data: Any, _meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the receipt whole: every field of it is signed."""
    receipt = data["receipt"]
    yield from facts(
        screen,
        [
            ("Receipt", [Cell(receipt["id"], "strong")]),
            ("For", [receipt["route"], Cell(f"{receipt['method']} {receipt['resource']}", "dim")]),
            (
                "Paid",
                [Cell(f"{receipt['price_usdc']} USDC", "strong"), f"on {receipt['network']}, {receipt['settlement']}"],
            ),
            ("by", [receipt["payer"]]),
            ("to", [receipt["pay_to"]]),
            ("Token", [receipt["asset"]]),
            ("Claimed", [moment(receipt["claimed_at"])]),
            ("Settled", [moment(receipt["settled_at"])]),
            ("Transaction", [receipt["transaction"]]),
            ("Nonce", [receipt["nonce"]]),
            ("Request", [receipt["request_hash"]]),
            ("Answer", [receipt["response_hash"]]),
            ("Signed by", [data["signer"]]),
            ("Signature", [data["signature"]]),
        ],
    )
    yield ""
    how = "saved with --json, `verdict admin receipts verify FILE` checks it without the service"
    yield from flow(screen, [Cell(how, "dim")])
