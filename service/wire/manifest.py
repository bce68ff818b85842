"""The public manifest: what is offered, at what price, how fresh, and how to pay."""

from typing import Any, Literal

from msgspec import Struct

from service.wire.access import Tier
from service.wire.payment import SettlementKind

Anonymous = Literal["login", "pay"]
"""What a caller without a token can do on a priced route: log in first (403), or pay (402) without an account."""


class FreePlan(Struct, frozen=True, rename="camel"):
    """The free quota: a starter that never refills, then so many a UTC day."""

    starter: int
    per_day: int
    resets_at: str


class FreeTier(Struct, frozen=True, rename="camel"):
    """Questions of the free plan: granted once, then each UTC day."""

    lifetime: int
    daily_drip: int


class ManifestAuth(Struct, frozen=True, rename="camel"):
    """The free plan, at the top level of the manifest's body, where clients of this interface read it."""

    free_tier: FreeTier


class TierRow(Struct, frozen=True, rename="camel"):
    """A tier and its questions a UTC day; null is no limit."""

    tier: Tier
    per_day: int | None


class ParameterRow(Struct, frozen=True):
    """One parameter of a route, in the words of its JSON Schema."""

    name: str
    location: Literal["path", "query", "body"]
    required: bool
    schema: dict[str, Any]


class RouteRow(Struct, frozen=True):
    """One priced route. `price_usdc` is decimal USDC, `price_atomic` millionths of it."""

    id: str
    method: str
    path: str
    price_usdc: str
    price_atomic: str
    refresh_seconds: int | None
    streaming: bool
    payable: bool
    summary: str
    parameters: list[ParameterRow]


class Manifest(Struct, frozen=True, rename={"pay_to": "payTo", "receipt_signer": "receiptSigner"}):
    """Everything a client needs before its first call; `receipt_signer` is the address whose key signs receipts."""

    service: str
    version: str
    currency: str
    networks: list[str]
    pay_to: str
    settlement: SettlementKind
    receipt_signer: str
    anonymous: Anonymous
    free: FreePlan
    tiers: list[TierRow]
    routes: list[RouteRow]
