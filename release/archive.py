"""The file itself: shiv's archive of a folder, with its byte code, and with a door of ours."""

import sys
import time
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from shiv.bootstrap.environment import Environment
from shiv.builder import create_archive
from shiv.constants import BUILD_AT_TIMESTAMP_FORMAT

_DOOR: Final = Path(__file__).with_name("door.py")
_PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
_PLAIN: Final = 0o100644 << 16


def write(folder: Path, target: Path, made_s: int) -> None:
    """Make one file of a folder.

    Args:
        folder: What becomes its `site-packages`.
        target: The file.
        made_s: The time that everything in it bears, seconds since 1970.
    """
    environment = Environment(
        built_at=time.strftime(BUILD_AT_TIMESTAMP_FORMAT, time.gmtime(made_s)),
        build_id=_digest(folder),
        shiv_version="1",  # what reads this is in the file itself
        compile_pyc=False,
        reproducible=True,
    )
    create_archive([folder], target, f"/usr/bin/env python{_PYTHON}", "door:enter", environment)
    with ZipFile(target, "a", ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*.pyc")):
            _add(archive, f"site-packages/{path.relative_to(folder)}", path.read_bytes(), made_s)
        _add(archive, "door.py", _DOOR.read_bytes(), made_s)
        _add(archive, "made.py", _made(folder, environment.build_id).encode(), made_s)


def _digest(folder: Path) -> str:
    """Sixteen letters that no other content has."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\n{path.stat().st_mode:o}\n{path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _made(folder: Path, build: str) -> str:
    size = sum(path.stat().st_size for path in folder.rglob("*"))
    parts = {"PYTHON": _PYTHON, "SUFFIX": EXTENSION_SUFFIXES[0], "BUILD": build, "MEGABYTES": size // 10**6 + 1}
    return "".join(f"{name} = {value!r}\n" for name, value in parts.items())


def _add(archive: ZipFile, name: str, data: bytes, made_s: int) -> None:
    entry = ZipInfo(name, time.gmtime(made_s)[:6])
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = _PLAIN
    archive.writestr(entry, data)
