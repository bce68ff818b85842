"""What `verdict doctor` says of a PostgreSQL server."""

from typing import Final

from service.operator.check import Check, judge
from service.settings import Secret
from service.storage.engine import Connection, DatabaseError, error_name
from service.storage.port import LEADER

_KEEPING: Final = frozenset({"on", "remote_apply"})
_PAGES: Final = "its pages are pg_amcheck's to look at"
_MEND: Final = "set right what VERDICT_STORE names, or the server"


def check_server(connection: Connection) -> list[Check]:
    """Look at the server behind a store: what it is, whether it keeps what it acknowledges, who is connected."""
    from service.storage.postgres.standing import read_standing  # noqa: PLC0415 - asyncpg, where it is used

    found = read_standing(connection, LEADER)
    findings = [
        f"{name} is {value}: what was acknowledged may be forgotten"
        for name, value in found.keeps.items()
        if value not in _KEEPING
    ]
    if found.standby:
        findings.append("it is a standby: it only follows another server")
    said = f"{found.version}, {'not as the service needs it' if findings else 'keeps what it has acknowledged'}"
    empty = [] if found.begun else ["no service has used it yet"]
    remedy = "start the service once, or name the database that it uses in VERDICT_STORE"
    return [
        judge("PostgreSQL", said, findings, "set all three to on, on the server that writes"),
        judge("database", f"reachable, {found.size / 2**20:.1f} MiB; {_PAGES}", empty, remedy),
        Check("nodes", f"{_nodes(found.nodes)}; {_lead(found.leader)}"),
    ]


def unreachable(address: Secret, error: DatabaseError) -> Check:  # type: ignore[valid-type]
    """Say that a server cannot be used, and nothing of its password."""
    from service.storage.postgres.failures import refusal  # noqa: PLC0415 - asyncpg, where it is used

    return Check("database", "cannot be read", [str(refusal(address, error, error_name(error)))], _MEND)


def _nodes(places: list[str]) -> str:
    if not places:
        return "no process of the service is connected"
    said = "1 process is connected" if len(places) == 1 else f"{len(places)} processes are connected"
    return f"{said}, from {', '.join(dict.fromkeys(places))}"


def _lead(leader: str | None) -> str:
    return "nobody holds the lead" if leader is None else f"the lead is held from {leader}"
