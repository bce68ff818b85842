"""A user's own files: their XDG folders, and atomic writes readable by their owner alone.

Source: XDG Base Directory Specification 0.8, on every platform. A relative path in its variables is ignored.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from service.client.errors import RefusalError

_OWNERS_FILE: Final = 0o600
_OWNERS_FOLDER: Final = 0o700
_ROOT: Final = 0

T = TypeVar("T")


def config_dir(environment: Mapping[str, str]) -> Path:
    """The configuration folder, which need not exist: `$XDG_CONFIG_HOME/verdict`. `RefusalError` without a home."""
    return _folder(environment, "XDG_CONFIG_HOME", ".config")


def state_dir(environment: Mapping[str, str]) -> Path:
    """The folder of stored state: `$XDG_STATE_HOME/verdict`. Need not exist, and raises, as `config_dir`."""
    return _folder(environment, "XDG_STATE_HOME", ".local/state")


def _folder(environment: Mapping[str, str], variable: str, otherwise: str) -> Path:
    chosen, home = Path(environment.get(variable, "")), Path(environment.get("HOME", ""))
    if chosen.is_absolute():
        return chosen / "verdict"
    try:
        return (home if home.is_absolute() else Path.home()) / otherwise / "verdict"
    except RuntimeError:
        raise RefusalError("There is no home folder to store files in. Set HOME or XDG_STATE_HOME.") from None


def read_whole(path: Path) -> bytes | None:
    """A file's content; None if it does not exist. Raises `OSError` also if another user could have written it."""
    try:
        _check(path.parent)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_document(path: Path, understand: Callable[[Any], T], advice: Callable[[Exception], str]) -> T | None:
    """A JSON file, converted by a function that raises `ValueError` if it is not valid; None if it does not exist.

    Raises:
        RefusalError: If it cannot be read or understood; `advice` turns the `ValueError` into sentences.
    """
    try:
        content = read_whole(path)
        return None if content is None else understand(json.loads(content))
    except OSError as error:
        raise RefusalError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"{path} is not valid. {advice(error)}") from None


def write_document(path: Path, document: object) -> None:
    """Write a JSON file as `write_whole` does. Raises `RefusalError` if it cannot be written."""
    with writing(path):
        write_whole(path, (json.dumps(document, indent=2) + "\n").encode())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failed write into a `RefusalError` that names the file."""
    try:
        yield
    except OSError as error:
        raise RefusalError(f"Cannot write {path}: {error.strerror}.") from None


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file atomically: readers find the old or the new content, also after a crash.

    A symbolic link is followed.

    Raises:
        OSError: If it cannot be written, or other users may write to its folder; the old content is unchanged then.
    """
    target = Path(os.path.realpath(path))
    make_folder(target.parent)
    # Two processes have different ids; the file that a crash left behind is deleted.
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNERS_FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # Sync the folder too, so that the rename survives a crash. Not every file system supports it.
    with suppress(OSError):
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents, for their owner alone. Raises `OSError` as `write_whole`."""
    for folder in reversed((path, *path.parents)):
        if not folder.is_dir():
            folder.mkdir(_OWNERS_FOLDER, exist_ok=True)
    _check(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; others wait. The system releases the lock of a process that dies.

    `path` is a file beside the file to change. It is created if it does not exist, and must never be replaced.
    """
    import fcntl  # noqa: PLC0415 - only a write needs it

    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OWNERS_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _check(folder: Path) -> None:
    # A user who can write here chooses the service, the payee and the identity. Root is trusted and may use the files
    # of every user.
    status, me = folder.stat(), os.geteuid()
    if status.st_uid not in {me, _ROOT} and me != _ROOT:
        raise PermissionError(errno.EPERM, "its folder belongs to another user")
    if status.st_mode & stat.S_IWOTH:
        raise PermissionError(errno.EPERM, "its folder is writable for all users. Run `chmod o-w` on the folder")
