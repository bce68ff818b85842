"""A mutant that does not run is one that everything survives."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutants.mutations import Mutant, make, mutants_of
from tests.mutants.placing import NotMadeError, living, place

TEXT = """
from functools import cache

LEAST = 3
TWICE = 2 * LEAST
NAMES = [object()]


@cache
def enough(number):
    return any(each >= LEAST for each in [number])


class Room:
    def size(self):
        def twice():
            return TWICE * 10
        return twice()
"""


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "placed.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("tests.placed", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["tests.placed"] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules["tests.placed"]


def put(module: ModuleType, after: str) -> None:
    """Place the mutant whose changed statement holds these words."""
    path = Path(str(module.__file__))
    mutants: list[Mutant] = [each for each in mutants_of(path) if after in make(each).after]
    place(mutants[0], make(mutants[0]), living(path.parent))


def test_the_code_of_a_decorated_function_is_changed_where_it_lives(module: Any) -> None:
    enough = module.enough
    put(module, "each > LEAST")
    assert not enough(3)


def test_a_function_within_a_method_is_changed_for_rooms_there_are_already(module: Any) -> None:
    room = module.Room()
    put(module, "TWICE // 10")
    assert room.size() == 0


def test_a_constant_is_changed_with_what_is_made_of_it_and_whoever_has_imported_it(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer = ModuleType("tests.importer")
    vars(importer)["LEAST"] = module.LEAST
    monkeypatch.setitem(sys.modules, "tests.importer", importer)
    put(module, "LEAST = 4")
    assert (module.LEAST, module.TWICE, vars(importer)["LEAST"]) == (4, 8, 4)
    assert not module.enough(3)
    assert module.Room().size() == 80


def test_what_cannot_be_exchanged_is_not_counted(module: Any) -> None:
    path = Path(str(module.__file__))
    path.write_text(TEXT.replace("object()", "object() if NONE else 1").replace("LEAST = 3", "NONE = None; LEAST = 3"))
    with pytest.raises(NotMadeError):
        put(module, "object() if not NONE else 1")
