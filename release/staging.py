"""The folder that the file is made of: what the lock names, the service, and its recording, all compiled."""

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any, Final, NamedTuple

from release import licences

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements.lock"

_NOTES: Final = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What `pip` writes about its own run: paths of this machine, and what would differ from one run to the next."""

_UNUSED: Final = ("bin", "**/tests", "**/*.pyi")
"""Nothing that runs reads these: scripts with this machine's paths, tests of others, types."""


class Wheel(NamedTuple):
    """A wheel that is inside: its name, its version, its SHA-256, and its licences as CycloneDX lists them."""

    name: str
    version: str
    sha256: str
    licences: list[dict[str, Any]]


def stage(folder: Path) -> list[Wheel]:
    """Fill a new folder.

    Args:
        folder: Where to; it is made.

    Returns:
        The wheels that are in it, by name.

    Raises:
        CalledProcessError: If what the lock names cannot be had as wheels with the hashes it names.
    """
    wheels = _install(folder)
    for pattern in _UNUSED:
        for found in list(folder.glob(pattern)):
            shutil.rmtree(found) if found.is_dir() else found.unlink()
    for notes in folder.glob("*.dist-info"):
        for name in _NOTES:
            (notes / name).unlink(missing_ok=True)
    for part in ("service", "fixtures/upstream"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", folder / "service")
    _compile(folder)
    _set_modes(folder)
    return wheels


def _install(folder: Path) -> list[Wheel]:
    report = folder.with_suffix(".json")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--require-hashes"]
    wanted: list[str | Path] = ["--only-binary", ":all:", "--target", folder, "--report", report, "--requirement", LOCK]
    subprocess.run([*pip, *wanted], check=True)  # noqa: S603 - with nothing that is not written here
    found = json.loads(report.read_bytes())["install"]
    licensed = {_named(wheel.name): licences.of(wheel) for wheel in distributions(path=[str(folder)])}
    wheels = [
        Wheel(
            name := _named(wheel["metadata"]["name"]),
            wheel["metadata"]["version"],
            wheel["download_info"]["archive_info"]["hashes"]["sha256"],
            licensed[name],
        )
        for wheel in found
    ]
    return sorted(wheels, key=lambda wheel: wheel.name)


def _named(name: str) -> str:
    """A name as the lock writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _compile(folder: Path) -> None:
    """Compile what can be compiled; a wheel may hold sources of another Python."""
    compileall.compile_dir(
        folder, quiet=2, stripdir=str(folder), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH, workers=0
    )


def _set_modes(folder: Path) -> None:
    """Make modes those of the file, not of whoever made it."""
    for path in folder.rglob("*"):
        executable = path.is_dir() or os.access(path, os.X_OK)
        path.chmod(0o755 if executable else 0o644)
