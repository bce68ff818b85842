"""A fixture set: recorded answers of upstreams, in their own wire formats, with a note of where they come from."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from typing import Final, TypeVar

import msgspec

METADATA: Final = "metadata.json"
PACKED: Final = ".gz"
"""The ending of a packed file's name."""

_LEVEL: Final = 7
_GZIP: Final = 31

R = TypeVar("R", bound=msgspec.Struct)

_raw_tables: Final[msgspec.json.Decoder[dict[str, msgspec.Raw]]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_tables: Final[msgspec.json.Decoder[dict[str, object]]] = msgspec.json.Decoder(dict[str, object])


class FixtureError(Exception):
    """A fixture set that cannot be used; the message says which file and what to do."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """Where a fixture set comes from.

    Attributes:
        made: How it was made, for a person.
        licence: Under what terms it may be passed on.
        seed: The generator's seed; null where the set was recorded.
        last_day: The last UTC day recorded, whole (`2025-07-25`).
        frozen_at: The recording's last instant, epoch milliseconds UTC.
        files: Path below the set's folder → SHA-256 of the file, hex.
    """

    made: str
    licence: str
    seed: int | None
    last_day: str
    frozen_at: int
    files: dict[str, str]


def pack(rows: object) -> bytes:
    """Write rows as compact JSON in gzip with no time and no name in it, so that equal rows give equal bytes."""
    return zlib.compress(msgspec.json.encode(rows), _LEVEL, wbits=_GZIP)


def unpack(packed: bytes) -> bytes:
    """The JSON that `pack` wrote.

    Raises:
        FixtureError: If it is not gzip.
    """
    try:
        return zlib.decompress(packed, wbits=_GZIP)
    except zlib.error as error:
        raise FixtureError("A file of the fixture set is not gzip. Run `make fixtures`.") from error


def pack_rows(rows: Sequence[msgspec.Struct]) -> bytes:
    """Write rows of one kind column by column, under the wire's own names: a third of what packed rows take.

    `{"t":[1745712000000,3600000,3600000],"s":"BTC","o":["94100.0","94350.0","94288.0"]}`: a column is a list, or one
    value where all are equal; whole numbers are written as the first and then the differences.
    """
    columns: dict[str, object] = {}
    for field in msgspec.structs.fields(type(rows[0])):
        cells = [getattr(row, field.name) for row in rows]
        whole = isinstance(cells[0], int)
        steps = [cells[0], *(after - before for before, after in pairwise(cells))] if whole else cells
        columns[field.encode_name] = steps if whole or len(set(cells)) > 1 else cells[0]
    return pack(columns)


def unpack_rows(packed: bytes, kind: type[R]) -> list[R]:
    """The rows that `pack_rows` wrote.

    Raises:
        FixtureError: If it is not gzip.
        ValueError: If it is not a table.
        KeyError: If a column of that kind is not in it.
    """
    columns = _tables.decode(unpack(packed))
    cells = [columns[field.encode_name] for field in msgspec.structs.fields(kind)]
    length = next((len(cell) for cell in cells if isinstance(cell, list)), 1)
    filled = [_column(cell, length) for cell in cells]
    return [kind(*row) for row in zip(*filled, strict=True)]


def unpack_newest(packed: bytes, kind: type[R], most: int) -> tuple[list[R], int]:
    """The last rows that `pack_rows` wrote, and how many rows there are: a fifth of the time of unpacking all.

    For rows of numbers and decimal strings, in which no comma can be.

    Args:
        packed: What `pack_rows` wrote.
        kind: Of the rows.
        most: How many rows are wanted.

    Raises:
        FixtureError: If it is not gzip.
        ValueError: If it is not a table.
        KeyError: If a column of that kind is not in it.
    """
    columns = _raw_tables.decode(unpack(packed))
    cells = [bytes(columns[field.encode_name]) for field in msgspec.structs.fields(kind)]
    length = next((cell.count(b",") + 1 for cell in cells if cell.startswith(b"[")), 1)
    filled = [_newest(cell, min(most, length)) for cell in cells]
    return [kind(*row) for row in zip(*filled, strict=True)], length


def _newest(cell: bytes, most: int) -> Sequence[object]:
    if not cell.startswith(b"["):
        return [msgspec.json.decode(cell)] * most
    if cell[1:2] in b"-0123456789":
        steps = msgspec.json.decode(cell, type=list[int])
        return [*accumulate(steps[-most:], initial=sum(steps[:-most]))][1:]
    newest: Sequence[object] = msgspec.json.decode(b"[" + b",".join(cell[1:-1].rsplit(b",", most)[-most:]) + b"]")
    return newest


def _column(cells: object, length: int) -> Iterable[object]:
    if not isinstance(cells, list):
        return repeat(cells, length)
    return accumulate(cells) if isinstance(cells[0], int) else cells


def write_set(directory: Path, files: Mapping[str, bytes], metadata: Metadata) -> Metadata:
    """Write a whole set; the metadata, with the digests of the files, comes last.

    Args:
        directory: Made if it is missing.
        files: Path below it → content.
        metadata: Its `files` are filled in here.

    Returns:
        The metadata as written.
    """
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    whole = msgspec.structs.replace(metadata, files=digests)
    (directory / METADATA).write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    return whole


def read_metadata(directory: Path) -> Metadata:
    """Read where a set comes from.

    Raises:
        FixtureError: If there is no set, or its metadata cannot be read.
    """
    try:
        return msgspec.json.decode((directory / METADATA).read_bytes(), type=Metadata)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FixtureError(f"There is no usable {METADATA} in {directory}. Run `make fixtures`.") from error


def read_set(directory: Path) -> tuple[Metadata, dict[str, bytes]]:
    """Read a whole set and check every file against its digest.

    Raises:
        FixtureError: If a file is missing or changed.
    """
    metadata = read_metadata(directory)
    files: dict[str, bytes] = {}
    for name, digest in metadata.files.items():
        try:
            files[name] = (directory / name).read_bytes()
        except OSError as error:
            raise FixtureError(f"{name} is missing from {directory}. Run `make fixtures`.") from error
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise FixtureError(f"{name} in {directory} is not the file that {METADATA} names. Run `make fixtures`.")
    return metadata, files


def read_files(directory: Path) -> Mapping[str, bytes]:
    """A whole set for those who want its content: unpacked when it is looked at, under its path without the `.gz`.

    Raises:
        FixtureError: If a file is missing or changed.
    """
    _, files = read_set(directory)
    return _Unpacked({name.removesuffix(PACKED): directory / name for name in files})


class _Unpacked(Mapping[str, bytes]):
    """Read from the disk each time: kept in memory the files would fill 10 MB."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths

    def __getitem__(self, path: str) -> bytes:
        file = self._paths[path]
        content = file.read_bytes()
        return unpack(content) if file.name.endswith(PACKED) else content

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
