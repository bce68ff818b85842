"""Whether the file is what it should be, page by page and row by row."""

from service.storage.engine import Connection

_MOST_FINDINGS = 20


def check_integrity(connection: Connection) -> list[str]:
    """Look at every page, index and foreign key. For `Database.inspect`: it reads the whole file.

    Returns:
        One sentence a finding, at most 20 of a kind; empty where all is well.
    """
    pages = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST_FINDINGS})")]
    orphans = connection.execute("PRAGMA foreign_key_check").fetchmany(_MOST_FINDINGS)
    return [
        *(finding for finding in pages if finding != "ok"),
        *(f"row {row} of {table} points to a row of {parent} that does not exist" for table, row, parent, _ in orphans),
    ]
