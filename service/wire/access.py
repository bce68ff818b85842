"""Who is asking and what they may: payloads of sign-in, keys and entitlement."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Tier = Literal["free", "access", "pro"]
Source = Literal["default", "grant", "wallet"]
CredentialKind = Literal["api_key", "session"]
KeyName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=80,
        pattern=r"^[^\x00-\x1f\x7f]+\Z",
        description="1 to 80 characters, none of them a control character",
    ),
]
DisplayPrefix = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]{1,20}_sk_[0-9A-Za-z]{8}\Z",
        description="The start of a key, as GET /api/keys lists it: its _sk_ prefix and 8 characters",
        examples=["verdict_sk_4kYw0VqG"],
    ),
]
Instant = Annotated[
    str,
    Meta(description="ISO 8601 UTC with milliseconds and Z", max_length=40, extra_json_schema={"format": "date-time"}),
]


class Identity(Struct, frozen=True, rename="camel"):
    """Who a credential resolves to."""

    kind: CredentialKind
    user_id: int
    wallet_address: str | None


class Entitlement(Struct, frozen=True, rename="camel"):
    """The tier the gate applies to the credential, where it comes from, and when it ends."""

    tier: Tier
    source: Source
    expires_at: Instant | None
    identity: Identity


class NewNonce(Struct, frozen=True, rename="camel"):
    """A single-use sign-in nonce and its expiry."""

    nonce: str
    expires_at: Instant


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """A signed EIP-4361 message: its exact text, and the signature of the wallet's key or contract as 0x-hex."""

    message: Annotated[
        str,
        Meta(
            description="An EIP-4361 (Sign-In with Ethereum) message that holds a nonce of POST /api/auth/nonce",
            min_length=1,
            max_length=4_000,
            extra_json_schema={"format": "eip-4361"},
        ),
    ]
    signature: Annotated[
        str,
        Meta(
            pattern=r"^0x(?:[0-9a-fA-F]{2}){0,8192}\Z",
            description="0x and the signature in hexadecimal digits: 65 bytes of a key, at most 8,192 of a contract",
        ),
    ]


class Session(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A session token, the wallet that signed in, when the session ends, and a notice for its user, if there is one."""

    token: str
    wallet_address: str
    expires_at: Instant
    notice: str | None = None


class NewKey(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a caller says of a key to be made; without `expiresAt` it does not expire."""

    name: KeyName
    expires_at: Instant | None = None


class CreatedKey(Struct, frozen=True, rename="camel"):
    """A key, shown this once, and what is kept of it."""

    key: str
    prefix: str
    name: str
    created_at: Instant
    expires_at: Instant | None


class IssuedKey(Struct, frozen=True, rename="camel"):
    """A key the operator made, shown this once, and the tier that applies to it."""

    key: str
    prefix: str
    user_id: int
    tier: Tier
    expires_at: Instant | None


class KeyRow(Struct, frozen=True):
    """A key as it is listed."""

    prefix: str
    name: str
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None
    last_used_at: Instant | None


class KeyList(Struct, frozen=True):
    """A user's keys, newest first."""

    keys: list[KeyRow]


class RotateKey(Struct, frozen=True, forbid_unknown_fields=True):
    """Which key to replace, and for how many seconds the old one still works."""

    prefix: DisplayPrefix
    grace_seconds: Annotated[int, Meta(ge=0, le=604_800)] = 0


class Ended(Struct, frozen=True):
    """Something was ended: `{"ok": true}`."""

    ok: bool = True
