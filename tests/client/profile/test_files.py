"""Files of a user: written whole, for their owner alone, under a lock."""

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from service.client.files import locked, make_folder, read_whole, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone_and_so_is_every_folder_that_is_made_for_it(tmp_path: Path) -> None:
    path, old = tmp_path / "a/b/c.json", os.umask(0)
    try:
        write_whole(path, b"secret")
        path.chmod(0o644)
        write_whole(path, b"new")
    finally:
        os.umask(old)
    assert [mode(path), mode(tmp_path / "a"), mode(tmp_path / "a/b")] == [0o600, 0o700, 0o700]
    assert (read_whole(path), read_whole(tmp_path / "none"), read_whole(path / "below")) == (b"new", None, None)
    tmp_path.chmod(0o755)
    make_folder(tmp_path)
    assert mode(tmp_path) == 0o755  # a folder that is there is left as it is


@pytest.mark.parametrize("fails", ["files", "folders"])
def test_a_failed_write_leaves_the_old_file_and_a_folder_need_not_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    path, sync = tmp_path / "c.json", os.fsync
    write_whole(path, b"old")

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) == (fails == "folders"):
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    if fails == "files":
        with pytest.raises(OSError, match="No space"):
            write_whole(path, b"new")
    else:
        write_whole(path, b"new")
    assert path.read_bytes() == (b"old" if fails == "files" else b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_a_draft_that_somebody_left_is_not(tmp_path: Path) -> None:
    folder, link = tmp_path / "dotfiles", tmp_path / "c.json"
    folder.mkdir()
    link.symlink_to(folder / "c.json")
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (folder / f".c.json.{os.getpid()}").symlink_to(tmp_path / "elsewhere")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert [path.read_bytes() for path in (folder / "c.json", tmp_path / "elsewhere")] == [b"new", b"theirs"]
    assert list(folder.iterdir()) == [folder / "c.json"]


def test_what_everybody_could_have_put_there_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    path = tmp_path / "verdict" / "c.json"
    write_whole(path, b"mine")
    path.parent.chmod(0o777)
    with pytest.raises(PermissionError, match="writable for all users"):
        read_whole(path)
    with pytest.raises(PermissionError, match="writable for all users"):
        write_whole(path, b"secret")
    with pytest.raises(PermissionError), locked(path.with_suffix(".lock")):
        raise AssertionError("nothing is to be done there")
    assert (path.read_bytes(), list(path.parent.iterdir())) == (b"mine", [path])


@pytest.mark.parametrize(("owner", "me", "trusted"), [(7, 7, True), (0, 7, True), (7, 0, True), (8, 7, False)])
def test_a_folder_of_another_user_is_not_used_but_by_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, me: int, trusted: bool
) -> None:
    path = tmp_path / "c.json"
    write_whole(path, b"mine")
    seen = os.stat_result((0o40700, 0, 0, 1, owner, owner, 0, 0, 0, 0))
    monkeypatch.setattr(os, "geteuid", lambda: me)
    monkeypatch.setattr(Path, "stat", lambda *_, **__: seen)
    if trusted:
        assert read_whole(path) == b"mine"
    else:
        with pytest.raises(PermissionError, match="belongs to another user"):
            read_whole(path)


def _add(path: Path, times: int) -> None:
    for _ in range(times):
        with locked(path.with_suffix(".lock")):
            write_whole(path, str(int(read_whole(path) or b"0") + 1).encode())


@pytest.mark.process
def test_processes_that_change_a_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep/count"
    with pytest.raises(ZeroDivisionError), locked(path.with_suffix(".lock")):
        raise ZeroDivisionError  # the lock is released
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add, args=(path, 25)) for _ in range(3)]
    for process in processes:
        process.start()
    _add(path, 25)
    for process in processes:
        process.join(60)
    assert read_whole(path) == b"100"
    assert mode(path.with_suffix(".lock")) == 0o600
