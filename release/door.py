"""What runs first in the file: it unpacks itself where it has not been, and steps in.

It is also read by a Python that is too old for everything else, to be told so: nothing here is newer than 3.6.
"""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import made  # type: ignore[import-not-found] # written by `release.archive`

_WHERE = "SHIV_ROOT"
_PRIVATE = 0o700


def enter() -> None:
    """Run `verdict` from what is unpacked.

    Raises:
        SystemExit: With the exit code of the command; or saying why the file cannot be run here.
    """
    _match()
    folder = _root() / f"verdict-{made.BUILD}"
    packages = folder / "site-packages"
    if not os.path.isdir(packages):  # noqa: PTH112 - pathlib's raises where somebody else has unpacked for himself
        _unpack(folder)
    sys.path[0] = str(packages)  # in the place of the file: whatever else this Python has installed comes after
    from service.__main__ import main  # noqa: PLC0415 - it has just been unpacked

    sys.exit(main())


def _match() -> None:
    """Refuse another Python: what is compiled in here could not be loaded by it."""
    if made.SUFFIX not in EXTENSION_SUFFIXES:
        found = EXTENSION_SUFFIXES[0] if EXTENSION_SUFFIXES else "no extensions"
        sys.exit(
            f"verdict: this file is for Python {made.PYTHON} ({made.SUFFIX}), and was started with "
            f"{sys.version.split()[0]} ({found}). Start it with `python{made.PYTHON}`, or make one for this Python "
            "with `make dist`"
        )


def _root() -> Path:
    """The folder that versions are unpacked in, seen from anywhere."""
    stated = os.environ.get(_WHERE)
    if stated:
        return Path(stated).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        cache = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - pathlib's raises where nobody has a home
    return cache / "verdict"


def _unpack(folder: Path) -> None:
    """Unpack the file: under a lock, and under another name until all is there."""
    from zipfile import ZipFile  # noqa: PLC0415 - for the first start only

    from _bootstrap import extract_site_packages  # type: ignore[import-not-found] # noqa: PLC0415 - the same; shiv's

    try:
        folder.parent.mkdir(_PRIVATE, parents=True, exist_ok=True)
        with ZipFile(sys.path[0]) as archive:
            extract_site_packages(archive, folder)
    except OSError as error:
        sys.exit(
            f"verdict: cannot unpack into {folder.parent} ({error.strerror}): set {_WHERE} to a folder that has "
            f"{made.MEGABYTES} MB and can be written to"
        )
