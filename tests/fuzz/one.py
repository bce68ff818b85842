"""Search one target: `python -m tests.fuzz.one NAME <options of libFuzzer> <folder of inputs>`.

A process of its own, since the code that is watched has to be loaded by atheris.
"""

import resource
import sys
from importlib import import_module

import atheris

from tests.fuzz.mutation import mutate

SECONDS = 1.0
"""Of a processor, that an input may take. Being watched costs some of it."""

ROOMS = "tests.fuzz.targets"


def search(name: str, arguments: list[str]) -> None:
    """Search until libFuzzer ends the process.

    Args:
        name: Of the target: `room.target`.
        arguments: For libFuzzer.
    """
    room = name.partition(".")[0]
    watched = import_module(f"{ROOMS}.watched").WATCHED[room]
    with atheris.instrument_imports(include=list(watched)):
        targets = import_module(f"{ROOMS}.{room}").TARGETS
    target = next(each for each in targets if each.name == name)

    def read(data: bytes) -> None:
        before_s = _spent_s()
        target.read(data)
        took_s = _spent_s() - before_s
        assert took_s < SECONDS, f"it took {took_s:.1f} s"

    def changed(data: bytes, largest: int, seed: int) -> bytes:
        return mutate(data, largest, seed, atheris.Mutate)

    atheris.Setup([sys.argv[0], *arguments], read, custom_mutator=changed if target.is_json else None)
    atheris.Fuzz()


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    search(sys.argv[1], sys.argv[2:])
