"""Who a credential resolves to, as the gates hand it on."""

from typing import Literal

from msgspec import Struct

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
        """What its questions are counted by."""
        return self.tier if self.free or self.tier != "free" else "none"
