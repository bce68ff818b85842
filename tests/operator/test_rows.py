"""The operator's part of the table of commands."""

import os
import subprocess
import sys

import pytest

from service.clients.cli.arguments import read
from service.clients.cli.words import find
from service.operator.rows import COMMANDS
from tests.operator.conftest import Verdict


def test_the_help_of_serve_lists_every_setting_with_its_default(verdict: Verdict) -> None:
    told = verdict("serve", "--help")
    assert told.code == 0
    assert "VERDICT_PORT (8402)\n      port to listen on" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.unmeasured
def test_help_loads_nothing_but_the_table() -> None:
    """What takes time to load is loaded where it is used: half of this is what the interpreter loads anyway."""
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['verdict', '--help']\n"
        "from service.__main__ import main\n"
        "main()\n"
        "print('LOADED', sorted(name for name in set(sys.modules) - before if not name.startswith('service')))"
    )
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=unmeasured, capture_output=True, text=True, timeout=30, check=True
    )
    assert "LOADED ['__future__', 'gc']" in done.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["keyz"], "verdict: there is no command 'keyz' here (did you mean keys?)"),
        (["keys"], "verdict keys: the following arguments are required: COMMAND (rotate, create, list, revoke)"),
        (["keys", "create"], "verdict keys create: the following arguments are required: --name"),
        (["keys", "create", "--name", "a", "--tier", "gold"], "verdict keys create: argument --tier: invalid choice"),
        (["serve", "--workers", "0"], "verdict serve: argument --workers: takes 1 to 64, not '0'"),
        (["serve", "--workers", "٣"], "verdict serve: argument --workers: takes 1 to 64"),
        (["keys", "list", "--js"], "verdict keys list: unrecognized arguments: --js (did you mean --json?)"),
        (["payments", "list", "--state", "x"], "verdict payments list: argument --state: invalid choice: 'x'"),
        (["payments", "export", "--csv", "--json"], "verdict payments export: argument --json: not allowed with"),
        (["usage", "--user", "x"], "verdict usage: argument --user: takes a whole number, not 'x'"),
    ],
)
def test_a_mistake_in_the_command_line_is_one_line_that_says_where_to_read_more(
    verdict: Verdict, typed: list[str], said: str
) -> None:
    told = verdict(*typed)
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(said)
    assert told.err.endswith("--help`\n")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("serve --workers 2", "service.operator.serve:serve"),
        ("keys revoke verdict_sk_abcdefgh", "service.operator.keys:revoke"),
        ("keys list", "service.operator.keys:show"),
        ("keys list --mine", "service.clients.cli.account.keys:show"),
        ("keys create --mine --name a", "service.clients.cli.account.keys:create"),
        ("keys revoke --mine verdict_sk_abcdefgh", "service.clients.cli.account.keys:revoke"),
        ("doctor", "service.operator.doctor:check"),
        ("doctor --client", "service.clients.cli.account.doctor:check"),
    ],
)
def test_a_command_names_the_function_that_runs_it(typed: str, run: str) -> None:
    found = find(typed.split(), COMMANDS)
    assert found.command is not None
    assert read(found.command, found.rest).run == run


def test_a_number_of_workers_is_read_as_a_number() -> None:
    found = find(["serve", "--workers", "2"], COMMANDS)
    assert found.command is not None
    assert read(found.command, found.rest).workers == 2
    assert read(found.command, []).workers == 1
