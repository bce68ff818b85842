"""The table of promises is held both ways: what is built has a test that says so, what is open has an issue."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.requirements import BUILT, ISSUES, OPEN, Promise, promises

TESTS = Path(__file__).resolve().parent
PROMISES = {promise.id: promise for promise in promises()}


class Mark(NamedTuple):
    """A promise named by a test: where it stands, and whether pytest collects what carries it."""

    promise: str
    where: str
    collected: bool


def marks_of(source: str, name: str) -> Iterator[Mark]:
    """Every `pytest.mark.promise(...)` in a file, by reading it: the check holds under any selection of tests."""
    collected_file = name.rpartition("/")[2].startswith("test_")
    tree = ast.parse(source)
    scopes = [(tree.body, True)]
    scopes += [(node.body, node.name.startswith("Test")) for node in tree.body if isinstance(node, ast.ClassDef)]
    for body, is_collected in scopes:
        in_tests = collected_file and is_collected
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from named(node.decorator_list, f"{name}:{node.name}", in_tests and node.name.startswith("test"))
            elif isinstance(node, ast.ClassDef):
                yield from named(node.decorator_list, f"{name}:{node.name}", in_tests and node.name.startswith("Test"))
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                values = node.value.elts if isinstance(node.value, ast.List) else [node.value]
                yield from named(values, f"{name}:pytestmark", in_tests)


def named(decorators: list[ast.expr], where: str, collected: bool) -> Iterator[Mark]:
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.promise":
            assert decorator.args, f"{where}: a mark names its promise"
            for argument in decorator.args:
                assert isinstance(argument, ast.Constant), f"{where}: a promise is named by its literal id"
                yield Mark(str(argument.value), where, collected)


def all_marks() -> list[Mark]:
    return [
        mark
        for path in sorted(TESTS.rglob("*.py"))
        for mark in marks_of(path.read_text(), str(path.relative_to(TESTS)))
    ]


MARKS = all_marks()
HELD = Counter(mark.promise for mark in MARKS if mark.collected)


def identify(promise: Promise) -> str:
    return promise.id


def test_an_id_is_used_once_and_reads_as_area_and_name() -> None:
    ids = [promise.id for promise in promises()]
    assert [key for key, times in Counter(ids).items() if times > 1] == []
    assert [key for key in ids if not re.fullmatch(r"[a-z0-9]+\.[a-z0-9-]+", key)] == []


def test_a_promise_is_one_sentence() -> None:
    assert [promise.id for promise in promises() if not re.fullmatch(r"\S.*[^.]\.", promise.text)] == []


@pytest.mark.parametrize("promise", [promise for promise in promises() if promise.issue is None], ids=identify)
def test_what_is_built_is_held_by_a_test(promise: Promise) -> None:
    assert HELD[promise.id], f"no test carries @pytest.mark.promise({promise.id!r}): {promise.made_in}: {promise.text}"


def test_what_is_open_has_an_issue_and_no_test_yet() -> None:
    for promise in promises():
        assert promise.issue is None or promise.issue in ISSUES, f"{promise.id} is open and belongs to no issue"
        assert promise.issue is None or not HELD[promise.id], f"{promise.id} has a test: move it to BUILT"


def test_every_mark_names_a_promise() -> None:
    assert [mark for mark in MARKS if mark.promise not in PROMISES] == []


def test_every_mark_stands_on_something_that_pytest_collects() -> None:
    assert [mark for mark in MARKS if not mark.collected] == []


def test_the_table_holds_something_and_so_does_every_open_issue() -> None:
    assert BUILT
    assert OPEN.keys() == ISSUES.keys()
    assert all(OPEN.values())


SAMPLE = """
import pytest
pytestmark = [pytest.mark.slow, pytest.mark.promise("a.module")]
@pytest.mark.promise("a.one", "a.two")
async def test_one(): ...
@pytest.mark.promise("a.helper")
def build(): ...
class TestGroup:
    pytestmark = pytest.mark.promise("a.class")
    @pytest.mark.promise("a.method")
    def test_method(self): ...
class Machine:
    @pytest.mark.promise("a.lost")
    def test_never_collected(self): ...
"""


def test_marks_are_read_wherever_pytest_takes_them() -> None:
    found = {mark.promise: mark.collected for mark in marks_of(SAMPLE, "room/test_sample.py")}
    assert found == {
        "a.module": True,
        "a.one": True,
        "a.two": True,
        "a.helper": False,
        "a.class": True,
        "a.method": True,
        "a.lost": False,
    }


def test_a_mark_outside_a_test_file_holds_nothing() -> None:
    assert not any(mark.collected for mark in marks_of(SAMPLE, "room/world.py"))


def test_a_mark_that_is_no_literal_is_refused() -> None:
    with pytest.raises(AssertionError, match="literal id"):
        list(marks_of("@pytest.mark.promise(NAME)\ndef test_one(): ...\n", "test_sample.py"))
