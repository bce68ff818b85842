"""`python -m release.build`: make the file, its bill, the wheel and their checksums, in `dist/`."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from release import archive, bill
from release.staging import ROOT, stage

DIST: Final = ROOT / "dist"
_EPOCH_OF_ZIP_S: Final = 315_532_800
"""1980, before which a zip file knows no time."""


def build(dist: Path) -> None:
    """Make everything anew.

    Args:
        dist: The folder to write to.
    """
    dist.mkdir(exist_ok=True)
    made_s = _made_s()
    with TemporaryDirectory(prefix="verdict-dist-") as folder:
        site = Path(folder) / "site-packages"
        wheels = stage(site)
        archive.write(site, dist / "verdict", made_s)
        wheel = _build_wheel(Path(folder) / "source", dist, made_s)
    bill.write(wheels, dist / "verdict.cdx.json", made_s)
    names = ("verdict", "verdict.cdx.json", wheel)
    sums = [f"{sha256((dist / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (dist / "SHA256SUMS").write_text("".join(sums))


def _build_wheel(source: Path, dist: Path, made_s: int) -> str:
    """Build the wheel, which holds the recorded data, from a copy: the builder writes into its source.

    Older wheels are removed.

    Returns:
        The name of its file.
    """
    for part in ("service", "fixtures/upstream"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, source)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(dist))
    for older in dist.glob("verdict-*.whl"):
        older.unlink()
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(made_s)}
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
    subprocess.run(command, check=True, env=environ)  # noqa: S603 - with nothing that is not written here
    (built,) = dist.glob("verdict-*.whl")
    return built.name


def _made_s() -> int:
    """`SOURCE_DATE_EPOCH`, or when the commit was made, or the least there is where there is no commit."""
    if stated := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(stated)
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],  # noqa: S607 - whatever git there is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(told.stdout or _EPOCH_OF_ZIP_S)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else DIST
    build(target)
    print(f"{target / 'verdict'}: {(target / 'verdict').stat().st_size / 10**6:.1f} MB")  # noqa: T201 - what was made
