from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.forged import record_forged


@pytest.mark.timeout(300)  # one service, many answers
def test_forged_upstream_answers_are_taken_or_held_back_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_forged(tmp_path))
