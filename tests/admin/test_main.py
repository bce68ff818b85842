import os
import subprocess
import sys
from pathlib import Path

import pytest

from service import __main__
from service.admin import accounts
from tests.admin.conftest import Verdict
from tests.fakes.serving import PATIENCE_S, environment, run_verdict


def test_an_interrupt_ends_a_command_without_a_traceback(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(accounts, "run_in_folder", interrupted)
    assert verdict("admin", "usage") == (130, "", "")


@pytest.mark.process
@pytest.mark.parametrize(("before", "changes"), [("__main__.main()", 0), ("None", 2)])
def test_numpy_changes_no_environment_variable_in_a_process_that_runs_a_command(before: str, changes: int) -> None:
    """It is imported on a thread, where a change would race with every getenv(3) of the process."""
    said = (
        "import contextlib, sys; from service import __main__\n"
        f"with contextlib.suppress(SystemExit): {before}\n"
        "changed = []\n"
        "sys.addaudithook(lambda event, _: changed.append(event) if event in {'os.putenv', 'os.unsetenv'} else None)\n"
        "import numpy; sys.exit(len(changed))"
    )
    unset = {name: value for name, value in os.environ.items() if name != "OPENBLAS_MAIN_FREE"}
    done = subprocess.run(
        [sys.executable, "-c", said, "--version"], env=unset, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == changes


@pytest.mark.process
def test_a_reader_that_has_read_enough_gets_no_traceback(tmp_path: Path) -> None:
    assert run_verdict("admin", "keys", "create", "--name", "a", data_dir=str(tmp_path)).returncode == 0
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "service", "admin", "keys", "list"],
        env=environment({"data_dir": str(tmp_path)}),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.process
def test_a_name_that_the_terminal_cannot_show_is_shown_by_its_code(tmp_path: Path) -> None:
    made = run_verdict("admin", "keys", "create", "--name", "Zoë 🚀", data_dir=str(tmp_path))
    assert made.returncode == 0
    listed = subprocess.run(
        [sys.executable, "-m", "service", "admin", "keys", "list"],
        env=environment({"data_dir": str(tmp_path)}) | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert listed.stdout.splitlines()[1].endswith("Zo\\xeb \\U0001f680")


def test_the_console_script_is_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def run(*given: object) -> int:
        seen.extend(given)
        return 7

    monkeypatch.setattr(__main__, "run", run)
    monkeypatch.setattr(sys, "argv", ["verdict", "usage", "--json"])
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    assert __main__.main() == 7
    assert seen == [["usage", "--json"], os.environ]
