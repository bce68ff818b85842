from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.access.admin import AccessAdmin
from service.access.factory import Access, open_access, open_admin
from service.access.secrets import Secrets, open_secrets
from service.settings import Settings
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.stores import on_both, open_database, store

__all__ = ("store",)

_OF_A_FILE = {
    "test_access_machine",
    "test_contract_wallets",
    "test_meter_machine",
    "test_a_device_that_has_had_its_question_is_refused_without_the_writer",
    "test_a_key_is_shown_once_and_stored_nowhere",
    "test_a_key_of_the_index_and_a_session_are_authenticated_without_a_task",
    "test_a_refused_token_is_left_to_the_full_check_and_an_ended_key_is_read_once",
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

_OFTEN = {
    "test_a_call_cancelled_between_reserve_and_commit_is_released",
    "test_a_device_without_its_question_and_a_question_without_its_device_are_found",
    "test_a_free_answer_is_kept_as_well",
    "test_a_grant_holds_until_it_is_revoked",
    "test_a_key_of_another_process_is_known_as_soon_as_it_is_made_and_an_invented_one_never",
    "test_leases_run_out_after_a_minute_unless_their_process_renews_them",
    "test_of_many_streams_opened_at_once_on_two_processes_exactly_three_are_granted",
    "test_of_200_new_wallets_over_two_processes_exactly_5_have_free_questions",
    "test_a_kill_before_the_answer_leaves_gives_the_question_back_and_one_after_it_does_not",
    "test_a_nonce_is_spent_once_and_kept_for_a_day_past_its_expiry",
    "test_a_nonce_lasts_five_minutes_and_asking_stores_nothing",
    "test_a_refused_login_makes_no_user",
    "test_a_restored_copy_does_not_meet_the_runs_of_its_future",
    "test_a_session_shortened_in_the_store_ends_there",
    "test_a_user_who_does_not_exist_is_not_found_and_nothing_is_made",
    "test_beyond_a_thousand_ended_keys_are_left_out_of_the_list_first",
    "test_days_that_lie_in_the_future_are_named_and_brought_back",
    "test_every_process_says_busy_while_the_last_question_is_only_reserved",
    "test_no_users_quota_knows_of_a_devices_question",
    "test_of_a_hundred_calls_of_one_device_at_once_exactly_one_is_given_the_question",
    "test_of_twenty_logins_at_once_with_one_nonce_one_succeeds",
    "test_reservations_of_a_living_process_stay",
    "test_sessions_are_listed_and_ended",
    "test_the_last_use_of_a_revoked_key_is_not_lost",
    "test_the_watch_names_a_counter_that_is_wrong_and_goes_on_where_the_store_fails",
    "test_what_is_kept_is_not_released",
    "test_what_is_reserved_is_not_answered_yet",
    "test_what_is_reserved_when_metering_ends_is_released",
    "test_what_was_paid_for_is_never_given_back_and_moves_no_counter",
    "test_when_it_comes_to_nothing_one_of_those_who_wait_has_its_turn",
    "test_where_there_is_no_room_the_oldest_answers_go_and_their_keys_stay_used",
    "test_without_a_grace_a_rotated_key_is_dead_at_once_whatever_the_clock",
    "test_wrong_counters_are_found_and_repaired_and_the_meter_notices",
}
"""Tests that between them use each statement of the room; every run does them on a server too."""

pytest_generate_tests = on_both(often=_OFTEN, but=_OF_A_FILE)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url="https://api.example.org")


@pytest.fixture
def secrets(settings: Settings, db: Database) -> Secrets:
    return open_secrets(settings.data_dir)


@pytest.fixture
async def db(settings: Settings, clock: FakeClock) -> AsyncIterator[Database]:
    async with open_database(settings.data_dir / "verdict.db", clock) as database:
        yield database


@pytest.fixture
async def access(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> Access:
    return await open_access(settings, secrets, db, clock)


@pytest.fixture
def admin(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> AccessAdmin:
    return open_admin(settings, secrets, db, clock)
