import os
import subprocess
import sys

import pytest

from service import __version__
from service.operator.parser import parse

COMMANDS = [
    [],
    ["serve"],
    ["keys"],
    ["keys", "create"],
    ["keys", "list"],
    ["keys", "revoke"],
    ["grants"],
    ["grants", "add"],
    ["grants", "list"],
    ["grants", "revoke"],
    ["payments"],
    ["payments", "list"],
    ["payments", "show"],
    ["payments", "reconcile"],
    ["payments", "export"],
    ["payments", "verify"],
    ["usage"],
    ["doctor"],
    ["backup"],
    ["record"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_within_80_columns(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse([*command, "--help"])
    assert left.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(" ".join(["usage: verdict", *command]))
    assert max(map(len, lines)) <= 80


def test_the_help_of_serve_lists_every_setting_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["serve", "--help"])
    assert "VERDICT_PORT (8402)\n      port to listen on" in capsys.readouterr().out


def test_help_loads_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; sys.argv = ['verdict', '--help']\n"
        "from service.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "foreign = {name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'service', '__main__'}\n"
        "print('FOREIGN', sorted(name for name in foreign if not name.startswith(('_', 'coverage', 'a1_coverage'))))\n"
        "print('ASYNCIO', 'asyncio' in sys.modules)"
    )
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=unmeasured, capture_output=True, text=True, timeout=30, check=True
    )
    assert "FOREIGN []" in done.stdout
    assert "ASYNCIO False" in done.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["keyz"], "verdict: argument COMMAND: invalid choice: 'keyz'"),
        (["keys"], "verdict keys: the following arguments are required: COMMAND"),
        (["keys", "create"], "verdict keys create: the following arguments are required: --name"),
        (["keys", "create", "--name", "a", "--tier", "gold"], "verdict keys create: argument --tier: invalid choice"),
        (["serve", "--workers", "0"], "verdict serve: argument --workers: takes 1 to 64, not '0'"),
        (["serve", "--workers", "٣"], "verdict serve: argument --workers: takes 1 to 64"),
        (["keys", "list", "--js"], "verdict: unrecognized arguments: --js"),
    ],
)
def test_a_mistake_in_the_command_line_is_one_line_that_says_where_to_read_more(
    typed: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse(typed)
    told = capsys.readouterr()
    assert left.value.code == 2
    assert told.out == ""
    assert told.err.startswith(said)
    assert told.err.endswith("--help`\n")
    assert told.err.count("\n") == 1


def test_no_command_at_all_shows_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse([])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("usage: verdict")


def test_the_version_is_the_projects(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"verdict {__version__}\n"


def test_a_command_names_the_function_that_runs_it() -> None:
    assert parse(["serve", "--workers", "2"]).run == "service.operator.serve:serve"
    assert parse(["keys", "revoke", "verdict_sk_abcdefgh"]).run == "service.operator.keys:revoke"
