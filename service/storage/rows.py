"""Many rows in one statement."""

from collections.abc import Sequence
from typing import Final

from service.storage.engine import Connection

_LARGEST: Final = 64


def insert_rows(connection: Connection, head: str, rows: Sequence[tuple[object, ...]], tail: str = "") -> None:
    """Insert rows with as few statements as there are powers of two in their number.

    A statement is one stay outside the interpreter lock; `executemany` leaves and re-enters it for every row. Powers of
    two keep the number of distinct statements small, so that they stay prepared.

    Args:
        connection: Inside a transaction.
        head: `INSERT INTO table (columns)`.
        rows: Tuples of equal length.
        tail: An upsert clause.
    """
    done = 0
    while done < len(rows):
        size = min(_LARGEST, 1 << ((len(rows) - done).bit_length() - 1))
        row = f"({', '.join('?' * len(rows[0]))})"
        values = [value for taken in rows[done : done + size] for value in taken]
        connection.execute(f"{head} VALUES {', '.join([row] * size)} {tail}", values)
        done += size
