"""Schema migrations: numbered SQL files, each applied and recorded in one transaction."""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.clock import Clock
from service.storage.engine import Connection, StorageError, complete_statement, connect

FOLDER: Final = Path(__file__).parent / "migrations"

HISTORY: Final = """
CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_ms INTEGER NOT NULL
) STRICT
"""


class Migration(Struct, frozen=True):
    """One step of the schema: its number, its file's name without number and suffix, its text and the text's digest."""

    version: int
    name: str
    sql: str
    sha256: str


class Dialect(Struct, frozen=True):
    """SQL of one kind of store.

    Attributes:
        begin: Statements that start a transaction in which no other process migrates.
        history: Creates the table of applied migrations if it is missing.
        say: Returns a migration's statements.
    """

    begin: tuple[str, ...]
    history: str
    say: Callable[[Migration], Iterable[str]]


def read_migrations(folder: Path = FOLDER, ending: str = "") -> list[Migration]:
    """Read `NNNN_name.sql` files, in order.

    Args:
        folder: Where they are.
        ending: What their names end in besides (`.postgres`: those that PostgreSQL alone has).

    Raises:
        StorageError: If two files claim one number.
    """
    found: dict[int, Migration] = {}
    for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql")):
        number, _, name = path.stem.removesuffix(ending).partition("_")
        if not path.stem.endswith(ending) or "." in name:
            continue
        sql = path.read_text(encoding="utf-8")
        step = Migration(int(number), name, sql, hashlib.sha256(sql.encode()).hexdigest())
        if step.version in found:
            raise StorageError(f"Two migrations are numbered {number}. Reinstall the service.")
        found[step.version] = step
    return list(found.values())


def migrate(
    connection: Connection, migrations: list[Migration], clock: Clock, dialect: Dialect | None = None
) -> list[int]:
    """Bring a database's schema up to the code's.

    Safe when several processes start at once: each step is decided inside the transaction that applies it.

    Args:
        connection: A connection in autocommit mode.
        migrations: All the code knows, in order.
        clock: Stamps what is applied.
        dialect: SQL of the store; SQLite's by default.

    Returns:
        The versions applied now.

    Raises:
        StorageError: If the file's schema is newer than the code, or a migration differs from what was applied.
        DatabaseError: If a step fails; the database is left as it was before that step.
    """
    applied, dialect = [], dialect or _SQLITE
    for step in migrations:
        try:
            for statement in dialect.begin:
                connection.execute(statement)
            connection.execute(dialect.history)
            _check(connection, {known.version: known for known in migrations})
            if not connection.execute("SELECT 1 FROM migrations WHERE version = ?", (step.version,)).fetchone():
                for statement in dialect.say(step):
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO migrations VALUES (?, ?, ?, ?)", (step.version, step.name, step.sha256, clock.now_ms())
                )
                applied.append(step.version)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return applied


@cache
def tables_after(versions: frozenset[int]) -> frozenset[str]:
    """Tables of a SQLite store to which these migrations were applied. Unknown versions add none."""
    with closing(connect(Path(":memory:"))) as connection:
        for step in read_migrations():
            if step.version in versions:
                for statement in statements_of(step):
                    connection.execute(statement)
        return frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def _check(connection: Connection, known: dict[int, Migration]) -> None:
    for version, name, digest in connection.execute("SELECT version, name, sha256 FROM migrations ORDER BY version"):
        if version not in known:
            raise StorageError(
                f"The database has migration {version:04d} ({name}), which this version of the service does not know: "
                "it was written by a newer one. Run that version, or put a copy made with `verdict admin backup` "
                "before the upgrade in its place."
            )
        if known[version].sha256 != digest:
            raise StorageError(
                f"Migration {version:04d} ({name}) is not the one this database was made with. Reinstall the service "
                "as released, or put a copy made with `verdict admin backup` by this version in its place."
            )


def statements_of(step: Migration) -> list[str]:
    """Split a script where SQLite says that a statement is complete; `executescript` would commit what is open."""
    found, pending = [], ""
    for line in step.sql.splitlines(keepends=True):
        pending += line
        if complete_statement(pending):
            found.append(pending)
            pending = ""
    return [*found, pending] if pending.strip() else found


_SQLITE: Final = Dialect(("BEGIN IMMEDIATE",), HISTORY, statements_of)
