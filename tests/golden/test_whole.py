from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.whole import record_whole


@pytest.mark.timeout(300)  # one service, many answers
def test_routes_pages_questions_commands_and_tools_answer_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_whole(tmp_path))
