"""What follows a command's words is read as `argparse` reads it, which the same rows are given to here."""

import argparse
import contextlib
import io
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clients.cli.arguments import read
from service.clients.cli.command import Argument, Command
from service.clients.cli.usage import UsageError


class Refused(Exception):  # noqa: N818 - it is no error of the test
    """What argparse said."""


class Oracle(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def number(text: str) -> int:
    if not text.removeprefix("-").isdigit() or not text.isascii():
        raise ValueError(text)
    return int(text)


def three_letters(text: str) -> str:
    if len(text) != 3:
        raise ValueError(f"takes three letters, not {text!r}")
    return text.upper()


ROWS = (
    Argument("first", "", choices=("a", "b", "1")),
    Argument("second", "", kind="number", optional=True),
    Argument("--count", "", kind="number", default=7),
    Argument("--unit", "", choices=("h", "d"), required=True),
    Argument("--word", "", read=f"{__name__}:three_letters"),
    Argument("--json", "", kind="flag", apart="form"),
    Argument("--csv", "", kind="flag", apart="form"),
    Argument("--user", "", apart="holder", required=True),
    Argument("--wallet", "", apart="holder", required=True),
)
MANY = (Argument("first", ""), Argument("rest", "", many=True), Argument("--json", "", kind="flag"))


def command(*rows: Argument) -> Command:
    return Command("do it", "", "here:run", rows, example="")


def oracle(rows: tuple[Argument, ...]) -> Oracle:
    parser = Oracle(allow_abbrev=False, add_help=False)
    groups: dict[str, Any] = {}
    for row in rows:
        if row.apart and row.apart not in groups:
            groups[row.apart] = parser.add_mutually_exclusive_group(required=row.required)
        of = groups.get(row.apart, parser)
        more: dict[str, Any] = {} if row.apart or not row.required else {"required": True}
        if row.many:
            more["nargs"] = "*"
        elif row.optional:
            more["nargs"] = "?"
        if row.kind == "flag":
            of.add_argument(row.name, action="store_true")
        else:
            kind = number if row.kind == "number" else three_letters if row.read else str
            of.add_argument(row.name, type=kind, choices=row.choices or None, default=row.default, **more)
    return parser


def both(rows: tuple[Argument, ...], typed: list[str]) -> tuple[object, object]:
    """What is read, and what argparse reads; nothing where it is refused."""
    try:
        found = vars(read(command(*rows), typed))
        ours: object = {name: value for name, value in found.items() if name not in {"command", "run"}}
    except UsageError:
        ours = None
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            theirs: object = vars(oracle(rows).parse_intermixed_args(typed))
        except Refused:
            theirs = None
    return ours, theirs


NAMES = [
    "--count",
    "--unit",
    "--word",
    "--json",
    "--csv",
    "--user",
    "--wallet",
    "--unit=d",
    "--count=3",
    "--user=",
    "--jso",
]
VALUES = [
    "a",
    "b",
    "c",
    "1",
    "-1",
    "-1.5",
    "-.5",
    "1.",
    "",
    "-",
    "h",
    "d",
    "abc",
    "٣",
    "a b",
    "-5 % today",
    "--word=a b",
    "-x",
    "--word=abc",
    "--csv=1",
]


@given(st.lists(st.sampled_from(NAMES + VALUES), max_size=9))
def test_a_command_line_is_read_or_refused_as_argparse_would(typed: list[str]) -> None:
    ours, theirs = both(ROWS, ["--unit", "h", "--user", "u", *typed])
    assert ours == theirs


@given(st.lists(st.sampled_from(["--unit", "h", "--user", "u", "--wallet", "w", "a", "2", "--json"]), max_size=8))
def test_what_is_required_is_required_as_argparse_would(typed: list[str]) -> None:
    ours, theirs = both(ROWS, typed)
    assert ours == theirs


@given(st.lists(st.sampled_from(["a", "b", "-5", "-", "--json", "-x", ""]), max_size=6))
def test_a_list_is_read_as_argparse_would(typed: list[str]) -> None:
    ours, theirs = both(MANY, typed)
    assert ours == theirs


def test_after_two_dashes_nothing_is_an_option() -> None:
    found = read(command(*MANY), ["--json", "--", "-x", "--json"])
    assert vars(found)["first"] == "-x"
    assert vars(found)["rest"] == ["--json"]
    assert vars(found)["json"] is True


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["a", "--jsn"], "unrecognized arguments: --jsn (did you mean --json?)"),
        (["a", "--xyzzy"], "unrecognized arguments: --xyzzy"),
        (["a", "1", "2", "3"], "unrecognized arguments: 2 3"),
        (["a", "--count"], "argument --count: expected one argument"),
        (["a", "--count", "--json"], "argument --count: expected one argument"),
        (["a", "--count", "--", "4"], "argument --count: expected one argument"),
        (["a", "--count", "4.5"], "argument --count: takes a whole number, not '4.5'"),
        (["a", "--unit", "w"], "argument --unit: invalid choice: 'w' (choose from h, d)"),
        (["c"], "argument a|b|1: invalid choice: 'c' (choose from a, b, 1)"),
        (["a", "--word", "no"], "argument --word: takes three letters, not 'no'"),
        (["a", "--json", "--csv"], "argument --csv: not allowed with argument --json"),
        (["a", "--json=yes"], "argument --json: ignored explicit argument 'yes'"),
        (["a"], "the following arguments are required: --unit"),
        (["a", "--unit", "h"], "one of the arguments --user --wallet is required"),
        (["--unit", "h"], "the following arguments are required: a|b|1"),
    ],
)
def test_a_mistake_is_told_in_a_line_that_says_where_to_read_more(typed: list[str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(command(*ROWS), typed)
    assert (str(refused.value), refused.value.whose) == (f"{said}; see `verdict do it --help`", "verdict do it")


def test_a_flag_may_have_the_command_run_by_something_else() -> None:
    mine = command(Argument("--mine", "", kind="flag", run="there:run"), Argument("--json", "", kind="flag"))
    assert read(mine, ["--json"]).run == "here:run"
    assert read(mine, ["--mine"]).run == "there:run"
    assert read(mine, ["--mine"]).command is mine
