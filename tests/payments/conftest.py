from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.stores import on_both, store
from tests.payments.shop import Shop

__all__ = ("store",)

_OF_A_FILE = {
    "test_a_page_is_read_by_the_index_of_receipts",
    "test_audit",
    "test_ledger_machine",
    "test_ledger_processes",
    "test_receipt_and_usage_are_entered_together_or_not_at_all",
}
"""Tests that change SQLite's schema, copy its file, ask for its plan, or open it in processes of their own."""

_OFTEN = {
    "test_a_false_report_fails_the_payment_and_stops_the_facilitator",
    "test_a_report_that_the_chain_shows_is_checked_once_and_stays_settled",
    "test_a_burst_is_held_within_bounds_without_waiting_for_the_hour",
    "test_a_list_is_of_the_callers_own_and_newest_first",
    "test_of_twenty_claims_at_once_one_is_stored_and_all_find_it",
    "test_a_second_row_of_an_authorization_is_not_written_and_replaces_nothing",
    "test_a_payment_goes_its_way_and_every_step_is_written",
    "test_a_payment_that_failed_says_why_each_time_it_comes",
    "test_a_payment_that_is_not_good_and_has_bought_nothing_is_refused_and_not_claimed",
    "test_a_payment_that_is_not_settled_yet_says_so_to_its_owner_alone",
    "test_a_settled_row_says_how_and_for_what",
    "test_an_answer_that_is_not_kept_any_more_is_409_and_names_the_receipt",
    "test_an_answer_whose_settlement_took_days_is_kept_for_a_day_from_then_on",
    "test_an_operator_reads_every_payment_and_every_receipt",
    "test_an_unknown_outcome_is_asked_about_until_it_is_known_and_entered_once",
    "test_money_that_has_moved_stays_moved_whoever_writes",
    "test_where_nothing_was_charged_there_is_no_receipt",
}
"""Tests that between them use each statement of the room; every run does them on a server too."""

pytest_generate_tests = on_both(often=_OFTEN, but=_OF_A_FILE)


@pytest.fixture
async def shop(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Shop]:
    """A process that takes payments."""
    opened = await Shop(tmp_path / "shop.db", clock).open()
    yield opened
    await opened.close()
