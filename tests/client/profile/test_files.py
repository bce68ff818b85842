import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from service.client.files import locked, make_folder, read_whole, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone_and_so_is_every_folder_that_is_made_for_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_whole(tmp_path / "a/b/c.json", b"secret")
    finally:
        os.umask(old)
    assert mode(tmp_path / "a/b/c.json") == 0o600
    assert [mode(tmp_path / "a"), mode(tmp_path / "a/b")] == [0o700, 0o700]
    assert read_whole(tmp_path / "a/b/c.json") == b"secret"


def test_a_file_that_others_could_read_is_its_owners_alone_once_written(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_where_there_is_no_file_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert read_whole(tmp_path / "none") is None
    assert read_whole(tmp_path / "file" / "below") is None


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.json"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_that_cannot_sync_a_folder_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_whole(tmp_path / "c.json", b"new")
    assert (tmp_path / "c.json").read_bytes() == b"new"


def test_a_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    link = tmp_path / "c.json"
    link.symlink_to(tmp_path / "dotfiles/c.json")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "dotfiles/c.json").read_bytes() == b"new"


def test_a_draft_that_a_crash_left_behind_is_not_in_the_way(tmp_path: Path) -> None:
    draft = tmp_path / f".c.json.{os.getpid()}"
    draft.write_bytes(b"half")
    write_whole(tmp_path / "c.json", b"whole")
    assert not draft.exists()


def test_a_draft_that_somebody_laid_out_as_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (tmp_path / f".c.json.{os.getpid()}").symlink_to(tmp_path / "elsewhere")
    write_whole(tmp_path / "c.json", b"mine")
    assert (tmp_path / "elsewhere").read_bytes() == b"theirs"


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_what_everybody_could_have_put_there_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    path = tmp_path / "verdict" / "c.json"
    write_whole(path, b"mine")
    path.parent.chmod(0o777)
    with pytest.raises(PermissionError, match="everybody may write in its folder"):
        read_whole(path)
    with pytest.raises(PermissionError, match="everybody may write in its folder"):
        write_whole(path, b"secret")
    with pytest.raises(PermissionError), locked(path.with_suffix(".lock")):
        raise AssertionError("nothing is to be done there")
    assert path.read_bytes() == b"mine"
    assert list(path.parent.iterdir()) == [path]


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
        with pytest.raises(PermissionError, match="belongs to somebody else"):
            read_whole(path)


def _add(path: Path, times: int) -> None:
    for _ in range(times):
        with locked(path.with_suffix(".lock")):
            write_whole(path, str(int(read_whole(path) or b"0") + 1).encode())


@pytest.mark.process
def test_processes_that_change_a_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep/count"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add, args=(path, 25)) for _ in range(3)]
    for process in processes:
        process.start()
    _add(path, 25)
    for process in processes:
        process.join(60)
    assert read_whole(path) == b"100"
    assert mode(path.with_suffix(".lock")) == 0o600


def test_a_lock_is_let_go_of_where_what_it_was_for_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "x.lock"):
        raise ZeroDivisionError
    with locked(tmp_path / "x.lock"):
        pass
