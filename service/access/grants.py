"""Grants, and the tier that follows from them."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from service.access import change_log
from service.access.users import require_user
from service.clock import LATEST_MS
from service.errors import ServiceError
from service.storage.engine import Connection
from service.wire.access import Source, Tier

GrantedTier = Literal["access", "pro"]

_RANK: Final[dict[Tier, int]] = {"free": 0, "access": 1, "pro": 2}


class TierGrant(Struct, frozen=True):
    """A grant that affects a tier. `source` is `wallet` if it was given to a wallet the user has proven."""

    tier: GrantedTier
    source: Source
    expires_ms: int | None


class ActiveTier(Struct, frozen=True):
    """The tier that applies, why, and when it ends (None: never)."""

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


def active_tier(grants: Iterable[TierGrant], now_ms: int) -> ActiveTier:
    """The best tier: the highest; among equals the one that lasts longest, then the one given to the user."""
    status = [grant for grant in grants if grant.expires_ms is None or now_ms < grant.expires_ms]
    if not status:
        return ActiveTier()
    best = max(status, key=_rank)
    return ActiveTier(best.tier, best.source, best.expires_ms)


def _rank(grant: TierGrant) -> tuple[int, int, bool]:
    lasts_ms = LATEST_MS + 1 if grant.expires_ms is None else grant.expires_ms
    return _RANK[grant.tier], lasts_ms, grant.source == "grant"


def add_grant(
    connection: Connection,
    holder: int | str,
    tier: GrantedTier,
    expires_ms: int | None,
    now_ms: int,
) -> GrantRow:
    """Grant a tier to a user (a number) or to a wallet (an address in EIP-55 form).

    Raises:
        ServiceError: `NOT_FOUND` if the user does not exist.
    """
    user_id, wallet = (holder, None) if isinstance(holder, int) else (None, holder)
    if user_id is not None:
        require_user(connection, user_id)
    made = connection.execute(
        "INSERT INTO grants (user_id, wallet, tier, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (user_id, wallet, tier, now_ms, expires_ms),
    ).fetchone()
    _record_change(connection, user_id, wallet, now_ms)
    return GrantRow(int(made[0]), user_id, wallet, tier, now_ms, expires_ms, None)


def revoke_grant(connection: Connection, grant_id: int, now_ms: int) -> None:
    """Revoke a grant. Revoking it again changes nothing.

    Raises:
        ServiceError: `NOT_FOUND` if the grant does not exist.
    """
    found = connection.execute("SELECT user_id, wallet FROM grants WHERE id = ?", (grant_id,)).fetchone()
    if found is None:
        raise ServiceError("NOT_FOUND", f"There is no grant {grant_id}. `verdict admin grants list` shows them.")
    user_id, wallet = found
    connection.execute("UPDATE grants SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", (now_ms, grant_id))
    _record_change(connection, user_id, wallet, now_ms)


def _record_change(connection: Connection, user_id: int | None, wallet: str | None, now_ms: int) -> None:
    owner = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (wallet,)).fetchone()
    concerned = user_id if owner is None else owner[0]
    if concerned is not None:
        change_log.record_tier_change(connection, concerned, now_ms)
