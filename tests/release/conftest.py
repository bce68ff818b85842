"""The file, made once, and a machine that has only a Python."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakes.serving import PATIENCE_S


class Machine(NamedTuple):
    """Where the file lies, and the environment of somebody there: no package, no settings, an empty home."""

    file: Path
    environ: Mapping[str, str]
    home: Path


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What `make dist` makes."""
    pytest.importorskip("shiv", reason="no shiv here: `make dist` installs it")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "release.build", folder], timeout=540, check=True, capture_output=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def machine(dist: Path, tmp_path: Path) -> Iterator[Machine]:
    """Paths have blanks, the file's folder is read-only, and Python keeps no byte code."""
    bare, place, home = tmp_path / "only python", tmp_path / "a place of its own", tmp_path / "an empty home"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], timeout=PATIENCE_S, check=True)
    place.mkdir()
    home.mkdir()
    shutil.copy2(dist / "verdict", place)
    place.chmod(0o555)
    environ = {"HOME": str(home), "PATH": f"{bare}/bin{os.pathsep}/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    yield Machine(place / "verdict", environ, home)
    assert [path.name for path in place.iterdir()] == ["verdict"]
    place.chmod(0o755)
    shutil.rmtree(home)
