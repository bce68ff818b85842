"""The way of a command: which one is meant, how it runs, and how it ends."""

import os
import sys

import pytest

from service import __version__
from service.cli import api_command
from tests.cli.commanding import Terminal, typed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("keyz", "verdict: No such command 'keyz'. Did you mean `verdict keys`? See `verdict --help`.\n"),
        ("xyzzy", "verdict: No such command 'xyzzy'. For a coin: `verdict XYZZY`. See `verdict --help`.\n"),
        ("btc", "verdict: No such command 'btc'. For a coin: `verdict BTC`. See `verdict --help`.\n"),
        ("coin rsk BTC", "verdict coin: No such command 'rsk'. Did you mean 'risk'? See `verdict coin --help`.\n"),
        ("regime histroy BTC", "verdict regime: No such command 'histroy'. Did you mean 'history'?"),
        ("risk BTC", "verdict: No such command 'risk'. Did you mean `verdict coin risk BTC`? See `verdict --help`.\n"),
        ("coni risk BTC", "verdict: No such command 'coni'. Did you mean `verdict coin risk BTC`? See"),
        ("coin rsk --help", "verdict coin: No such command 'rsk'."),
        (
            "coin",
            "verdict coin: Missing command. Choose from: overview, risk, lookup, by-id, by-name, by-contract,",
        ),
        ("coin --json", "verdict coin: No such option '--json'. See"),
        ("coin risk", "verdict coin risk: Missing argument 'SYMBOL'. See `verdict coin risk --help`.\n"),
        ("coin risk BTC --jsn", "verdict coin risk: No such option '--jsn'. (Did you mean one of: '--json',"),
    ],
)
def test_a_mistake_is_a_line_that_says_what_may_have_been_meant(words: str, said: str) -> None:
    told = typed(*words.split(), terminal=True)
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(said)
    assert told.err.endswith("--help`.\n")
    assert told.err.count("\n") == 1


def test_options_before_the_command_are_asked_for_after_it() -> None:
    told = typed("--json", "coin", "risk", "BTC")
    assert (told.code, told.out) == (1, "")
    assert told.err == "verdict: No such option '--json'. Options come after the command. See `verdict --help`.\n"


def test_nothing_typed_shows_the_help_where_mistakes_are_told() -> None:
    told = typed()
    assert (told.code, told.out) == (1, "")
    assert told.err == typed("--help").out


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("--help", "Usage: verdict [OPTIONS] COMMAND [ARGS]..."),
        ("-h", "Usage: verdict [OPTIONS] COMMAND [ARGS]..."),
        ("coin --help", "Usage: verdict coin [OPTIONS] COMMAND [ARGS]..."),
        ("coin risk BTC --json -h", "Usage: verdict coin risk [OPTIONS] SYMBOL"),
        ("regime --help", "Usage: verdict regime [OPTIONS] COMMAND [ARGS]..."),
        ("regime active --help", "Usage: verdict regime active [OPTIONS]"),
        ("ask -h", "Usage: verdict ask [OPTIONS] [QUESTION]..."),
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

    monkeypatch.setattr(api_command, "run", interrupted)
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
