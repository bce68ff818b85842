from pathlib import Path

import pytest

from tests.golden.accounts import record_accounts
from tests.golden.answers import expect_as_recorded


@pytest.mark.timeout(300)  # one service, many answers
def test_a_month_of_calls_and_payments_leaves_what_is_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_accounts(tmp_path))
