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
        Argument("second", "how many", kind="number", optional=True),
        Argument("--count", "how often", kind="number", default=7),
        Argument("--unit", "in what", choices=("h", "d"), required=True),
        Argument("--word", "a word", parse=f"{__name__}:three_letters"),
        Argument("--out", "a file", metavar="FILE"),
        Argument("--json", "as JSON", kind="flag", exclusive="format"),
        Argument("--csv", "as CSV", kind="flag", exclusive="format"),
        Argument("--user", "of a user", exclusive="holder", required=True),
        Argument("--wallet", "of a wallet", exclusive="holder", required=True),
        Argument("--mine", "of mine", kind="flag", run="there:run"),
    ),
    example="verdict do it a",
)
BASE = ["a", "--unit", "h", "--user", "u"]


def read(row: Command, typed: list[str]) -> Arguments:
    with RowCommand(row).make_context("it", list(typed), obj=Environment({}, ())) as context:
        return arguments_of(row, context.params)


def test_values_are_converted_and_what_is_not_given_has_its_default() -> None:
    found = vars(read(ROW, ["a", "2", "--unit=d", "--word", "abc", "--user", "u", "--json", "--count", "-3"]))
    assert found == {
        "first": "a", "second": 2, "count": -3, "unit": "d", "word": "ABC", "out": None, "json": True, "csv": False,
        "user": "u", "wallet": None, "mine": False, "command": ROW, "run": "here:run",
    }  # fmt: skip
    assert read(ROW, BASE).count == 7
    assert read(ROW, BASE).second is None


def test_a_flag_may_replace_the_function_that_runs() -> None:
    assert read(ROW, [*BASE, "--mine"]).run == "there:run"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([*BASE, "--jsn"], "No such option '--jsn'. (Did you mean one of: '--csv', '--json'?)"),
        ([*BASE, "1", "2"], "Got unexpected extra argument (2)"),
        ([*BASE, "--count"], "Option '--count' requires an argument."),
        ([*BASE, "--count", "4.5"], "Invalid value for '--count': '4.5' is not a whole number."),
        ([*BASE, "--count", "٣"], "Invalid value for '--count': '٣' is not a whole number."),
        (["a", "--unit", "w"], "Invalid value for '--unit': 'w' is not one of 'h', 'd'."),
        (["c", *BASE[1:]], "Invalid value for 'a|b|1': 'c' is not one of 'a', 'b', '1'."),
        ([*BASE, "--word", "no"], "Invalid value for '--word': takes three letters, not 'no'."),
        ([*BASE, "--word", "\udcff"], "Invalid value for '--word': not valid UTF-8."),
        ([*BASE, "--json", "--csv"], "Options '--json' and '--csv' exclude each other."),
        ([*BASE, "--json=yes"], "Option '--json' does not take a value."),
        (["a", "--user", "u"], "Missing option '--unit'."),
        (["a", "--unit", "h"], "Missing one of the options '--user', '--wallet'."),
        (BASE[1:], "Missing argument 'a|b|1'."),
    ],
)
def test_a_mistake_has_one_message(typed: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        read(ROW, typed)
    assert refused.value.format_message().startswith(message)


def test_a_path_may_hold_bytes_that_are_not_utf_8() -> None:
    assert read(ROW, [*BASE, "--out", "\udcff"]).out == "\udcff"


def test_a_list_takes_any_number_of_values() -> None:
    row = Command("say", "say", "a:b", (Argument("words", "what", many=True),), example="verdict say")
    assert read(row, []).words == []
    assert read(row, ["a", "--", "--b"]).words == ["a", "--b"]


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
        ("watch prices BTC SOL", "watch", {"stream": "prices", "symbols": ["BTC", "SOL"]}),
    ],
)
def test_a_command_is_found_by_its_words_or_its_short_form(words: str, meant: str, values: dict[str, Any]) -> None:
    found = vars(parsed(*words.split()))
    assert found["command"].words == meant
    assert {name: found.get(name) for name in values} == values
