"""Help fits 80 columns, describes every argument, and its example can be typed."""

import shlex

import click
import pytest

from service.cli.parser import RowCommand
from tests.cli.commanding import Described, described_commands, parsed, typed

COMMANDS = described_commands()
IDS = [command.words for command in COMMANDS]


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_command_has_help_within_80_columns_with_an_example(row: Described) -> None:
    told = typed(*row.words.split(), "--help")
    lines = told.out.splitlines()
    assert (told.code, told.err) == (0, "")
    assert lines[0].startswith(f"Usage: verdict {row.words}")
    assert max(len(line) for line in lines if line != f"  {row.example}") <= 80
    assert lines[lines.index("Example:") + 1] == f"  {row.example}"
    for parameter in row.command.params:
        shown = parameter.opts[0] if parameter.param_type_name == "option" else parameter.make_metavar(_CONTEXT)
        described = any(line.replace(",", "").split()[:1] == [shown] for line in lines)
        assert described != getattr(parameter, "hidden", False), shown


_CONTEXT = click.Context(click.Command("any"))


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_example_can_be_typed_and_means_its_command(row: Described) -> None:
    program, *words = shlex.split(row.example)
    assert program == "verdict"
    if isinstance(row.command, RowCommand):
        assert parsed(*words).command == row.command.row
    else:
        assert words[: len(row.words.split())] == row.words.split()
        row.command.make_context(row.words, words[len(row.words.split()) :])


@pytest.mark.parametrize("row", COMMANDS, ids=IDS)
def test_every_command_has_a_summary_of_one_phrase(row: Described) -> None:
    assert row.summary[0].islower()
    assert not row.summary.endswith(".")


def test_no_two_commands_have_the_same_words() -> None:
    assert len(set(IDS)) == len(IDS)


def test_the_help_of_all_shows_every_first_word_once_within_80_columns() -> None:
    lines = typed("--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    shown = [line.split()[0] for line in lines if line.startswith("  ") and line[2] not in " `-C"]
    assert set(shown) >= {command.words.split()[0] for command in COMMANDS}
    assert len(set(shown)) == len(shown)


def test_the_help_of_a_command_reads_like_this() -> None:
    assert (
        typed("coin", "historical", "--help").out
        == """\
Usage: verdict coin historical [OPTIONS] SYMBOL

  Price and funding history of one coin.

Positional arguments:
  SYMBOL  A ticker such as BTC, 1 to 20 letters and digits.

Options:
  --count N         How many hours or days back, 1 to 1000 (24).
  --unit d|h        Hours or days (h).
  --url URL         The service (VERDICT_URL, else what is configured).
  --json            Print the answer as JSON, as is done where the output is
                    no terminal.
  --ndjson          Print a JSON object a line: the entries of a list.
  --csv             Print comma-separated values, where there are entries.
  --fields A,B      Only these fields, by name, parted by commas.
  --dry-run         Show the request and its price, and send nothing.
  --yes             Pay without asking, below the ceilings.
  --max-price USDC  Most that this call may cost, in USDC (0.10).
  -h, --help        Show this message and exit.

Example:
  verdict coin historical BTC --count 7 --unit d
"""
    )


def test_the_help_of_a_group_lists_its_commands_and_its_default() -> None:
    told = typed("regime", "--help").out
    assert told.startswith("Usage: verdict regime [OPTIONS] COMMAND [ARGS]...\n")
    assert "  history     " in told
    assert told.endswith("\n  `verdict regime` is short for `verdict regime active`.\n")
    assert typed("coin", "--help").out.endswith("\n  `verdict coin BTC` is short for `verdict coin overview BTC`.\n")
    assert "short for" not in typed("keys", "--help").out
