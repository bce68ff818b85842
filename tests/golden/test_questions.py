from pathlib import Path

from tests.golden.answers import expect_as_recorded
from tests.golden.questions import record_questions


def test_questions_are_answered_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_questions(tmp_path))
