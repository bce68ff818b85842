"""What is typed for each offer, for the page about the API: it knows no commands, and commands know no pages."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.clients.cli.table import SECTIONS

_OF_ACCOUNTS: Final[Mapping[str, Sequence[str]]] = {
    "auth.login": ("verdict login",),
    "auth.logout": ("verdict logout",),
    "billing.tier": ("verdict whoami",),
    "keys.create": ("verdict keys create --mine --name laptop",),
    "keys.list": ("verdict keys list --mine",),
    "keys.revoke": ("verdict keys revoke --mine verdict_sk_AbCd1234",),
    "keys.rotate": ("verdict keys rotate verdict_sk_AbCd1234 --grace 12h",),
}
"""Commands that do more than ask one route, and so are not rows of an offer."""


def lines() -> Mapping[str, Sequence[str]]:
    """Offer id → whole lines that can be typed, in the order of help."""
    written: dict[str, list[str]] = {offer: list(typed) for offer, typed in _OF_ACCOUNTS.items()}
    for _, commands in SECTIONS:
        for command in commands:
            if command.offer:
                written.setdefault(command.offer, []).append(command.example)
    return written
