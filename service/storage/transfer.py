"""Copies a whole store into another one and compares the two."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
from msgspec import Struct

from service.clock import SystemClock
from service.storage.database import Database
from service.storage.engine import Connection, StorageError, connect
from service.storage.migrate import migrate, read_migrations
from service.storage.port import LEADER, ProcessClaim
from service.storage.postgres.translate import hold
from service.storage.rows import insert_rows

_PAGE: Final = 2_048
_PAGE_OF_BODIES: Final = 64
_PATIENCE_S: Final = 60.0
"""How long the source may take for one page."""

_BEAT_S: Final = 1.0
"""How often a claim wants to be proven."""

_DIGEST_BITS: Final = 128

_NOT_EMPTY: Final = (
    "TO is not empty ({table} has {rows:,} rows). Name a store that nothing was written to. Nothing was changed."
)
_DIFFERS: Final = (
    "{table} could not be read back as it was written ({read} for {written}), so everything was undone. Nothing was "
    "changed. Please report this."
)
_MOVED_ON: Final = (
    "Another process wrote to FROM meanwhile. Stop every process that uses it, then run this command again. "
    "Nothing was changed."
)
_IN_USE: Final = (
    "A service runs on {which}. Stop it on every machine, then run this command again. Nothing was changed."
)

Row = tuple[Any, ...]
Read = Callable[[str, Sequence[object]], list[Row]]
"""Runs a statement that reads."""


class TableLayout(Struct, frozen=True):
    """One table.

    Attributes:
        columns: The key's first.
        key: Columns that tell a row from every other.
        own_references: Columns that name other rows of this table.
        others: Tables that its rows name.
        bodies: Whether its rows hold bodies, of up to half a megabyte each.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    own_references: tuple[str, ...]
    others: frozenset[str]
    bodies: bool

    @property
    def head(self) -> str:
        """Start of an `INSERT` statement for the table."""
        return f"INSERT INTO {self.name} ({', '.join(self.columns)})"


def read_layout() -> list[TableLayout]:
    """All tables, each after those that its rows refer to; equal for both stores."""
    with TemporaryDirectory() as folder:
        connection = connect(Path(folder) / "layout.db")
        try:
            migrate(connection, read_migrations(), SystemClock())
            names = connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' "
                "AND name <> 'migrations' ORDER BY name"
            ).fetchall()
            tables = [_read(connection, name) for (name,) in names]
        finally:
            connection.close()
    return _in_order(tables)


def _read(connection: Connection, name: str) -> TableLayout:
    # `pk` is the place in the primary key, from 1; 0 where a column is not in it.
    columns = connection.execute("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
    primary = sorted((place, column) for column, place, _ in columns if place)
    key = tuple(column for _, column in primary) or _unique(connection, name)
    references = connection.execute('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (name,)).fetchall()
    return TableLayout(
        name,
        (*key, *(column for column, _, _ in columns if column not in key)),
        key,
        tuple(sorted(column for target, column in references if target == name)),
        frozenset(target for target, _ in references if target != name),
        any(kind == "BLOB" and column not in key for column, _, kind in columns),
    )


def _unique(connection: Connection, table: str) -> tuple[str, ...]:
    """The columns of the constraint `UNIQUE` of a table that has no primary key."""
    rows = connection.execute(
        "SELECT list.seq, info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info "
        "WHERE list.origin = 'u' ORDER BY list.seq, info.seqno",
        (table,),
    ).fetchall()
    return tuple(column for index, column in rows if index == rows[0][0])


def _in_order(tables: list[TableLayout]) -> list[TableLayout]:
    placed: dict[str, TableLayout] = {}
    while len(placed) < len(tables):
        placed |= {table.name: table for table in tables if table.others <= placed.keys()}
    return list(placed.values())


class TableDigest(Struct, frozen=True):
    """Digest of a table: number of rows, and the sum of their SHA-256 modulo 2^128, independent of their order."""

    rows: int = 0
    digest: int = 0

    def plus(self, rows: Sequence[Row]) -> "TableDigest":
        """Add rows."""
        added = sum(int.from_bytes(sha256(msgspec.msgpack.encode(row)).digest()) for row in rows)
        return TableDigest(self.rows + len(rows), (self.digest + added) % (1 << _DIGEST_BITS))

    def __str__(self) -> str:
        return f"{self.rows:,} rows, {self.digest:032x}"


async def transfer(source: Database, target: Database) -> dict[str, TableDigest]:
    """Copy every table to a store that is empty, in one transaction, and read it back.

    Args:
        source: Nothing may write to it meanwhile; a write is noticed, and then nothing is copied.
        target: Migrated and empty. Its writer is busy until the copy ends.

    Returns:
        What was copied, by table.

    Raises:
        StorageError: If a service runs on either, if the target is not empty or does not hold what was written, or if
            a process wrote to the source. The target is unchanged then.
        ServiceError: `UNAVAILABLE` if one of the two does not answer any more; the target is as it was.
    """
    loop = asyncio.get_running_loop()

    def ask(sql: str, parameters: Sequence[object]) -> list[Row]:
        return asyncio.run_coroutine_threadsafe(source.read(sql, parameters), loop).result(_PATIENCE_S)

    def moved() -> int:
        return asyncio.run_coroutine_threadsafe(_seen(source), loop).result(_PATIENCE_S)

    async with source.claim(LEADER) as here, target.claim(LEADER) as there:
        for claim, which in ((here, "FROM"), (there, "TO")):
            if not await claim.contend():
                raise StorageError(_IN_USE.format(which=which))
        before = await _seen(source)

        def work(connection: Connection) -> dict[str, TableDigest]:
            copied = copy_all(ask, connection)
            if moved() != before:
                raise StorageError(_MOVED_ON)
            return copied

        async with _holding(here, there):
            return await target.write(work)


@asynccontextmanager
async def _holding(*claims: ProcessClaim) -> AsyncIterator[None]:
    """Renew claims until the block ends; a server releases a claim that is not renewed."""

    async def prove() -> None:
        while True:
            await asyncio.sleep(_BEAT_S)
            for claim in claims:
                await claim.contend()

    proving = asyncio.ensure_future(prove())
    try:
        yield
    finally:
        proving.cancel()
        await asyncio.wait([proving])


async def _seen(database: Database) -> int:
    """A number that grows with each commit of another process."""
    return await database.write(lambda _: database.foreign_commits)


def copy_all(ask: Read, connection: Connection) -> dict[str, TableDigest]:
    """Copy every table and read it back.

    Args:
        ask: Reads the source.
        connection: To the target, inside a transaction that is rolled back if this raises.

    Returns:
        What was copied, by table.

    Raises:
        StorageError: If the target is not empty, or does not hold what was written.
    """

    def read(sql: str, parameters: Sequence[object]) -> list[Row]:
        rows: list[Row] = connection.execute(sql, parameters).fetchall()
        return rows

    layout = read_layout()
    for table in layout:
        ((rows,),) = read(f"SELECT count(*) FROM {table.name}", ())  # noqa: S608 - names of tables
        if rows:
            raise StorageError(_NOT_EMPTY.format(table=table.name, rows=rows))
    copied = {table.name: _copy(table, ask, connection) for table in layout}
    for table in layout:
        found = TableDigest()
        for page in _pages(table, read):
            found = found.plus(page)
        if found != copied[table.name]:
            raise StorageError(_DIFFERS.format(table=table.name, read=found, written=copied[table.name]))
    return copied


def _copy(table: TableLayout, ask: Read, connection: Connection) -> TableDigest:
    copied = TableDigest()
    own = [table.columns.index(column) for column in table.own_references]
    held: list[Row] = []
    for found in _pages(table, ask):
        page = [tuple(map(hold, row)) for row in found]
        copied = copied.plus(page)
        insert_rows(connection, table.head, [_without(row, own) for row in page])
        held += [row for row in page if any(row[place] is not None for place in own)]
    for place in own:  # only now is every row there that another may name
        connection.executemany(
            f"UPDATE {table.name} SET {table.columns[place]} = ? WHERE {table.key[0]} = ?",  # noqa: S608 - names
            [(row[place], row[0]) for row in held],
        )
    return copied


def _without(row: Row, places: Sequence[int]) -> Row:
    if not places:
        return row
    return tuple(None if place in places else value for place, value in enumerate(row))


def _pages(table: TableLayout, read: Read) -> Iterator[list[Row]]:
    """A table in the order of its key, a page at a time: ten million rows are more than a memory holds."""
    after: Row | None = None
    size = _PAGE_OF_BODIES if table.bodies else _PAGE
    while page := read(*_statement(table, after, size)):
        yield page
        if len(page) < size:
            return
        after = tuple(page[-1][: len(table.key)])


def _statement(table: TableLayout, after: Row | None, size: int) -> tuple[str, Row]:
    key = ", ".join(table.key)
    where, parameters = "", ()
    if after is not None:
        where, parameters = f"WHERE ({key}) > ({', '.join('?' for _ in after)})", after
    sql = f"SELECT {', '.join(table.columns)} FROM {table.name} {where} ORDER BY {key} LIMIT {size}"  # noqa: S608 - names
    return sql, parameters
