"""What a service sends cannot steer the terminal of whoever asks it for JSON, whatever it sends instead."""

import pytest

from tests.cli.account.conftest import Typed
from tests.client.sdk.peer import answers, peer

STEERS = frozenset("\x1b\x9b\u202e\x07")
COMMANDS = ("whoami --json", "keys list --json", "keys create --name x --json")


@pytest.fixture(autouse=True)
def session(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "ey.to.ken"


@pytest.mark.parametrize("line", COMMANDS)
def test_json_that_would_steer_a_terminal_is_written_by_its_codes(person: Typed, line: str) -> None:
    with peer(answers('{"data": {}, "meta": {}, "keys": [], "a": "\x9b2J\u202e"}'.encode())) as there:
        told = person(f"{line} --url", there.url)
    assert told.code == 0
    assert not STEERS & set(told.out)
    assert "\\u009b2J\\u202e" in told.out


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize("body", [b"\x1b[2J\xc2\x9b2J\x07", b"\xff\xfe"])
def test_what_is_no_json_is_not_written_at_all(person: Typed, line: str, body: bytes) -> None:
    with peer(answers(body)) as there:
        told = person(f"{line} --url", there.url)
    assert (told.code, told.out) == (5, "")
    assert not STEERS & set(told.err)


def test_a_look_over_the_way_there_is_written_by_its_codes(person: Typed) -> None:
    manifest = answers(b'{"data": {"version": "\xc2\x9b2J"}, "meta": {"ts": "2025-07-25T12:00:00.000Z"}}')
    with peer(manifest, manifest, answers(b"{}", 500)) as there:
        told = person("doctor --json --url", there.url)
    assert "version \\u009b2J" in told.out
    assert not STEERS & set(told.out)
