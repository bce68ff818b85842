"""`verdict billing tier`: what the gate applies to whoever asks."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import moment
from service.clients.cli.prose import facts
from service.clients.cli.screen import Cell, Screen

_SOURCES: Final[Mapping[str, str]] = {
    "default": "what everybody has",
    "grant": "granted by the operator",
    "wallet": "of the wallet",
}
_KINDS: Final[Mapping[str, str]] = {"api_key": "an API key", "session": "a session"}


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:  # noqa: ARG001 - all alike
    """Show the entitlement.

    Args:
        data: Of the envelope.
        meta: Of the envelope: it carries only `ts`.
        screen: Where it is read.
        chosen: The request's parameters.
    """
    caller = data["identity"]
    until = f"until {moment(data['expiresAt'])}" if data["expiresAt"] else "without an end"
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
