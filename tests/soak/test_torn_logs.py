"""The end of the write-ahead log torn off, zeroed or overwritten: a torn write leaves any of these behind."""

import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from service.storage.database import open_database
from tests.fakes.clock import FakeClock
from tests.storage.test_faults import insert_number, numbers

pytestmark = pytest.mark.soak

ROWS = 60
PAGE = 4_096
LOG = "verdict.db-wal"


def torn(log: bytes, dice: random.Random) -> tuple[bytes, int]:
    """A log whose end is gone, empty or rubbish; how many of its last bytes are."""
    length = dice.randrange(1, len(log) // 2)
    kept = log[:-length]
    return dice.choice([kept, kept + bytes(length), kept + dice.randbytes(length)]), length


async def test_whatever_the_end_of_the_log_became_what_stands_before_it_is_there_in_order(
    tmp_path: Path, seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(f"{seed} torn")  # noqa: S311 - a replayable schedule, not a secret
    clock, path, lost = FakeClock(), tmp_path / "verdict.db", 0
    async with open_database(path, clock) as database:
        await database.write(lambda connection: connection.execute("CREATE TABLE notes (n)").rowcount)
    async with open_database(path, clock) as database:  # whose log begins with the rows
        for number in range(ROWS):
            await database.write(partial(insert_number, number))
        shutil.copy(path, tmp_path / "before")
        log = path.with_name(LOG).read_bytes()
    for number in range(patience):
        copy = tmp_path / str(number) / "verdict.db"
        copy.parent.mkdir()
        shutil.copy(tmp_path / "before", copy)
        content, length = torn(log, dice)
        copy.with_name(LOG).write_bytes(content)
        left = await numbers(copy, clock)
        assert left == list(range(len(left)))
        assert len(left) >= ROWS - 1 - length // PAGE, f"log {number}: {length} bytes torn took too much"
        lost += ROWS - len(left)
        shutil.rmtree(copy.parent)
    record_property("torn logs", patience)
    record_property("rows whose own bytes were torn", lost)
