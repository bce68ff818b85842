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

pytest_generate_tests = on_both(but=_OF_A_FILE)


@pytest.fixture
async def shop(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Shop]:
    """A process that takes payments."""
    opened = await Shop(tmp_path / "shop.db", clock).open()
    yield opened
    await opened.close()
