"""The table of faults names tests that there are, and the page says what they counted."""

import ast
from pathlib import Path

import pytest

from tests.soak.plugin import ROOT, Figure
from tests.soak.report import BEGIN, END, PAGE, main, written
from tests.soak.rows import ROWS, rows_of


def figure(test: str, *, seed: int = 1, outcome: str = "passed", violation: str = "", **counts: float) -> Figure:
    rows = rows_of(test)
    at = f"2026-11-21T1{seed}:00:00.000Z"
    return Figure(test, rows, at, "abc", "long", seed, outcome, 3_600.0, dict(counts), violation)


KILLS = "tests/soak/test_kills_at_writes.py::test_a"
LOCKED = "tests/soak/test_locked.py::test_b"


def line_of(page: str, fault: str) -> str:
    return next(line for line in page.splitlines() if fault in line)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_each_row_names_tests_that_there_are(row: object) -> None:
    assert isinstance(row, tuple)
    for named in row[3]:
        file, _, start = named.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text())
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        assert [name for name in names if name.startswith(start or "test_")], named


def test_ids_of_rows_are_their_own() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)


def test_a_test_is_found_in_each_row_it_holds() -> None:
    assert rows_of("tests/service/test_payment_kill.py::test_x[1]") == ("kills-in-payments", "answer-lost")
    assert rows_of("tests/test_clock.py::test_x") == ()


def test_figures_of_pieces_are_summed_and_the_longest_is_kept() -> None:
    killed = [figure(KILLS, kills=200), figure(KILLS, seed=2, kills=1_200)]
    locked = [figure(LOCKED, seed=seed, longest=3.5 - seed) for seed in (1, 2)]
    page = written([*killed, *locked])
    assert "seeds 1, 2; 4.0 hours" in page
    assert line_of(page, "the Nth").endswith("| 1,400 kills | 1 | 0 |")
    assert line_of(page, "30 seconds").endswith("| 2.5 longest | 1 | 0 |")
    assert line_of(page, "ulimit").endswith("| in `make check` alone | | |")


def test_a_violation_is_told_with_what_brings_it_back() -> None:
    page = written([figure(KILLS, outcome="failed", violation="lost {7}", seed=5), figure(LOCKED, outcome="skipped")])
    assert line_of(page, "the Nth").endswith("| - | 1 | 1 |")
    assert page.endswith(f"- `{KILLS}`, seed 5, 2026-11-21T15:00:00.000Z: lost {{7}}")


def test_only_what_stands_between_the_marks_is_made_anew(tmp_path: Path) -> None:
    page, figures = tmp_path / "page.md", tmp_path / "figures.jsonl"
    page.write_text(f"Before.\n{BEGIN}\nold\n{END}\nAfter.\n")
    figures.write_bytes(b"")
    main(figures, page)
    said = page.read_text()
    assert said.startswith(f"Before.\n{BEGIN}\n\nNot run yet.\n")
    assert said.endswith(f"{END}\nAfter.\n")
    assert "\nold\n" not in said


def test_the_page_has_its_marks() -> None:
    assert PAGE.read_text().count(BEGIN) == PAGE.read_text().count(END) == 1
