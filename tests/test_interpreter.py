import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from service import interpreter
from service.interpreter import command_of, watch_parent
from tests.fakes.serving import PATIENCE_S, environment


@pytest.mark.process
def test_another_process_runs_this_code_wherever_one_stands_and_whatever_lies_there(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "__init__.py").write_text("raise SystemExit('another program')")
    done = subprocess.run(
        command_of("service", "coin", "risk", "--help"),
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: verdict coin risk")


def test_it_is_run_by_the_interpreter_of_this_one_and_told_what_it_is_given() -> None:
    command = command_of("json.tool", "--compact", "x.json")
    assert command[0] == sys.executable
    assert command[-3:] == ("json.tool", "--compact", "x.json")


def test_the_end_of_a_parent_is_noticed_at_the_end_of_its_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.pipe()
    ended = threading.Event()
    monkeypatch.setattr(interpreter, "_STDIN", ours)
    watch_parent(ended.set)
    assert not ended.is_set()
    os.close(theirs)
    assert ended.wait(PATIENCE_S)
    os.close(ours)
