"""The operator's part of the table of commands."""

import subprocess
import sys

import pytest

from tests.admin.conftest import Verdict
from tests.cli.commanding import parsed


def test_the_help_of_serve_lists_every_setting_with_its_default(verdict: Verdict) -> None:
    told = verdict("serve", "--help")
    assert told.code == 0
    assert "VERDICT_PORT (8402)\n      port to listen on" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.process
def test_help_loads_nothing_but_the_table() -> None:
    """What takes time to load is loaded where it is used: help needs Click and the commands, a JSON file."""
    code = (
        "import sys; sys.argv = ['verdict', '--help']\n"
        "from service.__main__ import main\n"
        "main()\n"
        "slow = {'msgspec', 'http.client', 'argparse', 'asyncio', 'difflib'}\n"
        "print('LOADED', sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert "LOADED []" in done.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["keyz"], "verdict: No such command 'keyz'. Did you mean `verdict keys`?"),
        (["keys"], "verdict keys: Missing command. Choose from: rotate, create, list, revoke."),
        (["keys", "create"], "verdict keys create: Missing option '--name'."),
        (["keys", "create", "--name", "a", "--tier", "gold"], "verdict keys create: Invalid value for '--tier': 'gol"),
        (["serve", "--workers", "0"], "verdict serve: Invalid value for '--workers': takes 1 to 64, not '0'."),
        (["serve", "--workers", "٣"], "verdict serve: Invalid value for '--workers': takes 1 to 64"),
        (["keys", "list", "--js"], "verdict keys list: No such option '--js'. (Did you mean"),
        (["payments", "list", "--state", "x"], "verdict payments list: Invalid value for '--state': 'x' is not one of"),
        (["payments", "export", "--csv", "--json"], "verdict payments export: Options '--csv' and '--json' exclude"),
        (["usage", "--user", "x"], "verdict usage: Invalid value for '--user': 'x' is not a whole number."),
    ],
)
def test_a_mistake_in_the_command_line_is_one_line_that_says_where_to_read_more(
    verdict: Verdict, typed: list[str], said: str
) -> None:
    told = verdict(*typed)
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(said)
    assert told.err.endswith("--help`.\n")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("serve --workers 2", "service.admin.serve:serve"),
        ("keys revoke verdict_sk_abcdefgh", "service.admin.keys:revoke"),
        ("keys list", "service.admin.keys:show"),
        ("keys list --mine", "service.cli.account_commands:list_keys"),
        ("keys create --mine --name a", "service.cli.account_commands:create_key"),
        ("keys revoke --mine verdict_sk_abcdefgh", "service.cli.account_commands:revoke_key"),
        ("doctor", "service.admin.doctor:check"),
        ("doctor --client", "service.cli.doctor_command:check"),
    ],
)
def test_a_command_names_the_function_that_runs_it(typed: str, run: str) -> None:
    assert parsed(*typed.split()).run == run


def test_a_number_of_workers_is_read_as_a_number() -> None:
    assert parsed("serve", "--workers", "2").workers == 2
    assert parsed("serve").workers == 1
