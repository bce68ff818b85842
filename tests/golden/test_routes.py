from pathlib import Path

import pytest

from tests.golden.answers import expect_as_recorded
from tests.golden.routes import record_routes


@pytest.mark.timeout(300)  # one service, many answers
def test_routes_documents_pages_and_questions_answer_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_routes(tmp_path))
