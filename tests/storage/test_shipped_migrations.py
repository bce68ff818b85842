"""Migrations that were shipped never change: a store refuses to start on another text than it was made with."""

from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "service" / "storage" / "migrations"
SHIPPED = Path(__file__).with_name("shipped_migrations.txt")


def test_no_shipped_migration_has_changed_not_even_in_a_comment() -> None:
    digests = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted(FOLDER.glob("[0-9]*.sql"))]
    assert digests == SHIPPED.read_text().splitlines(), "add a new migration's digest (sha256sum); change none"
