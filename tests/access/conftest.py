from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.access.registrar import Registrar
from service.access.room import Access, open_access, open_registrar
from service.access.secrets import Secrets, open_secrets
from service.settings import Settings
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.stores import on_both, open_database, store

__all__ = ("store",)

_OF_A_FILE = {
    "test_access_machine",
    "test_meter_machine",
    "test_a_device_that_has_had_its_question_is_refused_without_the_writer",
    "test_a_key_is_shown_once_and_stored_nowhere",
    "test_a_release_the_store_cannot_take_is_left_to_the_lease",
    "test_a_store_that_cannot_be_written_gives_no_question",
    "test_a_store_that_cannot_be_written_keeps_nothing_and_counts_nothing",
    "test_a_transaction_that_is_lost_counts_nothing_and_says_so",
    "test_a_writer_that_cannot_begin_fails_everyone_who_waits_and_recovers",
    "test_an_owner_has_so_many_keys_and_is_told_when_one_is_free",
    "test_killed_processes",
    "test_meter_processes",
    "test_metering_does_not_start_on_a_locked_store",
    "test_of_two_processes_one_gives_a_device_its_question",
    "test_of_two_processes_one_makes_the_answer_and_both_give_it",
    "test_spent",
    "test_waiting_calls_share_transactions",
    "test_a_grant_by_another_process_is_known_within_a_second_and_ends_no_stream",
    "test_a_revocation_by_another_process_is_known_within_a_second",
    "test_a_store_that_does_not_answer_means_that_nobody_is_remembered",
    "test_the_last_use_is_noted_soon_and_then_once_a_minute",
    "test_two_processes_on_one_file_follow_each_other",
}
"""Tests that lock or fill SQLite's file, look at it at once, or open it in processes of their own."""

pytest_generate_tests = on_both(but=_OF_A_FILE)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url="https://api.example.org")


@pytest.fixture
def secrets(settings: Settings) -> Secrets:
    return open_secrets(settings.data_dir)


@pytest.fixture
async def db(settings: Settings, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(settings.data_dir / "verdict.db", clock) as database:
        yield database


@pytest.fixture
async def access(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> Access:
    return await open_access(settings, secrets, db, clock)


@pytest.fixture
def registrar(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> Registrar:
    return open_registrar(settings, secrets, db, clock)
