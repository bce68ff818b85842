"""How a command line is parsed: values, defaults, options that exclude each other, short forms, and mistakes."""

from typing import Any

import click
import pytest

from service.cli.command import Argument, Arguments, Command
from service.cli.environment import Environment
from service.cli.parser import RowCommand, arguments_of
from tests.cli.commanding import parsed


def three_letters(text: str) -> str:
    if len(text) != 3:
        raise ValueError(f"takes three letters, not {text!r}")
    return text.upper()


ROW = Command(
    "do it",
    "do it",
    "here:run",
    (
        Argument("first", "which", choices=("a", "b", "1")),
        Argument("second", "how many", kind="number"),
        Argument("--count", "how often", kind="number", default=7),
        Argument("--unit", "in what", choices=("h", "d"), required=True),
        Argument("--word", "a word", parse=f"{__name__}:three_letters"),
        Argument("--json", "as JSON", kind="flag", exclusive="format"),
        Argument("--csv", "as CSV", kind="flag", exclusive="format"),
    ),
    example="verdict do it a",
)
BASE = ["a", "1", "--unit", "h"]


def read(row: Command, typed: list[str]) -> Arguments:
    with RowCommand(row).make_context("it", list(typed), obj=Environment({}, ())) as context:
        return arguments_of(row, context.params)


def test_values_are_converted_and_what_is_not_given_has_its_default() -> None:
    found = vars(read(ROW, ["a", "2", "--unit=d", "--word", "abc", "--json", "--count", "-3"]))
    assert found == {
        "first": "a", "second": 2, "count": -3, "unit": "d", "word": "ABC", "json": True, "csv": False,
        "command": ROW,
    }  # fmt: skip
    assert read(ROW, BASE).count == 7


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([*BASE, "--jsn"], "No such option '--jsn'. (Did you mean one of: '--csv', '--json'?)"),
        ([*BASE, "2"], "Got unexpected extra argument (2)"),
        ([*BASE, "--count"], "Option '--count' requires an argument."),
        ([*BASE, "--count", "4.5"], "Invalid value for '--count': '4.5' is not a whole number."),
        ([*BASE, "--count", "٣"], "Invalid value for '--count': '٣' is not a whole number."),
        (["a", "1", "--unit", "w"], "Invalid value for '--unit': 'w' is not one of 'h', 'd'."),
        (["c", *BASE[1:]], "Invalid value for 'a|b|1': 'c' is not one of 'a', 'b', '1'."),
        ([*BASE, "--word", "no"], "Invalid value for '--word': takes three letters, not 'no'."),
        ([*BASE, "--word", "\udcff"], "Invalid value for '--word': not valid UTF-8."),
        ([*BASE, "--json", "--csv"], "Options '--json' and '--csv' exclude each other."),
        ([*BASE, "--json=yes"], "Option '--json' does not take a value."),
        (["a", "1"], "Missing option '--unit'."),
        (BASE[2:], "Missing argument 'a|b|1'."),
    ],
)
def test_a_mistake_has_one_message(typed: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        read(ROW, typed)
    assert refused.value.format_message().startswith(message)


@pytest.mark.parametrize(
    ("words", "meant", "values"),
    [
        ("coin risk BTC --json", "coin risk", {"symbol": "BTC", "json": True}),
        ("regime", "regime active", {}),
        ("regime --symbol BTC", "regime active", {"symbol": "BTC"}),
        ("regime history BTC", "regime history", {"symbol": "BTC"}),
        ("walkforward", "walkforward signals", {}),
        ("wallets", "wallets watchlist", {}),
        ("billing", "billing tier", {}),
        ("billing show rcp_1", "billing show", {"id": "rcp_1"}),
        ("BTC", "coin overview", {"symbol": "BTC"}),
        ("coin BTC", "coin overview", {"symbol": "BTC"}),
        ("coin pepe --json", "coin overview", {"symbol": "pepe", "json": True}),
        ("kPEPE --json", "coin overview", {"symbol": "kPEPE", "json": True}),
        ("top gainers", "top gainers", {"limit": None}),
    ],
)
def test_a_command_is_found_by_its_words_or_its_short_form(words: str, meant: str, values: dict[str, Any]) -> None:
    found = vars(parsed(*words.split()))
    assert found["command"].words == meant
    assert {name: found.get(name) for name in values} == values
