from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.replay import record_replay


@pytest.mark.timeout(300)  # the machine may be busy, and hours take a quarter of a minute even if it is not
def test_replayed_hours_are_told_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_replay(tmp_path))
