from pathlib import Path

from tests.golden.answers import expect_as_recorded
from tests.golden.replay import record_replay


def test_hours_of_a_replay_are_told_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_replay(tmp_path))
