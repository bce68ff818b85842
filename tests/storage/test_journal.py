"""Marks outlive their process; who lives is told by locks."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from service.storage import journal
from service.storage.journal import SLOTS, DeadJournal, Journal, boot_id, dead_journals, path_of, runs_alive

BOOT = b"7d0c1b1e-0000-4000-8000-000000000000"


def test_marks_are_read_back_after_the_process_is_gone(tmp_path: Path) -> None:
    living = Journal(path_of(tmp_path, 3), 100, BOOT)
    living.mark(101)
    living.mark(103)
    with dead_journals(tmp_path, BOOT) as dead:
        assert dead == []
    assert runs_alive(tmp_path) == {3}
    living.close(settled=False)
    with dead_journals(tmp_path, BOOT) as dead:
        (found,) = dead
        assert (found.run_id, found.telling, found.floor()) == (3, True, 100)
        assert [found.answered(event_id) for event_id in (101, 102, 103, 104)] == [True, False, True, False]
    assert list(tmp_path.iterdir()) == []


def test_a_journal_in_order_leaves_nothing(tmp_path: Path) -> None:
    Journal(path_of(tmp_path, 3), 0, BOOT).close(settled=True)
    assert list(tmp_path.iterdir()) == []


def test_a_mark_that_was_overwritten_counts_as_answered(tmp_path: Path) -> None:
    living = Journal(path_of(tmp_path, 1), 0, BOOT)
    living.mark(5 + SLOTS)
    living.close(settled=False)
    with dead_journals(tmp_path, BOOT) as (found,):
        assert found.floor() == 5
        assert found.answered(5 + SLOTS)
        assert found.answered(5)
        assert not found.answered(6)


@pytest.mark.process
def test_what_a_process_that_was_killed_had_not_finished_making_is_swept_away(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    half_made, of_a_living = tmp_path / f"7.{gone.pid}", tmp_path / f"8.{os.getpid()}"
    for path in (half_made, of_a_living, tmp_path / "notes.txt"):
        path.write_bytes(b"half")
    with dead_journals(tmp_path, BOOT) as dead:
        assert dead == []
    assert sorted(tmp_path.iterdir()) == [of_a_living, tmp_path / "notes.txt"]


@pytest.mark.process
def test_what_a_process_that_cannot_be_seen_is_making_is_left_to_it(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    making = tmp_path / f"7.{gone.pid}"
    with making.open("wb") as file:  # by its lock it lives: in another container, on the same folder
        fcntl.flock(file, fcntl.LOCK_EX)
        with dead_journals(tmp_path, BOOT) as dead:
            assert dead == []
    assert making.exists()


@pytest.mark.parametrize("boot", [b"", b"another"])
def test_of_another_boot_nothing_is_concluded(tmp_path: Path, boot: bytes) -> None:
    Journal(path_of(tmp_path, 1), 0, BOOT).close(settled=False)
    with dead_journals(tmp_path, boot) as (found,):
        assert not found.telling


def test_a_dead_journal_is_given_to_one_start_at_a_time_and_kept_where_it_fails(tmp_path: Path) -> None:
    Journal(path_of(tmp_path, 1), 0, BOOT).close(settled=False)
    failing = dead_journals(tmp_path, BOOT)
    assert len(failing.__enter__()) == 1
    with dead_journals(tmp_path, BOOT) as second:
        assert second == []
    assert not failing.__exit__(LookupError, LookupError(), None)
    with dead_journals(tmp_path, BOOT) as again:
        assert len(again) == 1


def test_a_journal_that_goes_while_it_is_looked_for_is_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_journals", lambda _: [path_of(tmp_path, 1)])
    with dead_journals(tmp_path, BOOT) as dead:
        assert dead == []


def test_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.marks").write_text("mine")
    with dead_journals(tmp_path, BOOT) as dead:
        assert dead == []
    assert (tmp_path / "notes.marks").exists()


def test_a_full_disk_is_told_before_the_first_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", lambda *_: 4_096)
    with pytest.raises(OSError, match="No space left"):
        Journal(path_of(tmp_path, 1), 0, BOOT)


def test_a_machine_that_does_not_name_its_boot_has_none(tmp_path: Path) -> None:
    assert boot_id(tmp_path / "absent") == b""
    named = tmp_path / "boot_id"
    named.write_bytes(BOOT + b"\n")
    assert boot_id(named) == BOOT


def test_a_journal_that_was_never_marked_speaks_of_events_after_its_start() -> None:
    assert DeadJournal(1, b"", BOOT).floor() == 0
