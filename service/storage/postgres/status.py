"""Status of a PostgreSQL server, for `verdict admin doctor`."""

from typing import Final

from msgspec import Struct

from service.storage.engine import Connection

_SETTINGS: Final = ("synchronous_commit", "fsync", "full_page_writes")
_READ: Final = f"""
SELECT current_setting('server_version'), to_regclass('migrations') IS NOT NULL, pg_is_in_recovery(),
    pg_database_size(current_database()), {", ".join(f"current_setting('{name}')" for name in _SETTINGS)}
"""
_SESSIONS: Final = """
SELECT coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
WHERE datname = current_database() AND application_name = ? ORDER BY 1
"""
_LEADS: Final = """
SELECT coalesce(host(client_addr), 'this machine') FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::BIGINT = hashtext('verdict claim')::BIGINT & 4294967295
    AND objid::BIGINT = hashtext(?)::BIGINT & 4294967295
"""


class ServerStatus(Struct, frozen=True):
    """A server and who is connected to it.

    Attributes:
        version: As the server reports it.
        begun: Whether a service has used the database.
        standby: Whether it is a read-only replica.
        size: Bytes that the database takes.
        keeps: Settings that must be on for durable commits, by name.
        nodes: Address of each connected process of the service.
        leader: Address of the process that holds the claim; None if none does.
    """

    version: str
    begun: bool
    standby: bool
    size: int
    keeps: dict[str, str]
    nodes: list[str]
    leader: str | None


def read_server_status(connection: Connection, claim: str) -> ServerStatus:
    """Read the status of a server.

    Args:
        connection: A connection to a server.
        claim: Name of the leader's claim.

    Raises:
        DatabaseError: If it cannot be read.
    """
    version, begun, standby, size, *keeps = connection.execute(_READ).fetchone()
    nodes = [place for (place,) in connection.execute(_SESSIONS, ("verdict writer",))]
    leader = connection.execute(_LEADS, (claim,)).fetchone()
    return ServerStatus(
        version,
        bool(begun),
        bool(standby),
        size,
        dict(zip(_SETTINGS, keeps, strict=True)),
        nodes,
        leader[0] if leader else None,
    )
