"""The log of changes to credentials in use. Every process reads it from its own position."""

from typing import Final

from msgspec import Struct

from service.storage.engine import Connection

AT_ONCE: Final = 0
"""`ends_ms` of a credential that is dead whatever the clock says."""

LATEST_CHANGE: Final = "(SELECT coalesce(max(epoch), 0) FROM access_changes)"
"""SQL for the newest epoch, to be read in the same statement as what it dates."""

CHANGES_SINCE: Final = (
    "SELECT epoch, user_id, credential_id, ends_ms FROM access_changes WHERE epoch > ? ORDER BY epoch"
)


class CredentialChange(Struct, frozen=True):
    """A change to a user. If it names a credential, that credential ends at `ends_ms`."""

    epoch: int
    user_id: int
    credential_id: int | None
    ends_ms: int | None


def record_credential_end(connection: Connection, user_id: int, credential_id: int, ends_ms: int, now_ms: int) -> None:
    """Record that a credential ends."""
    connection.execute(
        "INSERT INTO access_changes (user_id, credential_id, ends_ms, at_ms) VALUES (?, ?, ?, ?)",
        (user_id, credential_id, ends_ms, now_ms),
    )


def record_tier_change(connection: Connection, user_id: int, now_ms: int) -> None:
    """Record that a user's tier or free questions changed."""
    connection.execute("INSERT INTO access_changes (user_id, at_ms) VALUES (?, ?)", (user_id, now_ms))
