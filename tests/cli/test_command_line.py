"""The way from a typed line to a command: parsing, short forms, help, completions, and what is said of mistakes."""

import os
import shlex
import sys
from typing import Any

import click
import pytest

from service import __version__
from service.__main__ import run
from service.cli import calling
from service.cli.environment import VerdictCommand
from service.cli.error_report import RENAMED
from service.cli.main import COMPLETE
from service.cli.route_command import RouteCommand
from tests.cli.commanding import Terminal, options, typed
from tests.commands_page import EVERY


@pytest.mark.parametrize(
    ("words", "meant", "values"),
    [
        ("coin risk BTC --json", "coin risk", {"symbol": "BTC", "as_json": True, "csv": False, "max_price": None}),
        ("regime", "regime active", {}),
        ("regime --symbol BTC", "regime active", {"symbol": "BTC"}),
        ("regime history BTC", "regime history", {"symbol": "BTC"}),
        ("walkforward", "walkforward signals", {}),
        ("wallets", "wallets watchlist", {}),
        ("billing", "billing tier", {}),
        ("billing show rcp_1", "billing show", {"id": "rcp_1"}),
        ("BTC", "coin overview", {"symbol": "BTC"}),
        ("coin BTC", "coin overview", {"symbol": "BTC"}),
        ("coin pepe --json", "coin overview", {"symbol": "pepe", "as_json": True}),
        ("kPEPE --max-price 0.02", "coin overview", {"symbol": "kPEPE", "max_price": 20_000}),
        ("top gainers", "top gainers", {"limit": None}),
        ("coin historical BTC --count -3 --unit=d", "coin historical", {"count": -3, "unit": "d"}),
        ("admin keys create --name a --expires 30d", "admin keys create", {"expires": 30 * 86_400_000}),
    ],
)
def test_a_command_is_found_by_its_words_or_its_short_form(words: str, meant: str, values: dict[str, Any]) -> None:
    command, found = options(*words.split())
    assert command.name == meant.rsplit(maxsplit=1)[-1]
    if isinstance(command, RouteCommand):
        assert command.row.words == meant
    assert {name: found.get(name) for name in values} == values


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("keyz", "verdict: No such command 'keyz'. Did you mean `verdict keys`? To find a coin by name: `verdict res"),
        ("bitcoin", "No such command 'bitcoin'. To find a coin by name: `verdict resolve bitcoin`. See `verdict --h"),
        ("shiba inu --json", "No such command 'shiba'. To find a coin by name: `verdict resolve 'shiba inu'`. See"),
        ("a" * 41, f"verdict: No such command '{'a' * 39}…'. See `verdict --help`.\n"),
        ("btc", "No such command 'btc'. For a coin: `verdict BTC`. To find a coin by name: `verdict resolve btc`."),
        ("rwa TSLA", "verdict rwa: No such command 'TSLA'. Did you mean `verdict rwa symbol TSLA`? See"),
        ("regime lsit", "verdict regime: No such command 'lsit'. Did you mean `verdict regime history lsit`?"),
        ("admin keyz", "verdict admin: No such command 'keyz'. Did you mean 'keys'?"),
        ("risk BTC", "verdict: No such command 'risk'. Did you mean `verdict coin risk BTC`? See `verdict --help`.\n"),
        ("coni risk BTC", "verdict: No such command 'coni'. Did you mean `verdict coin risk BTC`? See"),
        ("coin --json", "verdict coin: No such option '--json'. See"),
        ("coin risk BTC --jsn", "verdict coin risk: No such option '--jsn'. (Did you mean one of: '--json',"),
        ("BTC --csv --ndjson", "Options '--ndjson' and '--csv' exclude each other."),
        ("coin risk BTC --json=yes", "verdict coin risk: Option '--json' does not take a value."),
        ("coin risk \udcff", "verdict coin risk: Invalid value for 'SYMBOL': The text is not UTF-8."),
        ("coin historical BTC --count", "verdict coin historical: Option '--count' requires an argument."),
        ("coin historical BTC --count ٣", "verdict coin historical: Invalid value for '--count': '٣' is not a whole"),
        ("keys rotate verdict_sk_AbCd1234 --grace 0", "Invalid value for '--grace': '0' is not a duration"),
    ],
)
def test_a_mistake_is_a_line_that_says_what_may_have_been_meant(words: str, said: str) -> None:
    told = typed(*words.split(), terminal=True)
    assert (told.code, told.out) == (1, "")
    assert said in told.err
    assert "--help`." in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((old, f"`verdict {old}` is now `verdict {new}`.") for old, new in RENAMED.items()),
        ("grants add --user 1 --tier pro", "`verdict grants` is now `verdict admin grants`."),
        ("payments verify receipt.json", "`verdict payments verify` is now `verdict admin receipts verify`."),
        ("payments list verify", "`verdict payments` is now `verdict admin payments`."),
        ("keys create --mine --name a", "`verdict keys --mine` is now `verdict keys`."),
        ("keys create --name a --tier=pro", "`verdict keys --tier` is now `verdict admin keys`."),
        ("wallets add 0x00", "`verdict wallets add` is now `verdict admin wallets add`."),
    ],
)
def test_an_old_spelling_is_answered_with_the_new_one(line: str, said: str) -> None:
    told = typed(*line.split())
    assert (told.code, told.out, said in told.err) == (1, "", True)


@pytest.mark.parametrize("line", ["resolve backup --colour", "wallets movements --contract list --colour"])
def test_the_words_of_an_old_spelling_may_be_values_elsewhere(line: str) -> None:
    assert "is now" not in typed(*line.split()).err


KEY = "verdict_sk_AbCd1234EfGhIjKlMnOp"
SESSION = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_x"
PRIVATE = "c0" * 32


@pytest.mark.parametrize(
    ("secret", "told"),
    [(KEY, "verdict_sk_AbCd1234..."), (SESSION, "..."), (PRIVATE, "..."), (f"0x{PRIVATE.upper()}", "...")],
)
@pytest.mark.parametrize("line", ["login --token {}", "login {}", "{}", "spending {}", "config set {} 1"])
def test_a_secret_on_the_command_line_is_not_told_again(secret: str, told: str, line: str) -> None:
    code, _, said = typed(*line.format(secret).split())
    assert code == 1
    assert secret not in said
    assert told in said
    assert "shell's history: replace it." in said


@pytest.mark.parametrize("word", ["verdict_sk_AbCd1234", "0x" + "c0" * 20, "c0" * 33, "eyJ.x"])
def test_what_is_no_secret_is_told_as_it_was_typed(word: str) -> None:
    assert f"Got unexpected extra argument ({word}). See" in typed("login", word).err


@pytest.mark.parametrize("words", EVERY)
def test_every_command_has_help_within_80_columns_and_an_example_that_means_it(words: str) -> None:
    command = EVERY[words]
    assert isinstance(command, VerdictCommand)
    told = typed(*words.split(), "--help")
    lines = told.out.splitlines()
    assert (told.code, told.err) == (0, "")
    assert lines[0].startswith(f"Usage: verdict {words}")
    assert max(len(line) for line in lines if line != f"  {command.example}") <= 80
    assert lines[lines.index("Example:") + 1] == f"  {command.example}"
    for parameter in command.params:
        shown = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.make_metavar(_CONTEXT)
        assert any(line.replace(",", "").split()[:1] == [shown] for line in lines) != getattr(
            parameter, "hidden", False
        )
    program, *example = shlex.split(command.example)
    assert (program, options(*example)[0].name) == ("verdict", command.name)


_CONTEXT = click.Context(click.Command("any"))


def test_help_is_there_wherever_it_is_asked_for() -> None:
    shown = typed("coin", "risk", "--help")
    assert shown == typed("help", "coin", "risk") == typed("coin", "risk", "BTC", "--json", "-h")
    assert shown.out.startswith("Usage: verdict coin risk [OPTIONS] SYMBOL\n")


def test_the_version_is_the_projects() -> None:
    assert typed("--version") == (0, f"verdict {__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("verdict coin ", ["overview", "risk", "lookup", "by-id", "by-name", "by-contract", "historical", "sentiment"]),
        ("verdict coin h", ["historical"]),
        ("verdict coin historical BTC --unit ", ["h", "d"]),
        ("verdict watch f", ["funding"]),
        ("verdict coin historical BTC --unit d --cou", ["--count"]),
        ("verdict admin keys create --tier ", ["free", "access", "pro"]),
        ("verdict completions z", ["zsh"]),
        ("verdict admin mi", ["migrate"]),
        ("verdict xyzzy co", ["coin", "coins", "config", "completions"]),
    ],
)
def test_what_may_come_next_is_offered(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    told = typed(environment={COMPLETE: "bash_complete"})
    assert told.code == 0
    assert sorted(row.partition(",")[2] for row in told.out.splitlines()) == sorted(expected)


def test_an_interrupt_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(calling, "call", interrupted)
    assert typed("coin", "risk", "BTC") == (130, "", "")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_reader_that_has_read_enough_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verdict keys list | head`: also where what is left in the buffer would be flushed at the end."""
    reading, writing = os.pipe()
    os.close(reading)
    err = Terminal()
    monkeypatch.setattr(sys, "stdout", os.fdopen(writing, "w"))
    monkeypatch.setattr(sys, "stderr", err)
    assert run(["--version"], {}) == 1
    sys.stdout.write("more")
    sys.stdout.flush()
    assert err.getvalue() == ""
    sys.stdout.close()
