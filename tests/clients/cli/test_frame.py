"""The way of a command: which one is meant, how it runs, and how it ends."""

import os
import sys

import pytest

from service import __version__
from service.__main__ import SECTIONS
from service.clients.cli import offer
from service.clients.cli.words import find
from tests.clients.cli.commanding import Terminal, typed

COMMANDS = [command for _, commands in SECTIONS for command in commands]


@pytest.mark.parametrize(
    ("words", "meant", "rest"),
    [
        ("coin risk BTC --json", "coin risk", ["BTC", "--json"]),
        ("signal BTC", "signal", ["BTC"]),
        ("regime", "regime active", []),
        ("regime --symbol BTC", "regime active", ["--symbol", "BTC"]),
        ("regime history BTC", "regime history", ["BTC"]),
        ("walkforward run", "walkforward run", []),
        ("walkforward", "walkforward signals", []),
        ("wallets", "wallets watchlist", []),
        ("wallets list", "wallets list", []),
        ("billing", "billing tier", []),
        ("billing receipt rcp_1", "billing receipt", ["rcp_1"]),
    ],
)
def test_a_command_is_known_by_its_words_and_a_group_by_what_it_does_alone(
    words: str, meant: str, rest: list[str]
) -> None:
    found = find(words.split(), COMMANDS)
    assert found.command is not None
    assert (found.command.words, found.rest, found.strange) == (meant, rest, None)


def test_no_two_commands_have_the_same_words_and_no_group_does_two_things_alone() -> None:
    words = [command.words for command in COMMANDS] + [
        command.words.rpartition(" ")[0] for command in COMMANDS if command.bare
    ]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("keyz", "verdict: there is no command 'keyz' here (did you mean keys?); see `verdict --help`\n"),
        ("xyzzy", "verdict: there is no command 'xyzzy' here; see `verdict --help`\n"),
        (
            "coin rsk BTC",
            "verdict coin: there is no command 'rsk' here (did you mean risk?); see `verdict coin --help`\n",
        ),
        ("regime histroy BTC", "verdict regime: there is no command 'histroy' here (did you mean history?)"),
        ("risk BTC", "verdict: there is no command 'risk' here (did you mean coin risk?); see `verdict --help`\n"),
        ("coin rsk --help", "verdict coin: there is no command 'rsk' here"),
        ("coin", "verdict coin: the following arguments are required: COMMAND (risk, historical); see"),
        ("coin --json", "verdict coin: the following arguments are required: COMMAND (risk, historical); see"),
        (
            "coin risk",
            "verdict coin risk: the following arguments are required: SYMBOL; see `verdict coin risk --help`\n",
        ),
        ("coin risk BTC --jsn", "verdict coin risk: unrecognized arguments: --jsn (did you mean --json?); see"),
    ],
)
def test_a_mistake_is_a_line_that_says_what_may_have_been_meant(words: str, said: str) -> None:
    told = typed(*words.split(), terminal=True)
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(said)
    assert told.err.endswith("--help`\n")
    assert told.err.count("\n") == 1


def test_options_before_the_command_are_asked_for_after_it() -> None:
    told = typed("--json", "coin", "risk", "BTC")
    assert (told.code, told.out) == (1, "")
    assert (
        told.err == "verdict: unrecognized arguments: --json (options come after the command); see `verdict --help`\n"
    )


def test_nothing_typed_shows_the_help_where_mistakes_are_told() -> None:
    told = typed()
    assert (told.code, told.out) == (1, "")
    assert told.err == typed("--help").out


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("--help", "usage: verdict COMMAND ..."),
        ("-h", "usage: verdict COMMAND ..."),
        ("coin --help", "usage: verdict coin COMMAND ..."),
        ("coin risk BTC --json -h", "usage: verdict coin risk SYMBOL [OPTIONS]"),
        ("regime --help", "usage: verdict regime COMMAND ..."),
        ("regime active --help", "usage: verdict regime active [OPTIONS]"),
        ("ask -h", "usage: verdict ask [QUESTION ...] [OPTIONS]"),
    ],
)
def test_help_is_there_wherever_it_is_asked_for(words: str, usage: str) -> None:
    told = typed(*words.split())
    assert (told.code, told.err) == (0, "")
    assert told.out.partition("\n")[0] == usage


def test_after_two_dashes_nobody_asks_for_help() -> None:
    assert typed("coin", "risk", "--", "--help", "BTC").code == 1


def test_the_version_is_the_projects() -> None:
    assert typed("--version") == (0, f"verdict {__version__}\n", "")
    assert typed("coin", "risk", "--version").code == 1


def test_an_interrupt_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(offer, "run", interrupted)
    assert typed("coin", "risk", "BTC") == (130, "", "")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_reader_that_has_read_enough_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """`verdict keys list | head`: also where what is left in the buffer would be flushed at the end."""
    reading, writing = os.pipe()
    os.close(reading)
    err = Terminal()
    monkeypatch.setattr(sys, "stdout", os.fdopen(writing, "w"))
    monkeypatch.setattr(sys, "stderr", err)
    from service.__main__ import run  # noqa: PLC0415 - as it is patched

    assert run(["--version"], {}) == 1
    sys.stdout.write("more")
    sys.stdout.flush()
    assert err.getvalue() == ""
    sys.stdout.close()


def test_a_command_is_told_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def run(arguments: object, environment: object) -> int:
        seen.extend((vars(arguments)["sections"], environment))
        return 5

    monkeypatch.setattr(offer, "run", run)
    assert typed("coin", "risk", "BTC", environment={"A": "b"}).code == 5
    assert seen == [SECTIONS, {"A": "b"}]
