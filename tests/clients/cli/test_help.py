"""Help is written from the table: it fits 80 columns, has an example, and the example can be typed."""

import shlex

import pytest

from service.__main__ import SECTIONS
from service.clients.cli.arguments import read
from service.clients.cli.command import Argument, Command
from service.clients.cli.help import command as explain
from service.clients.cli.help import everything, group
from service.clients.cli.words import find
from tests.clients.cli.commanding import typed

COMMANDS = [command for _, commands in SECTIONS for command in commands]
IDS = [command.words for command in COMMANDS]


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_command_explains_itself_within_80_columns_with_an_example(row: Command) -> None:
    lines = explain(row).splitlines()
    assert lines[0].startswith(f"usage: verdict {row.words}")
    assert max(len(line) for line in lines if line != f"  {row.example}") <= 80
    assert lines[lines.index("example:") + 1] == f"  {row.example}"
    for argument in row.arguments:
        assert argument.summary
        assert (
            any(f"{line} ".startswith(f"  {argument.name if argument.named else argument.shown} ") for line in lines)
            != argument.hidden
        )


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_example_can_be_typed_and_means_its_command(row: Command) -> None:
    program, *words = shlex.split(row.example)
    found = find(words, COMMANDS)
    assert (program, found.command) == ("verdict", row)
    assert read(row, found.rest).command is row


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_command_says_in_a_phrase_what_it_does(row: Command) -> None:
    assert row.summary[0].islower()
    assert not row.summary.endswith(".")
    assert row.run.count(":") == 1


def test_the_help_of_all_shows_every_first_word_once_within_80_columns() -> None:
    lines = everything(SECTIONS).splitlines()
    assert max(map(len, lines)) <= 80
    shown = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    words = [command.words.split()[0] for command in COMMANDS]
    assert sorted(shown) == sorted({*words, "--version"})


def test_the_help_of_a_command_reads_like_this() -> None:
    assert (
        typed("coin", "historical", "--help").out
        == """\
usage: verdict coin historical SYMBOL [OPTIONS]

A coin some hours or days ago, now, and between.

arguments:
  SYMBOL                  a ticker such as BTC, 1 to 20 letters and digits

options:
  --count N               how many hours or days back, 1 to 1000 (24)
  --unit d|h              hours or days (h)
  --url URL               the service (VERDICT_URL, else what is configured)
  --json                  print the answer as JSON, as is done where the output
                          is no terminal
  --ndjson                print a JSON object a line: the entries of a list
  --csv                   print comma-separated values, where there are entries
  --fields A,B            only these fields, by name, parted by commas
  --dry-run               show the request and its price, and send nothing
  --yes                   pay without asking, below the ceilings
  --max-price USDC        most that this call may cost, in USDC (0.10)

example:
  verdict coin historical BTC --count 7 --unit d
"""
    )


def test_the_help_of_a_group_lists_its_commands_and_what_it_does_alone() -> None:
    told = typed("regime", "--help").out
    assert told.startswith("usage: verdict regime COMMAND ...\n\ncommands:\n")
    assert "  verdict regime history SYMBOL\n" in told
    assert told.endswith("\n`verdict regime` alone is `verdict regime active`.\n")
    assert "alone" not in typed("coin", "--help").out


def test_what_is_hidden_is_told_to_nobody() -> None:
    arguments = (Argument("--where", "in which place"), Argument("--how", "in which way", hidden=True))
    told = explain(Command("vanish", "be gone", "a:b", arguments, example="verdict vanish"))
    assert ("--where" in told, "--how" in told) == (True, False)


def test_a_first_word_that_is_a_command_and_a_group_says_both() -> None:
    rows = [
        Command("find", "find something", "a:b", example="verdict find"),
        Command("find all", "find all", "a:b", example="verdict find all"),
    ]
    assert "  find            find something; also all\n" in everything([("some", rows)])
    assert "alone" not in group("find", rows[1:], rows[0])


def test_usage_shows_what_has_to_be_typed_and_what_need_not() -> None:
    row = Command(
        "put",
        "put things somewhere",
        "a:b",
        (
            Argument("place", "where"),
            Argument("side", "which", optional=True),
            Argument("things", "what", many=True),
            Argument("--how", "how", required=True, metavar="WAY"),
            Argument("--soon", "at once", required=True, kind="flag", apart="when"),
        ),
        example="verdict put there",
    )
    assert explain(row).startswith("usage: verdict put PLACE [SIDE] [THINGS ...] --how WAY [OPTIONS]\n")


def test_a_command_may_have_more_to_say() -> None:
    assert "VERDICT_PORT (8402)\n      port to listen on" in typed("serve", "--help").out
    assert "source <(verdict completions bash)" in typed("completions", "--help").out


def test_a_command_that_takes_nothing_says_so_by_saying_nothing() -> None:
    told = typed("config", "path", "--help").out
    assert told.startswith("usage: verdict config path ")
    assert "options" not in told
