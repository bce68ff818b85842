from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.replay import record_replay


@pytest.mark.timeout(300)  # one service, many answers
def test_hours_of_a_replay_are_answered_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_replay(tmp_path))
