"""The tables that the migrations make: their columns, what tells their rows apart, in what order they can be filled."""

from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from service.clock import SystemClock
from service.storage.engine import Connection, connect
from service.storage.migrate import migrate, read_migrations


class Table(Struct, frozen=True):
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
        """What a statement that fills it begins with."""
        return f"INSERT INTO {self.name} ({', '.join(self.columns)})"


def read_layout() -> list[Table]:
    """Every table that keeps something, each after those that its rows name. The same whichever store holds them."""
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


def _read(connection: Connection, name: str) -> Table:
    # `pk` is the place in the primary key, from 1; 0 where a column is not in it.
    columns = connection.execute("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
    primary = sorted((place, column) for column, place, _ in columns if place)
    key = tuple(column for _, column in primary) or _unique(connection, name)
    references = connection.execute('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (name,)).fetchall()
    return Table(
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


def _in_order(tables: list[Table]) -> list[Table]:
    placed: dict[str, Table] = {}
    while len(placed) < len(tables):
        placed |= {table.name: table for table in tables if table.others <= placed.keys()}
    return list(placed.values())
