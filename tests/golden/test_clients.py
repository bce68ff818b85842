from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.clients import record_clients


@pytest.mark.timeout(300)  # one service, many answers
def test_commands_and_tools_answer_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_clients(tmp_path))
