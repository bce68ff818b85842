from pathlib import Path

from tests.golden.answers import expect_as_recorded
from tests.golden.routes import record_routes


def test_routes_documents_pages_and_questions_answer_as_recorded(tmp_path: Path) -> None:
    expect_as_recorded(record_routes(tmp_path))
