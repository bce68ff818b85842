"""Views of the manifest, and of a caller's plan and receipts."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from service import formats
from service.cli.formatting import moment, span
from service.cli.show.columns import Data, Field, View, joined, otherwise, strong, utc
from service.cli.terminal import Cell, Part


def _limit(tier: Data) -> str:
    return f"{tier['tier']}: " + ("no limit" if tier["perDay"] is None else f"{tier['perDay']} a day")


_MANIFEST: Final = View(
    heading=lambda data: [strong(f"{data['service']} {data['version']}")],
    facts=(
        Field(
            "Free",
            "free",
            lambda free: (
                f"{free['starter']} questions to start with, then {free['perDay']} a day from {free['resetsAt']}"
            ),
        ),
        Field("Tiers", "tiers", lambda tiers: "; ".join(map(_limit, tiers))),
        Field("Paid in", "", lambda data: f"{data['currency']} on {joined(data['networks']) or 'no network'}"),
        Field("to", "", lambda data: [data["payTo"], Cell(f"({data['settlement']})", "dim")]),
        Field("Receipts by", "receiptSigner"),
    ),
    entries="routes",
    columns=(
        Field("ROUTE", "id"),
        Field("USDC", "", lambda one: one["price_usdc"] if one["payable"] else "not sold", "r"),
        Field("REFRESH", "refresh_seconds", span, "r"),
        Field("DESCRIPTION", "summary", side="s"),
    ),
)
_SOURCES: Final = {"default": "what everybody has", "grant": "granted by the operator", "wallet": "of the wallet"}
_KINDS: Final = {"api_key": "an API key", "session": "a session"}


def _tier(data: Data) -> list[Part]:
    until = f"until {moment(data['expiresAt'])}" if data["expiresAt"] else "no expiry"
    return [strong(data["tier"]), f", {_SOURCES.get(data['source'], data['source'])}, {until}"]


def _paid(data: Data) -> list[Cell]:
    receipts = data["receipts"]
    total = sum((Decimal(one["price_usdc"]) for one in receipts), Decimal())
    return [Cell(f"{formats.count(len(receipts), 'receipt')}, {total} USDC in all")] if receipts else []


_RECEIPT: Final = View(
    facts=(
        Field("Receipt", "receipt.id", strong),
        Field("For", "receipt", lambda one: [one["route"], Cell(f"{one['method']} {one['resource']}", "dim")]),
        Field("Paid", "receipt", lambda one: f"{one['price_usdc']} USDC on {one['network']}, {one['settlement']}"),
        Field("by", "receipt.payer"),
        Field("to", "receipt.pay_to"),
        Field("Token", "receipt.asset"),
        Field("Claimed", "receipt.claimed_at", moment),
        Field("Settled", "receipt.settled_at", moment),
        Field("Transaction", "receipt.transaction"),
        Field("Nonce", "receipt.nonce"),
        Field("Request", "receipt.request_hash"),
        Field("Answer", "receipt.response_hash"),
        Field("Signed by", "signer"),
        Field("Signature", "signature"),
    ),
    note="saved with --json, `verdict admin receipts verify FILE` checks it without the service",
)


VIEWS: Final[Mapping[str, View]] = {
    "manifest": _MANIFEST,
    "billing_tier": View(
        facts=(
            Field("Tier", "", _tier),
            Field("Who", "identity", lambda one: f"user {one['userId']}, by {_KINDS.get(one['kind'], one['kind'])}"),
            Field("Wallet", "identity.walletAddress", otherwise("none")),
        ),
    ),
    "receipts_list": View(
        heading=_paid,
        entries="receipts",
        columns=(
            Field("SETTLED, UTC", "settled_at", utc),
            Field("FOR", "route", side="l"),
            Field("USDC", "price_usdc", side="r"),
            Field("NETWORK", "network"),
            Field("RECEIPT", "id"),
        ),
        empty="Nothing has been paid for.",
    ),
    "receipts_get": _RECEIPT,
}
