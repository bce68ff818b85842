"""Users and the wallets that are theirs."""

from service.access import changes
from service.errors import ServiceError
from service.storage.engine import Connection


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
            "NOT_FOUND", f"There is no user {user_id}. `verdict keys list` shows the users that have keys."
        )


def owner_of(connection: Connection, address: str, now_ms: int) -> int:
    """The user a wallet belongs to; an unknown wallet makes a new user."""
    found = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (address,)).fetchone()
    if found is not None:
        return int(found[0])
    user_id = create_user(connection, now_ms)
    link_wallet(connection, user_id, address, now_ms)
    return user_id


def link_wallet(connection: Connection, user_id: int, address: str, now_ms: int) -> None:
    """Make a wallet a user's own, once it is proven or vouched for.

    Args:
        connection: Inside a transaction.
        user_id: An existing user.
        address: In EIP-55's form.
        now_ms: When it was proven.

    Raises:
        ServiceError: `BAD_REQUEST` if the wallet belongs to somebody else.
    """
    connection.execute(
        "INSERT INTO wallets (address, user_id, proven_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (address, user_id, now_ms),
    )
    owner = connection.execute("SELECT user_id FROM wallets WHERE address = ?", (address,)).fetchone()
    if owner[0] != user_id:
        raise ServiceError("BAD_REQUEST", f"The wallet {address} belongs to user {owner[0]}.")
    changes.tier_moved(connection, user_id, now_ms)
