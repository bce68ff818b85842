"""Users, their wallets, and which accounts have free questions.

Wallets cost nothing to create, so a network (/24 of an IPv4, /56 of an IPv6 address; settings) may create only a few
accounts with free questions in a UTC day. Further accounts can sign in and pay. They get free questions when they sign
in from a network below its limit. Accounts made by the operator are not limited. The count is exact, because it is read
and written in the transaction of the sign-in. Only keyed hashes of networks are stored, for two days.
"""

from typing import Final

from service.access import change_log
from service.clock import day_of
from service.errors import ServiceError
from service.storage.engine import Connection

_KEPT_DAYS: Final = 2
"""For a clock that is set back: the count of a day must not begin again."""

_FIND_OWNER: Final = "SELECT id, free FROM users WHERE id = (SELECT user_id FROM wallets WHERE address = ?)"
_COUNT_ACCOUNTS: Final = "SELECT accounts FROM free_accounts WHERE network = ?"

_ADD_ACCOUNT: Final = """
INSERT INTO free_accounts (network, day, accounts) VALUES (?, ?, 1)
ON CONFLICT (network) DO UPDATE SET accounts = free_accounts.accounts + 1
"""


def create_user(connection: Connection, now_ms: int) -> int:
    """Add a user and return its number."""
    made = connection.execute("INSERT INTO users (created_ms) VALUES (?) RETURNING id", (now_ms,))
    return int(made.fetchone()[0])


def require_user(connection: Connection, user_id: int) -> None:
    """Make sure that a user exists.

    Raises:
        ServiceError: `NOT_FOUND`.
    """
    if connection.execute("SELECT 1 FROM users WHERE id = ?", (user_id,)).fetchone() is None:
        raise ServiceError(
            "NOT_FOUND", f"There is no user {user_id}. `verdict admin keys list` shows the users that have keys."
        )


def owner_of(connection: Connection, address: str, now_ms: int) -> int:
    """The user a wallet belongs to. An unknown wallet creates a user."""
    found = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (address,)).fetchone()
    if found is not None:
        return int(found[0])
    user_id = create_user(connection, now_ms)
    link_wallet(connection, user_id, address, now_ms)
    return user_id


def link_wallet(connection: Connection, user_id: int, address: str, now_ms: int) -> None:
    """Assign a wallet to a user.

    Args:
        connection: Inside a transaction.
        user_id: An existing user.
        address: In EIP-55 form.
        now_ms: When it was proven.

    Raises:
        ServiceError: `BAD_REQUEST` if the wallet belongs to another user.
    """
    connection.execute(
        "INSERT INTO wallets (address, user_id, proven_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (address, user_id, now_ms),
    )
    owner = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (address,)).fetchone()
    if owner[0] != user_id:
        raise ServiceError("BAD_REQUEST", f"The wallet {address} belongs to user {owner[0]}.")
    change_log.record_tier_change(connection, user_id, now_ms)


def find_or_create_account(
    connection: Connection, address: str, network: bytes, limit: int, now_ms: int
) -> tuple[int, bool]:
    """Find the account of a wallet, or create it.

    Args:
        connection: Inside the transaction of the sign-in.
        address: The proven wallet.
        network: Keyed hash of the network and the day.
        limit: Accounts with free questions per network and UTC day.
        now_ms: Epoch milliseconds.

    Returns:
        The user's number, and whether it has free questions.
    """
    found = connection.execute(_FIND_OWNER, (address,)).fetchone()
    if found is not None:
        user_id, free = found
        if free:
            return int(user_id), True
        granted = _count_account(connection, network, limit, now_ms)
        if granted:
            grant_free_questions(connection, int(user_id), now_ms)
        return int(user_id), granted
    user_id = create_user(connection, now_ms)
    link_wallet(connection, user_id, address, now_ms)
    granted = _count_account(connection, network, limit, now_ms)
    if not granted:
        connection.execute("UPDATE users SET free = 0 WHERE id = ?", (user_id,))
    return user_id, granted


def grant_free_questions(connection: Connection, user_id: int, now_ms: int) -> None:
    """Give an account free questions, if it has none."""
    given = connection.execute("UPDATE users SET free = 1 WHERE id = ? AND free = 0", (user_id,))
    if given.rowcount:
        change_log.record_tier_change(connection, user_id, now_ms)


def _count_account(connection: Connection, network: bytes, limit: int, now_ms: int) -> bool:
    """Count one more account with free questions, if the network's limit allows it."""
    today = day_of(now_ms)
    connection.execute("DELETE FROM free_accounts WHERE day < ?", (today - _KEPT_DAYS,))
    made = connection.execute(_COUNT_ACCOUNTS, (network,)).fetchone()
    if (made[0] if made else 0) >= limit:
        return False
    connection.execute(_ADD_ACCOUNT, (network, today))
    return True
