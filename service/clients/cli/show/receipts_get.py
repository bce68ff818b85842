"""`verdict billing receipt ID`: one receipt and who stands for it. The answer is in no envelope."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.clients.cli.figures import moment
from service.clients.cli.prose import facts, flow
from service.clients.cli.screen import Cell, Screen


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the receipt whole: every field of it is signed.

    Args:
        data: The answer.
        meta: Nothing.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    told = data["receipt"]
    yield from facts(
        screen,
        [
            ("Receipt", [Cell(told["id"], "strong")]),
            ("For", [told["route"], Cell(f"{told['method']} {told['resource']}", "dim")]),
            ("Paid", [Cell(f"{told['price_usdc']} USDC", "strong"), f"on {told['network']}, {told['settlement']}"]),
            ("by", [told["payer"]]),
            ("to", [told["pay_to"]]),
            ("Token", [told["asset"]]),
            ("Claimed", [moment(told["claimed_at"])]),
            ("Settled", [moment(told["settled_at"])]),
            ("Transaction", [told["transaction"]]),
            ("Nonce", [told["nonce"]]),
            ("Request", [told["request_hash"]]),
            ("Answer", [told["response_hash"]]),
            ("Signed by", [data["signer"]]),
            ("Signature", [data["signature"]]),
        ],
    )
    yield ""
    how = "saved with --json, `verdict payments verify FILE` checks it without the service"
    yield from flow(screen, [Cell(how, "dim")])
