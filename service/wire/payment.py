"""The payment challenge (x402 v1 and v2) and the gate block beside it.

Source: x402 specification v1 and v2 (`PaymentRequired`, `PaymentRequirements`), `contract.md` §5.
"""

from typing import Final, Literal

from msgspec import Struct

from service.wire.access import Tier
from service.wire.envelope import ErrorBody

Period = Literal["lifetime", "day"]

_VERSIONS: Final = {"x402_version": "x402Version", "schema_version": "schemaVersion"}


class TokenExtra(Struct, frozen=True):
    """EIP-712 domain name and version of the asset."""

    name: str
    version: str


class RequirementsV1(Struct, frozen=True, rename="camel"):
    """A row of `accepts` for v1 clients: a v1 network name, an absolute `resource`, atomic units as a string."""

    scheme: str
    network: str
    max_amount_required: str
    resource: str
    description: str
    mime_type: str
    pay_to: str
    max_timeout_seconds: int
    asset: str
    extra: TokenExtra


class RequirementsV2(Struct, frozen=True, rename="camel"):
    """A row of `accepts` for v2 clients: a CAIP-2 network, atomic units as a string."""

    scheme: str
    network: str
    amount: str
    asset: str
    pay_to: str
    max_timeout_seconds: int
    extra: TokenExtra


class Resource(Struct, frozen=True, rename="camel"):
    """What is being bought (v2)."""

    url: str
    description: str
    mime_type: str


class Quota(Struct, frozen=True):
    """What is left of the free questions; `limit` and `remaining` are null where there is no limit."""

    used: int
    limit: int | None
    remaining: int | None
    period: Period


class ThisQuery(Struct, frozen=True):
    """The call that was refused and what it costs, in USDC."""

    route: str
    price_usdc: str


class Unlock(Struct, frozen=True, omit_defaults=True):
    """One way on: pay for this call, wait until `at`, or upgrade (at `url`, where there is a page for it)."""

    method: Literal["pay", "wait", "upgrade"]
    description: str
    at: str | None = None
    url: str | None = None


class Gate(Struct, frozen=True):
    """Why the gate is shut, when it opens, and what opens it now."""

    tier: Tier
    quota: Quota
    reset_at: str | None
    upgrade_url: str | None
    this_query: ThisQuery
    unlock: list[Unlock]


class PaymentRequired(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The `PAYMENT-REQUIRED` header of v2, base64 of this as JSON."""

    x402_version: Literal[2]
    error: str
    resource: Resource
    accepts: list[RequirementsV2]


class ChallengeV1(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a 402 as v1 clients read it, beside the error envelope."""

    schema_version: Literal[1]
    error: ErrorBody
    x402_version: Literal[1]
    accepts: list[RequirementsV1]
    gate: Gate


class ChallengeV2(Struct, frozen=True, kw_only=True, rename=_VERSIONS):
    """The body of a 402 for a request that says `X-X402-Max-Version: 2`."""

    schema_version: Literal[1]
    error: ErrorBody
    x402_version: Literal[2]
    resource: Resource
    accepts: list[RequirementsV2]
    gate: Gate
