"""The schema's history on PostgreSQL: the same numbered files, said in its words."""

import re
from pathlib import Path
from typing import Final

from service.storage.migrate import FOLDER, HISTORY, Dialect, Migration, read_migrations, statements_of
from service.storage.postgres.translate import say

_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtext('verdict migrations'))"
TURN: Final = "UPDATE store_turn SET commits = commits + 1 WHERE id = 1 RETURNING commits"
"""Takes the turn to write, until the transaction ends. There is none before the first migration."""

_COMMENT: Final = re.compile(r"--[^\n]*\n")
_TYPES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\)\s*(?:STRICT|WITHOUT ROWID)(?:\s*,\s*(?:STRICT|WITHOUT ROWID))*\s*(?=;|\Z)"), ")"),
    (re.compile(r"\bINTEGER\b"), "BIGINT"),
    (re.compile(r"\bREAL\b"), "DOUBLE PRECISION"),
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),
    (re.compile(r"printf\('%064d', 0\)"), "repeat('0', 64)"),
)
_TABLE: Final = re.compile(r"\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+)")
_KEY: Final = re.compile(r"[(,]\s*(\w+) BIGINT PRIMARY KEY")
_TRIGGER: Final = re.compile(
    r"\s*CREATE TRIGGER (?P<name>\w+) (?P<when>BEFORE (?P<event>INSERT|UPDATE|DELETE)) ON (?P<table>\w+)"
    r"(?:\s+WHEN (?P<condition>.*?))?\s*BEGIN\s+SELECT RAISE\("
    r"(?:(?P<ignore>IGNORE)|ABORT, (?P<words>'[^']*'))\);\s*END;?\s*\Z",
    re.DOTALL,
)
_DROP_TRIGGER: Final = re.compile(r"\s*DROP TRIGGER (\w+)")
_REFUSAL: Final = """
CREATE FUNCTION {name}() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF {condition} THEN
        {consequence}
    END IF;
    RETURN {row};
END
$$
"""
_BROKEN: Final = "RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = {words};"
_NEXT: Final = """
CREATE FUNCTION next_of_{table}() RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT coalesce(max({key}), 0) + 1 FROM {table});
END
$$
"""
"""SQLite's number of a new row. Writers come one after the other, so that it needs no sequence, and leaves no gaps."""


def read_all(folder: Path = FOLDER) -> tuple[list[Migration], Dialect]:
    """Read the migrations of both stores' schema and those of PostgreSQL alone (`NNNN_name.postgres.sql`), in order.

    Returns:
        The migrations and PostgreSQL's dialect.

    Raises:
        StorageError: If two files claim one number.
    """
    own = read_migrations(folder, ".postgres")
    numbers = {step.version for step in own}

    def say_step(step: Migration) -> list[str]:
        turn = [TURN] if step.version else []
        if step.version in numbers:
            return [*turn, step.sql]
        return [*turn, *(said for statement in statements_of(step) for said in say_definition(statement))]

    every = sorted([*read_migrations(folder), *own], key=lambda step: step.version)
    return every, Dialect(("BEGIN", _ALONE), _HISTORY, say_step)


def say_definition(statement: str) -> list[str]:
    """A statement of a migration in PostgreSQL's words; a table's number and a trigger's doing are functions there."""
    said = say(_COMMENT.sub("", statement))
    said = _say_types(said)
    if trigger := _TRIGGER.match(said):
        return _say_trigger(trigger)
    if dropped := _DROP_TRIGGER.match(said):
        return [f"DROP FUNCTION {dropped[1]}() CASCADE"]
    table, key = _TABLE.match(said), _KEY.search(said)
    if table and key:
        return [said, _NEXT.format(table=table[1], key=key[1]), _use_next(table[1], key[1])]
    return [said]


def _say_types(said: str) -> str:
    for pattern, words in _TYPES:
        said = pattern.sub(words, said)
    return said


def _use_next(table: str, key: str) -> str:
    return f"ALTER TABLE {table} ALTER COLUMN {key} SET DEFAULT next_of_{table}()"


def _say_trigger(trigger: re.Match[str]) -> list[str]:
    name, row = trigger["name"], "OLD" if trigger["event"] == "DELETE" else "NEW"
    consequence = "RETURN NULL;" if trigger["ignore"] else _BROKEN.format(words=trigger["words"])
    made = _REFUSAL.format(name=name, condition=trigger["condition"] or "TRUE", consequence=consequence, row=row)
    return [
        made,
        f"CREATE TRIGGER {name} {trigger['when']} ON {trigger['table']} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]


_HISTORY: Final = _say_types(HISTORY.strip())
