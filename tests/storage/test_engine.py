"""How a connection to SQLite is set up."""

from pathlib import Path

from service.storage.engine import connect

STATEMENTS = 1_000
"""More than the distinct statements of a serving process: batches of rows have one for each number of rows."""


def test_a_thousand_statements_stay_compiled(tmp_path: Path) -> None:
    compiled: list[int] = []

    def note(action: int, *_: object) -> int:
        compiled.append(action)
        return 0

    connection = connect(tmp_path / "verdict.db")
    connection.set_authorizer(note)
    for _ in range(2):
        compiled.clear()
        for number in range(STATEMENTS):
            connection.execute(f"SELECT {number}").fetchone()
    connection.close()
    assert not compiled, "SQLite asks its authorizer whenever it compiles a statement"
