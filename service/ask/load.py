"""Reads data files of this package: tables that lie beside the modules that use them."""

from pathlib import Path
from typing import TypeVar

from msgspec import toml

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> T:
    """Read a TOML file as a type."""
    return toml.decode(path.read_bytes(), type=kind)
