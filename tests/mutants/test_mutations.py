"""What a mutator misses, nobody misses: that it changes what it says, once and in one place."""

from pathlib import Path

import pytest

from tests.mutants.__main__ import interval
from tests.mutants.mutations import make, mutants_of


def changed(folder: Path, body: str) -> list[str]:
    module = folder / "module.py"
    module.write_text(body)
    return [made.after for made in map(make, mutants_of(module))]


@pytest.mark.parametrize(
    ("code", "mutants"),
    [
        ("a < b", {"return a <= b", "return None"}),
        ("a and b", {"return a or b", "return None"}),
        ("not a", {"return a", "return None"}),
        ("a + 1", {"return a - 1", "return a + 2", "return None"}),
        ("f(a, key=b)", {"return f(a)", "return None"}),
        ("min(a, b)", {"return max(a, b)", "return None"}),
        ("a if b else c", {"return a if not b else c", "return None"}),
        ("[a for a in b if c]", {"return [a for a in b]", "return None"}),
        ("f('two words')", {"return None"}),
        ("f('word')", {"return f('XXwordXX')", "return None"}),
        ("cast('int', isinstance(a, int | str))", {"return None"}),
    ],
)
def test_each_part_of_an_expression_is_changed_alone(tmp_path: Path, code: str, mutants: set[str]) -> None:
    assert {*changed(tmp_path, f"def function():\n    return {code}\n")} == mutants


def test_statements_are_left_out(tmp_path: Path) -> None:
    body = 'def function():\n    """Say."""\n    function()\n    self.a = b\n    raise c\n'
    assert changed(tmp_path, body) == ["pass", "pass", "pass"]


def test_each_operator_of_a_statement_of_sql_is_changed_alone(tmp_path: Path) -> None:
    assert changed(tmp_path, '_SQL = "SELECT a FROM b WHERE c <= ? ORDER BY d DESC LIMIT 1"') == [
        "_SQL = 'SELECT a FROM b WHERE c < ? ORDER BY d DESC LIMIT 1'",
        "_SQL = 'SELECT a FROM b WHERE c <= ? ORDER BY d ASC LIMIT 1'",
    ]


def test_what_only_a_type_checker_reads_is_left_alone(tmp_path: Path) -> None:
    assert changed(tmp_path, 'A: "B" = c\nclass D:\n    e: int = 1\n@f("x")\ndef g(h: "B" = 1) -> "B": ...\n') == []


def test_the_interval_is_wilsons() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263
    assert [round(bound, 4) for bound in interval(81, 263)] == [0.2553, 0.3662]
