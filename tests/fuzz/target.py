"""What a target is, and what may come out of one."""

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

FOUND: Final = Path(__file__).parent / "found"
"""Inputs that once broke something, by target."""

LARGEST: Final = 2**63
"""What a store keeps of whole numbers lies below."""


@dataclass(frozen=True)
class Target:
    """Something that reads a stranger's bytes.

    Attributes:
        name: Of the module here that has it, and its own.
        read: Takes an input. Raises nothing but what it has found.
        seeds: Inputs to begin with.
        words: What is put into inputs.
        most: Bytes of the longest input, as the service bounds it (or as much of it as is worth its time).
        is_json: Whether inputs are changed as JSON.
    """

    name: str
    read: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: Sequence[bytes] = ()
    most: int = 16_384
    is_json: bool = False
    found: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "found", FOUND / self.name)

    def inputs(self) -> list[bytes]:
        """What it begins with, and what was found before."""
        kept = sorted(self.found.glob("*")) if self.found.is_dir() else []
        return [*self.seeds(), *(path.read_bytes() for path in kept)]


class UnsoundError(AssertionError):
    """What was read could not be kept or told."""


def check_sound(value: Any, where: str = "it") -> None:
    """Hold what was read to what a store and JSON can take: bounded whole numbers, finite others, UTF-8.

    Raises:
        UnsoundError: Naming the place.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnsoundError(f"{where} is {value}")
    elif isinstance(value, int):
        if not -LARGEST <= value < LARGEST:
            raise UnsoundError(f"{where} is a whole number of {value.bit_length()} bits")
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UnsoundError(f"{where} is no UTF-8") from error
    else:
        for name, part in _parts(value):
            check_sound(part, f"{where}.{name}")


def _parts(value: Any) -> Iterable[tuple[object, Any]]:
    if isinstance(value, msgspec.Struct):
        return [(name, getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return [*enumerate(value), *value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return enumerate(value)
    return ()


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run what waits for nobody but what it has begun itself."""
    return _loop().run_until_complete(coroutine)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for all inputs: to make one takes longer than to read most of them."""
    return asyncio.new_event_loop()
