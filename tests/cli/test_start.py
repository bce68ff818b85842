"""What a command loads, and what it does to its process before it runs."""

import os
import subprocess
import sys

import pytest

from tests.fakes.serving import PATIENCE_S

pytestmark = pytest.mark.process


@pytest.mark.parametrize("line", ["--help", "admin --help"])
def test_help_loads_nothing_but_the_table(line: str) -> None:
    """What takes time to load is loaded where it is used: help needs Click and the commands, a JSON file."""
    code = (
        f"import sys; sys.argv = ['verdict', *{line.split()}]\n"
        "from service.__main__ import main\n"
        "main()\n"
        "slow = {'msgspec', 'http.client', 'argparse', 'asyncio', 'difflib', 'service.settings'}\n"
        "print('LOADED', sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert "LOADED []" in done.stdout


@pytest.mark.parametrize(("before", "changes"), [("__main__.main()", 0), ("None", 2)])
def test_numpy_changes_no_environment_variable_in_a_process_that_runs_a_command(before: str, changes: int) -> None:
    """It is imported on a thread, where a change would race with every getenv(3) of the process."""
    code = (
        "import contextlib, sys; from service import __main__\n"
        f"with contextlib.suppress(SystemExit): {before}\n"
        "changed = []\n"
        "sys.addaudithook(lambda event, _: changed.append(event) if event in {'os.putenv', 'os.unsetenv'} else None)\n"
        "import numpy; sys.exit(len(changed))"
    )
    unset = {name: value for name, value in os.environ.items() if name != "OPENBLAS_MAIN_FREE"}
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], env=unset, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == changes
