"""Who a credential resolves to, as the gates hand it on."""

from msgspec import Struct

from service.wire.access import CredentialKind, Source, Tier


class Caller(Struct, frozen=True):
    """An authenticated caller.

    `credential_id` is the row of the key or session; `entitlement_ends_ms` is when the tier falls back (null: never);
    `expires_ms` is when the credential itself dies. The quota belongs to `user_id`.
    """

    user_id: int
    kind: CredentialKind
    credential_id: int
    tier: Tier = "free"
    source: Source = "default"
    entitlement_ends_ms: int | None = None
    wallet: str | None = None
    expires_ms: int | None = None
