"""Which accounts have free questions: wallets cost nothing to invent, so each network may make only a few a UTC day.

A network is the /24 of an IPv4 address or the /56 of an IPv6 address (settings). A sign-in with a wallet that was never
seen makes an account. If its network has already made as many accounts with free questions as it may on that day, the
account has none: it may sign in and pay. It gets them when it signs in again from a network with room left, on the same
day or later, and then counts as one of that day's. Accounts that the operator makes are not limited.

The count is read and written in the transaction that signs in, so it is exact over workers and machines. The store
holds a keyed hash of the network and the day, and only for two days after.
"""

from typing import Final

from service.access import changes
from service.access.users import create_user, link_wallet
from service.clock import day_of
from service.storage.engine import Connection

_KEPT_DAYS: Final = 2
"""For a clock that is set back: the count of a day must not begin again."""

_OWNER: Final = "SELECT id, free FROM users WHERE id = (SELECT user_id FROM wallets WHERE address = ?)"
_COUNT: Final = "SELECT accounts FROM free_accounts WHERE network = ?"
_ADD: Final = """
INSERT INTO free_accounts (network, day, accounts) VALUES (?, ?, 1)
ON CONFLICT (network) DO UPDATE SET accounts = free_accounts.accounts + 1
"""


def sign_in(connection: Connection, address: str, network: bytes, limit: int, now_ms: int) -> tuple[int, bool]:
    """Find the account of a wallet, or make it.

    Args:
        connection: Inside the transaction of the sign-in.
        address: The proven wallet.
        network: Keyed hash of the network and the day that the sign-in came from.
        limit: Accounts with free questions that a network may make a UTC day.
        now_ms: Epoch milliseconds.

    Returns:
        The user's number, and whether it has free questions.
    """
    found = connection.execute(_OWNER, (address,)).fetchone()
    if found is not None:
        user_id, free = found
        if free:
            return int(user_id), True
        granted = _take(connection, network, limit, now_ms)
        if granted:
            grant(connection, int(user_id), now_ms)
        return int(user_id), granted
    user_id = create_user(connection, now_ms)
    link_wallet(connection, user_id, address, now_ms)
    granted = _take(connection, network, limit, now_ms)
    if not granted:
        connection.execute("UPDATE users SET free = 0 WHERE id = ?", (user_id,))
    return user_id, granted


def grant(connection: Connection, user_id: int, now_ms: int) -> None:
    """Give an account free questions; nothing where it has them."""
    given = connection.execute("UPDATE users SET free = 1 WHERE id = ? AND free = 0", (user_id,))
    if given.rowcount:
        changes.tier_moved(connection, user_id, now_ms)


def _take(connection: Connection, network: bytes, limit: int, now_ms: int) -> bool:
    """Count one more account with free questions, if the network has room."""
    today = day_of(now_ms)
    connection.execute("DELETE FROM free_accounts WHERE day < ?", (today - _KEPT_DAYS,))
    made = connection.execute(_COUNT, (network,)).fetchone()
    if (made[0] if made else 0) >= limit:
        return False
    connection.execute(_ADD, (network, today))
    return True
