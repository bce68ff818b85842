"""A mutant is put in the place of what runs: the code of living functions, or a constant wherever it is known."""

import gc
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from tests.mutants.mutations import Made, Mutant

Functions = dict[tuple[str, str, int], list[FunctionType]]
_PLAIN: Final = (str, bytes, int, float, type(None), re.Pattern)


class NotMadeError(Exception):
    """A mutant that cannot be put in place.

    Its function closes over other variables than before, or its constant is of a class of its own module.
    """


def living(folder: Path) -> Functions:
    """All functions of a folder's modules that live, by their file, their name and their first line."""
    gc.unfreeze()
    found: Functions = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(folder)):
            code = each.__code__
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(each)
    gc.freeze()
    return found


def place(mutant: Mutant, made: Made, functions: Functions) -> None:
    """Put a mutant in place, in this process.

    Raises:
        NotMadeError: If it cannot be.
        Exception: Whatever a module raises that cannot be imported so.
    """
    code = compile(made.tree, str(mutant.path), "exec", dont_inherit=True)
    name, line = mutant.inside
    if not line:
        _place_constants(mutant.path, code)
        return
    changed = next(each for each in _codes(code) if (each.co_qualname, each.co_firstlineno) == (name, line))
    for function in functions.get((str(mutant.path), name, line), ()):
        if len(function.__code__.co_freevars) != len(changed.co_freevars):
            raise NotMadeError(name)
        function.__code__ = changed


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _place_constants(path: Path, code: CodeType) -> None:
    owner = next(each for each in _known() if getattr(each, "__file__", None) == str(path))
    if not _exchange(owner, code):
        raise NotMadeError(path.name)


def _exchange(owner: ModuleType, code: CodeType) -> bool:
    """Give a module's constants the values that its code makes, and those of the service that are made of them."""
    fresh = ModuleType(owner.__name__)
    fresh.__file__ = owner.__file__
    exec(code, vars(fresh))  # noqa: S102 - a module of this repository, changed in one place
    changed = [
        (name, before, vars(fresh).get(name))
        for name, before in vars(owner).items()
        if not name.startswith("__") and _is_plain(before, owner.__name__) and before != vars(fresh).get(name)
    ]
    importers = {}
    for name, before, after in changed:
        for module in _known():
            if vars(module).get(name) is before:
                setattr(module, name, after)
                importers[module.__name__] = module
    for name, module in importers.items():
        if module is not owner and name.startswith("service."):
            _exchange(module, compile(Path(str(module.__file__)).read_text(), str(module.__file__), "exec"))
    return bool(changed)


def _known() -> list[ModuleType]:
    """Modules that may know a constant. Tests that read it would read what the mutant says, too."""
    return [module for name, module in [*sys.modules.items()] if name.startswith(("service.", "tests."))]


def _is_plain(value: object, owner: str) -> bool:
    """Whether a value is the same wherever it is made: nothing that its own module has defined, and no function."""
    if isinstance(value, dict):
        return all(_is_plain(each, owner) for each in [*value, *value.values()])
    if isinstance(value, tuple | list | set | frozenset):
        return type(value).__module__ != owner and all(_is_plain(each, owner) for each in value)
    if isinstance(value, Struct):
        return type(value).__module__ != owner and all(_is_plain(each, owner) for each in astuple(value))
    return isinstance(value, _PLAIN)
