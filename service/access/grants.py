"""Grants, and the tier that follows from them."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from service.access import changes
from service.access.users import require_user
from service.clock import LATEST_MS
from service.errors import ServiceError
from service.storage.engine import Connection
from service.wire.access import Source, Tier

GrantedTier = Literal["access", "pro"]

_RANK: Final[dict[Tier, int]] = {"free": 0, "access": 1, "pro": 2}


class Granted(Struct, frozen=True):
    """A grant as it bears on a tier. `source` is `wallet` where it was given to a wallet the user has proven."""

    tier: GrantedTier
    source: Source
    expires_ms: int | None


class Entitled(Struct, frozen=True):
    """The tier that applies, why, and when it falls back (null: never)."""

    tier: Tier = "free"
    source: Source = "default"
    ends_ms: int | None = None


class GrantRow(Struct, frozen=True):
    """A grant as an operator sees it: to a user or to a wallet, epoch milliseconds."""

    id: int
    user_id: int | None
    wallet: str | None
    tier: GrantedTier
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None


def resolve(grants: Iterable[Granted], now_ms: int) -> Entitled:
    """The best tier: the highest, among equals the one that lasts longest, then the one given to the user."""
    standing = [grant for grant in grants if grant.expires_ms is None or now_ms < grant.expires_ms]
    if not standing:
        return Entitled()
    best = max(standing, key=_worth)
    return Entitled(best.tier, best.source, best.expires_ms)


def _worth(grant: Granted) -> tuple[int, int, bool]:
    lasts_ms = LATEST_MS + 1 if grant.expires_ms is None else grant.expires_ms
    return _RANK[grant.tier], lasts_ms, grant.source == "grant"


def add_grant(
    connection: Connection,
    holder: int | str,
    tier: GrantedTier,
    expires_ms: int | None,
    now_ms: int,
) -> GrantRow:
    """Give a tier to a user (a number) or to whoever proves a wallet (an address in EIP-55's form).

    Raises:
        ServiceError: `NOT_FOUND` if there is no such user.
    """
    user_id, wallet = (holder, None) if isinstance(holder, int) else (None, holder)
    if user_id is not None:
        require_user(connection, user_id)
    made = connection.execute(
        "INSERT INTO grants (user_id, wallet, tier, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (user_id, wallet, tier, now_ms, expires_ms),
    ).fetchone()
    _announce(connection, user_id, wallet, now_ms)
    return GrantRow(int(made[0]), user_id, wallet, tier, now_ms, expires_ms, None)


def revoke_grant(connection: Connection, grant_id: int, now_ms: int) -> None:
    """Take a grant back; doing it again changes nothing.

    Raises:
        ServiceError: `NOT_FOUND` if there is no such grant.
    """
    found = connection.execute("SELECT user_id, wallet FROM grants WHERE id = ?", (grant_id,)).fetchone()
    if found is None:
        raise ServiceError("NOT_FOUND", f"There is no grant {grant_id}. `verdict grants list` shows them.")
    user_id, wallet = found
    connection.execute("UPDATE grants SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", (now_ms, grant_id))
    _announce(connection, user_id, wallet, now_ms)


def _announce(connection: Connection, user_id: int | None, wallet: str | None, now_ms: int) -> None:
    owner = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (wallet,)).fetchone()
    concerned = user_id if owner is None else owner[0]
    if concerned is not None:
        changes.tier_moved(connection, concerned, now_ms)
