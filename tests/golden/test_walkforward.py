from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.walkforward import record_walkforward


@pytest.mark.timeout(300)  # one service, many answers
def test_the_walkforward_is_answered_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_walkforward(tmp_path))
