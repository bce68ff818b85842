"""Against what the service's own types write, and read as they read."""

import json

import click
import msgspec
import pytest

from service.cli.parameters import Duration
from service.clock import parse_iso
from service.wire.access import CreatedKey, Ended, KeyList, KeyRow, NewKey, RotateKey
from tests.cli.account.conftest import Typed
from tests.client.sdk.peer import Reply, answers, peer

NOW = "2026-11-21T12:00:00.000Z"
MADE = CreatedKey("verdict_sk_AbCd1234wholesecret", "verdict_sk_AbCd1234", "bot", NOW, None)
ENDING = CreatedKey("verdict_sk_AbCd1234wholesecret", "verdict_sk_AbCd1234", "bot", NOW, "2026-12-21T12:00:00.000Z")


def wrote(document: object) -> Reply:
    return answers(msgspec.json.encode(document))


@pytest.fixture(autouse=True)
def _signed_in(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "ey.sess.ion"


def test_a_key_of_ones_own_is_made_with_the_session_and_printed_alone(program: Typed) -> None:
    with peer(wrote(MADE)) as there:
        told = program("keys create --name bot --url", there.url)
        [heard] = there.heard
    assert (told.code, told.out) == (0, f"{MADE.key}\n")
    assert told.err == f"This key is shown once: keep it now. It is yours, no expiry, at {there.url}.\n"
    assert (heard.method, heard.target, heard.headers["authorization"]) == ("POST", "/api/keys", "Bearer ey.sess.ion")
    assert msgspec.json.decode(heard.body, type=NewKey) == NewKey("bot", None)


def test_a_key_that_ends_is_asked_for_by_the_instant(program: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: parse_iso(NOW))
    with peer(wrote(ENDING)) as there:
        told = program("keys create --name bot --expires 30d --url", there.url)
        asked = msgspec.json.decode(there.heard[0].body, type=NewKey)
    assert asked.expires_at == "2026-12-21T12:00:00.000Z"
    assert "It is yours, until 2026-12-21T12:00:00.000Z, at" in told.err


def test_a_program_gets_the_made_key_as_json(program: Typed) -> None:
    with peer(wrote(MADE)) as there:
        told = program("keys create --name bot --json --url", there.url)
    assert (told.json, told.err) == (msgspec.to_builtins(MADE), "")


def test_a_key_is_replaced_at_once_or_after_a_grace(program: Typed) -> None:
    with peer(wrote(MADE), wrote(MADE)) as there:
        at_once = program("keys rotate verdict_sk_AbCd1234 --url", there.url)
        later = program("keys rotate verdict_sk_AbCd1234 --grace 12h --url", there.url)
        asked = [msgspec.json.decode(heard.body, type=RotateKey) for heard in there.heard]
        assert {(heard.method, heard.target) for heard in there.heard} == {("POST", "/api/keys/rotate")}
    assert asked == [RotateKey("verdict_sk_AbCd1234", 0), RotateKey("verdict_sk_AbCd1234", 43_200)]
    assert at_once.out == later.out == f"{MADE.key}\n"
    assert at_once.err.endswith("The old one has ended.\n")
    assert later.err.endswith("verdict_sk_AbCd1234 works for 12 h more.\n")


def test_ones_own_keys_are_listed(person: Typed, program: Typed) -> None:
    rows = [
        KeyRow("verdict_sk_AbCd1234", "bot", NOW, None, None, NOW),
        KeyRow("verdict_sk_EfGh5678", "a name \u202e that turns", NOW, "2027-01-02T00:00:00.000Z", None, None),
        KeyRow("verdict_sk_IjKl9012", "old", NOW, None, "2026-11-22T00:00:00.000Z", None),
    ]
    with peer(wrote(KeyList(rows)), wrote(KeyList(rows)), wrote(KeyList([]))) as there:
        told = person("keys list --url", there.url)
        assert program("keys list --url", there.url).json == msgspec.to_builtins(KeyList(rows))
        assert person("keys list --url", there.url).out == "You have no keys there yet.\n"
        assert {(heard.method, heard.target) for heard in there.heard} == {("GET", "/api/keys")}
    assert told.out.splitlines() == [
        "PREFIX               STATE               LAST USED   NAME",
        "verdict_sk_AbCd1234  no end              2026-11-21  bot",
        "verdict_sk_EfGh5678  until 2027-01-02    -           a name \N{REPLACEMENT CHARACTER} that turns",
        "verdict_sk_IjKl9012  revoked 2026-11-22  -           old",
    ]


def test_a_key_of_ones_own_is_revoked(program: Typed) -> None:
    with peer(wrote(Ended())) as there:
        told = program("keys revoke verdict_sk_AbCd1234 --url", there.url)
        assert [(h.method, h.target) for h in there.heard] == [("DELETE", "/api/keys?prefix=verdict_sk_AbCd1234")]
    assert (told.code, told.out) == (0, "verdict_sk_AbCd1234 is revoked.\n")


@pytest.mark.parametrize("line", ["keys revoke {}", "keys rotate {}"])
def test_of_a_whole_key_only_its_beginning_is_sent(program: Typed, line: str) -> None:
    with peer(wrote(MADE)) as there:
        assert program(f"{line.format(MADE.key)} --url", there.url).code == 0
        [heard] = there.heard
    assert MADE.prefix in heard.target + heard.body.decode()
    assert "wholesecret" not in heard.target + heard.body.decode()


@pytest.mark.parametrize("typed", ["nope", "verdict_sk_AbCd123", "verdict_sk_AbCd1234!", "verdict_sk_AbCd\u0661234"])
@pytest.mark.parametrize("line", ["keys revoke {}", "keys rotate {}"])
def test_what_begins_no_key_is_refused_before_anything_is_sent(program: Typed, line: str, typed: str) -> None:
    told = program(f"{line.format(typed)} --url http://127.0.0.1:1")
    assert told.code == 1
    assert "a key begins like verdict_sk_AbCd1234" in told.err


@pytest.mark.parametrize("option", ["--tier pro", "--wallet 0x1", "--user 3"])
def test_what_only_the_operator_decides_is_refused_before_anything_is_sent(program: Typed, option: str) -> None:
    told = program(f"keys create --name bot {option} --url http://127.0.0.1:1")
    assert told.code == 1
    assert f"`verdict keys {option.split(maxsplit=1)[0]}` is now `verdict admin keys`." in told.err


def test_somebody_who_is_not_signed_in_reads_where_an_operator_finds_the_keys(
    person: Typed, program: Typed, environment: dict[str, str]
) -> None:
    del environment["VERDICT_TOKEN"]
    assert "use `verdict admin keys`" in person("keys list --url http://127.0.0.1:1").err
    assert json.loads(program("keys list --url http://127.0.0.1:1").err)["error"]["code"] == "UNREACHABLE"


@pytest.mark.parametrize(
    "line",
    [
        "keys create --name bot",
        "keys list",
        "keys revoke verdict_sk_AbCd1234",
        "keys rotate verdict_sk_AbCd1234",
    ],
)
def test_a_key_in_the_environment_is_no_session(program: Typed, environment: dict[str, str], line: str) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_s3cret"
    told = program(f"{line} --url http://127.0.0.1:1")
    assert told.code == 2
    assert "VERDICT_TOKEN is an API key" in told.err
    assert "s3cret" not in told.err


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("keys create --name bot --expires soon", "--expires"),
        ("keys create --name bot --expires 0m", "--expires"),
        ("keys rotate verdict_sk_AbCd1234 --grace 1y", "--grace"),
    ],
)
def test_a_duration_that_is_none_is_refused_by_its_option(program: Typed, line: str, option: str) -> None:
    told = program(f"{line} --url http://127.0.0.1:1")
    assert told.code == 1
    assert f"'{option}': a duration is a number and a unit" in json.loads(told.err)["error"]["message"]


def test_an_answer_without_the_key_is_none_of_this_service(program: Typed) -> None:
    with peer(wrote({}), wrote([])) as there:
        assert program("keys create --name bot --url", there.url).code == 5
        assert program("keys list --url", there.url).code == 5


def test_the_answer_to_a_revocation_is_printed_for_programs_that_ask(program: Typed) -> None:
    with peer(wrote(Ended())) as there:
        told = program("keys revoke verdict_sk_AbCd1234 --json --url", there.url)
    assert told.json == msgspec.to_builtins(Ended())


@pytest.mark.parametrize(("text", "minutes"), [("0m", 0), ("90m", 90), ("12h", 720), ("7d", 10_080), ("1w", 10_080)])
def test_a_duration_is_read_as_people_write_it(text: str, minutes: int) -> None:
    assert Duration(zero=True).convert(text, None, None) == minutes * 60_000


@pytest.mark.parametrize("text", ["", "m", "5", "5s", "-5m", "5 m", "5m\n", "1234567m", "\u0665m", "0m", "000d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="a duration is"):
        Duration().convert(text, None, None)
