"""The operator's commands as processes: what loads when, mistakes, and old spellings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli.error_report import RENAMED
from tests.admin.conftest import Admin
from tests.cli.commanding import typed
from tests.fakes.serving import PATIENCE_S, environment


def test_the_help_of_serve_lists_every_setting_with_its_default() -> None:
    told = typed("serve", "--help")
    assert told.code == 0
    assert "VERDICT_PORT (8402)\n      port to listen on" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.process
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("keyz", "verdict: No such command 'keyz'. Did you mean `verdict keys`?"),
        ("admin", "verdict admin: Missing command. Choose from: keys, grants, usage,"),
        ("admin kesy", "verdict admin: No such command 'kesy'. Did you mean 'keys'?"),
        ("admin keys", "verdict admin keys: Missing command. Choose from: create, list, revoke."),
        ("admin keys create", "verdict admin keys create: Missing option '--name'."),
        ("admin keys create --name a --tier gold", "verdict admin keys create: Invalid value for '--tier': 'gol"),
        ("admin keys list --js", "verdict admin keys list: No such option '--js'. (Did you mean"),
        ("admin payments list --state x", "verdict admin payments list: Invalid value for '--state': 'x' is not one"),
        ("admin payments export --csv --json", "verdict admin payments export: Options '--csv' and '--json' exclude"),
        ("admin doctor --repair --health", "verdict admin doctor: Options '--repair' and '--health' exclude each"),
        ("admin usage --user x", "verdict admin usage: Invalid value for '--user': 'x' is not a whole number from 1."),
        ("admin usage --user 0", "verdict admin usage: Invalid value for '--user': '0' is not a whole number from 1."),
        (f"admin grants revoke {2**63}", "verdict admin grants revoke: Invalid value for 'ID': "),
        ("admin init", "verdict admin init: Missing option '--new-store'."),
        ("admin payments show \udcff", "verdict admin payments show: Invalid value for 'ID': not valid UTF-8."),
        ("serve --workers 0", "verdict serve: Invalid value for '--workers': 0 is not in the range 1<=x<=64."),
    ],
)
def test_a_mistake_in_the_command_line_is_one_line_that_says_where_to_read_more(line: str, said: str) -> None:
    told = typed(*line.split())
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(said)
    assert told.err.endswith("--help`.\n")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((old, f"`verdict {old}` is now `verdict {new}`.") for old, new in RENAMED.items()),
        ("backup copy.db", "`verdict backup` is now `verdict admin backup`."),
        ("grants add --user 1 --tier pro", "`verdict grants` is now `verdict admin grants`."),
        ("payments verify receipt.json", "`verdict payments verify` is now `verdict admin receipts verify`."),
        ("keys create --mine --name a", "`verdict keys --mine` is now `verdict keys`."),
        ("keys create --name a --tier=pro", "`verdict keys --tier` is now `verdict admin keys`."),
        ("wallets add 0x00", "`verdict wallets add` is now `verdict admin wallets add`."),
    ],
)
def test_an_old_spelling_is_answered_with_the_new_one(line: str, said: str) -> None:
    told = typed(*line.split())
    assert (told.code, told.out) == (1, "")
    assert said in told.err


def test_the_words_of_an_old_spelling_may_be_values_elsewhere() -> None:
    assert "is now" not in typed("resolve", "backup", "--dry-run").err
    assert "is now" not in typed("wallets", "movements", "--contract", "list", "--dry-run").err


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
def test_a_reader_that_has_read_enough_or_shows_only_ascii_gets_no_traceback(admin: Admin, used: Path) -> None:
    def run(stdout: int) -> subprocess.CompletedProcess[str]:
        variables = environment({"data_dir": str(used)}) | {"PYTHONIOENCODING": "ascii"}
        line = [sys.executable, "-m", "service", "admin", "keys", "list"]
        return subprocess.run(
            line, env=variables, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False
        )

    assert admin("keys create --name", "Zoë 🚀").code == 0
    assert run(subprocess.PIPE).stdout.splitlines()[1].endswith("Zo\\xeb \\U0001f680")
    reading, writing = os.pipe()
    os.close(reading)
    done = run(writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
