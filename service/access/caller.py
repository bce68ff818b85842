"""Authenticated callers, and the errors of credentials that are not accepted."""

from typing import Literal

from msgspec import Struct

from service.errors import ServiceError
from service.wire.access import CredentialKind, Source, Tier

Plan = Tier | Literal["none"]
"""What questions are counted by: the tier, or none for a free account without free questions."""


class Caller(Struct, frozen=True):
    """An authenticated caller.

    `credential_id` is the row of the key or session; `entitlement_ends_ms` is when the tier falls back (null: never);
    `expires_ms` is when the credential itself dies. The quota belongs to `user_id`. `free` is whether the account has
    the questions of the free tier (`free_accounts`).
    """

    user_id: int
    kind: CredentialKind
    credential_id: int
    tier: Tier = "free"
    source: Source = "default"
    entitlement_ends_ms: int | None = None
    wallet: str | None = None
    expires_ms: int | None = None
    free: bool = True

    @property
    def plan(self) -> Plan:
        """What questions are counted by."""
        return self.tier if self.free or self.tier != "free" else "none"


def invalid_credential(reason: str) -> ServiceError:
    """A 401 with its reason and the `WWW-Authenticate` challenge of RFC 9110."""
    return ServiceError("AUTH_INVALID", reason, headers={"WWW-Authenticate": "Bearer"})


class UnknownTokenError(ServiceError):
    """A well-formed token that this service never issued."""

    def __init__(self) -> None:
        message = "The token is not known to this service. Run `verdict login` or make a new key."
        super().__init__("AUTH_INVALID", message, headers={"WWW-Authenticate": "Bearer"})


def bad_parameter(parameter: str, reason: str) -> ServiceError:
    """A 400 that names the parameter."""
    return ServiceError("BAD_REQUEST", reason, details={"parameter": parameter})
