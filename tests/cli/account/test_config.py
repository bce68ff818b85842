import json

import pytest

from service.client import config
from tests.cli.account.conftest import Typed

KNOWN = "http://127.0.0.1:8402"


def test_a_person_sees_what_holds_and_why(person: Typed, environment: dict[str, str]) -> None:
    person("config set max-price 0.050")
    environment["VERDICT_URL"] = "https://Verdict.Example/"
    assert person("config list").out.splitlines() == [
        "NAME       VALUE                    FROM",
        "url        https://verdict.example  VERDICT_URL",
        "keystore   -                        -",
        "max-price  0.05                     the file",
        "max-day    1.00                     default",
    ]
    assert person("config").out == person("config list").out


def test_a_program_gets_it_as_json(program: Typed) -> None:
    assert program("config").json == {
        "url": {"value": KNOWN, "from": "default"},
        "keystore": {"value": None, "from": "-"},
        "max-price": {"value": "0.10", "from": "default"},
        "max-day": {"value": "1.00", "from": "default"},
    }


def test_what_is_set_holds_until_it_is_unset(program: Typed, environment: dict[str, str]) -> None:
    for name, value, other in [
        ("url", "https://verdict.example", KNOWN),
        ("max-price", "0.02", "0.10"),
        ("max-day", "5.00", "1.00"),
    ]:
        assert program(f"config get {name}").out == f"{other}\n"
        assert program(f"config set {name} {value}") == (0, "", "")
        assert program(f"config get {name}").out == f"{value}\n"
        assert program(f"config unset {name}") == (0, "", "")
        assert program(f"config get {name}").out == f"{other}\n"
    assert config.read(environment) == config.Config()


def test_what_is_not_chosen_and_holds_nowhere_is_said_to_be_missing(program: Typed) -> None:
    told = program("config get keystore")
    assert (told.code, told.out) == (1, "")
    assert told.err == "verdict: no keystore is chosen; `verdict config set keystore VALUE` chooses one\n"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("set max-price 0,05", "max-price: '0,05' is no amount of USDC"),
        ("set max-day 2000", "max-day: 2000 USDC is above 1000"),
        ("set url verdict.example", "url: 'verdict.example' is not a valid service URL"),
        ("set token abc", "token"),
        ("get price", "price"),
        ("set url", "value"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_nothing_is_written(
    program: Typed, environment: dict[str, str], typed: str, said: str
) -> None:
    told = program(f"config {typed}")
    assert (told.code, told.out) == (1, "")
    assert said in told.err.lower() or said in told.err
    assert not config.path(environment).exists()


def test_where_it_is_kept_is_told_whether_or_not_anything_is(program: Typed, environment: dict[str, str]) -> None:
    environment["XDG_CONFIG_HOME"] = "/somewhere"
    assert program("config path").out == "/somewhere/verdict/config.json\n"


def test_a_file_with_a_misspelt_ceiling_is_refused_by_every_command_that_reads_it(
    program: Typed, environment: dict[str, str]
) -> None:
    config.path(environment).parent.mkdir(parents=True)
    config.path(environment).write_text(json.dumps({"max_price": "0.01"}))
    for command in ("config list", "config get url", "config set max-day 1", "config unset max-day", "whoami"):
        told = program(command)
        assert told.code == 1
        assert "it names 'max_price'" in told.err
