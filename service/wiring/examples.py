"""Example command lines of each offer, for the API reference page."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.cli.commands import read_catalogue

_OF_ACCOUNTS: Final[Mapping[str, Sequence[str]]] = {
    "auth.login": ("verdict login",),
    "auth.logout": ("verdict logout",),
    "alerts.create": ('verdict alerts add "BTC > 120000" --to https://example.org/hook',),
    "alerts.delete": ("verdict alerts remove 3",),
    "alerts.deliveries": ("verdict alerts deliveries",),
    "alerts.list": ("verdict alerts list",),
    "alerts.test": ("verdict alerts test 3",),
    "billing.tier": ("verdict whoami",),
    "keys.create": ("verdict keys create --name laptop",),
    "keys.list": ("verdict keys list",),
    "keys.revoke": ("verdict keys revoke verdict_sk_AbCd1234",),
    "question": ('verdict ask "How is SOL doing?"',),
    "watch": ("verdict watch prices",),
    "keys.rotate": ("verdict keys rotate verdict_sk_AbCd1234 --grace 12h",),
}
"""Commands that do more than call one route, and so are not in the table of offers."""


def lines() -> Mapping[str, Sequence[str]]:
    """Offer id → complete command lines, in the order of the help."""
    written: dict[str, list[str]] = {offer: list(typed) for offer, typed in _OF_ACCOUNTS.items()}
    for row in read_catalogue():
        written.setdefault(row.offer, []).append(row.example)
    return written
