"""The log of what changed for credentials in use; every process reads on from where it is."""

from typing import Final

from msgspec import Struct

from service.storage.engine import Connection

AT_ONCE: Final = 0
"""`ends_ms` of a credential that is dead whatever the clock says."""

LATEST: Final = "(SELECT coalesce(max(epoch), 0) FROM access_changes)"
"""SQL for the newest epoch, to be read in the same statement as what it dates."""

SINCE: Final = "SELECT epoch, user_id, credential_id, ends_ms FROM access_changes WHERE epoch > ? ORDER BY epoch"


class Change(Struct, frozen=True):
    """Something about a user changed; where a credential is named, it ends at `ends_ms`."""

    epoch: int
    user_id: int
    credential_id: int | None
    ends_ms: int | None


def credential_ends(connection: Connection, user_id: int, credential_id: int, ends_ms: int, now_ms: int) -> None:
    """Record that a credential ends."""
    connection.execute(
        "INSERT INTO access_changes (user_id, credential_id, ends_ms, at_ms) VALUES (?, ?, ?, ?)",
        (user_id, credential_id, ends_ms, now_ms),
    )


def tier_moved(connection: Connection, user_id: int, now_ms: int) -> None:
    """Record that what a user may do has changed."""
    connection.execute("INSERT INTO access_changes (user_id, at_ms) VALUES (?, ?)", (user_id, now_ms))
