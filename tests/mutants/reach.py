"""Which tests run through which lines of a room, and what each takes."""

import ast
import pickle
import re
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

from tests.mutants.mutations import Mutant


class Seen(NamedTuple):
    """One test, run once without a mutant.

    Attributes:
        passed: Whether it did; one that does not says nothing about a mutant.
        took_s: Of a processor, measured.
        lines: Of each module of the room, the lines it ran through.
    """

    passed: bool
    took_s: float
    lines: dict[Path, frozenset[int]]


def measure(items: Sequence[pytest.Item], failed: set[str], room: Path, kept: Path) -> None:
    """Run tests and keep what was seen of each; to be called in a process of its own.

    Args:
        items: In the order of their modules.
        failed: To which a plugin adds the ids of tests that fail.
        room: The folder whose lines are asked for.
        kept: The file in which what was seen is pickled, by the tests' ids.
    """
    measured = coverage.Coverage(data_file=None, config_file=False, source=[str(room)], messages=False)
    took: dict[str, float] = {}
    measured.start()
    for item, following in zip(items, [*items[1:], None], strict=True):
        measured.switch_context(item.nodeid)
        began = time.process_time()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        took[item.nodeid] = time.process_time() - began
    measured.stop()
    lines: dict[str, dict[Path, set[int]]] = {name: {} for name in took}
    data = measured.get_data()
    for file in data.measured_files():
        for line, names in data.contexts_by_lineno(file).items():
            for name in names:
                if name in lines:
                    lines[name].setdefault(Path(file), set()).add(line)
    seen = {
        name: Seen(name not in failed, took[name], {file: frozenset(some) for file, some in of.items()})
        for name, of in lines.items()
    }
    kept.write_bytes(pickle.dumps(seen))


def reaching(mutant: Mutant, seen: dict[str, Seen]) -> list[str]:
    """The ids of the tests that run through a mutant, or name it: those of its own module first, then the quickest."""
    first, last = mutant.lines
    through = {mutant.path: frozenset(range(first, last + 1))} if mutant.inside[1] else _uses(mutant)
    named = re.compile(rf"\b{mutant.inside[0]}\b") if not mutant.inside[1] else None
    found = [
        name
        for name, each in seen.items()
        if each.passed and (_meets(each.lines, through) or (named and named.search(_text(name.partition("::")[0]))))
    ]
    own = f"test_{mutant.path.stem}."
    return sorted(found, key=lambda name: (own not in name, seen[name].took_s))


@cache
def _text(file: str) -> str:
    """A file of tests, which may look at a constant and run through no line that does."""
    return (Path(__file__).resolve().parents[2] / file).read_text()


def _meets(lines: dict[Path, frozenset[int]], through: dict[Path, frozenset[int]]) -> bool:
    return any(lines.get(path, frozenset()) & wanted for path, wanted in through.items())


def _uses(mutant: Mutant) -> dict[Path, frozenset[int]]:
    """The lines of functions that read a constant, or one that is made of it."""
    names = {mutant.inside[0]}
    for name, read in _constants(mutant.path):  # in their order: one is made of those above it
        if names & read:
            names.add(name)
    room = next(each for each in mutant.path.parents if each.parent.name == "service")
    return {path: _lines_that_read(path, frozenset(names)) for path in room.rglob("*.py")}


@cache
def _constants(path: Path) -> list[tuple[str, frozenset[str]]]:
    return [*_assigned(ast.parse(path.read_text()))]


def _assigned(tree: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, frozenset(each.id for each in ast.walk(node.value) if isinstance(each, ast.Name))


@cache
def _lines_that_read(path: Path, names: frozenset[str]) -> frozenset[int]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (isinstance(node, ast.Name) and node.id in names) or (
            isinstance(node, ast.Attribute) and node.attr in names
        ):
            found |= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return frozenset(found)
