"""Alert rules over a real store, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.storage.database import Database
from service.storage.engine import Connection
from tests.fakes.clock import FakeClock
from tests.fakes.stores import on_both, open_database, store

__all__ = ("store",)

_OFTEN = {
    "test_a_message_waits_until_it_ends",
    "test_a_rule_that_was_removed_causes_nothing_and_its_messages_are_given_up",
    "test_a_state_and_its_message_are_stored_together_and_once",
    "test_a_user_has_a_limited_number_of_rules",
    "test_beyond_the_hourly_limit_messages_are_listed_and_not_sent",
    "test_messages_are_forgotten_a_week_after_their_end",
    "test_one_user_takes_no_more_than_four_of_the_places",
    "test_rules_are_listed_by_user_oldest_first",
}
"""Tests that between them use each statement; every run does them on a server too."""

pytest_generate_tests = on_both(often=_OFTEN, but={"test_evaluation", "test_outbox_kill"})


@pytest.fixture
async def database(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    """A store with the users 1 and 2."""

    def add_users(connection: Connection) -> None:
        connection.executemany("INSERT INTO users (created_ms) VALUES (?)", [(0,), (0,)])

    async with open_database(tmp_path / "verdict.db", clock) as opened:
        await opened.write(add_users)
        yield opened
