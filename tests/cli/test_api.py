"""`verdict api`: any request, and the answer as it is."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.commanding import Told, typed
from tests.client.sdk.peer import Peer, Reply, answers, peer, says

KEY = "verdict_sk_AbCd1234secretsecret"
ANSWER = b'{"data": [1,  2]}'


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "VERDICT_TOKEN": KEY, "NO_COLOR": "1"}


def told_by(there: Peer, home: Mapping[str, str], *words: str, terminal: bool = False) -> Told:
    return typed("api", *words, environment={**home, "VERDICT_URL": there.url}, terminal=terminal)


@pytest.mark.parametrize(
    ("words", "method", "target", "body"),
    [
        (["coin/risk/BTC"], "GET", "/api/cli/coin/risk/BTC", b""),
        (["/healthz"], "GET", "/healthz", b""),
        (["coins", "-q", "symbols=BTC,ETH", "-q", "limit=2"], "GET", "/api/cli/coins?symbols=BTC%2CETH&limit=2", b""),
        (["coins?limit=1", "-q", "sort=rank"], "GET", "/api/cli/coins?limit=1&sort=rank", b""),
        (["/api/keys", "-d", '{"name":"x"}'], "POST", "/api/keys", b'{"name":"x"}'),
        (["/api/keys/p", "-X", "DELETE"], "DELETE", "/api/keys/p", b""),
    ],
)
def test_the_request_is_what_was_typed_and_the_answer_what_came(
    home: dict[str, str], words: list[str], method: str, target: str, body: bytes
) -> None:
    with peer(answers(ANSWER)) as there:
        told = told_by(there, home, *words)
    assert (told.code, told.out, told.err) == (0, ANSWER.decode(), "")
    [heard] = there.heard
    assert (heard.method, heard.target, heard.body) == (method, target, body)
    assert heard.headers["authorization"] == f"Bearer {KEY}"


def test_a_body_may_come_from_a_file(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"question": "price of btc"}')
    with peer(answers(ANSWER)) as there:
        assert told_by(there, home, "/api/cli", "-d", f"@{tmp_path / 'body.json'}").code == 0
        assert told_by(there, home, "/api/cli", "-d", "@/nowhere").err.startswith("verdict: Cannot read /nowhere: ")
    assert [heard.body for heard in there.heard] == [b'{"question": "price of btc"}']


def test_heads_are_shown_without_secrets(home: dict[str, str]) -> None:
    with peer(answers(ANSWER, set_cookie="session=secret", x_request_id="7")) as there:
        told = told_by(there, home, "coin/risk/BTC", "-v")
    assert told.out == ANSWER.decode()
    assert "> GET /api/cli/coin/risk/BTC HTTP/1.1\n" in told.err
    assert "> Authorization: Bearer verdict_sk_AbCd1234...\n" in told.err
    assert "< HTTP/1.1 200 Told\n" in told.err
    assert "< x-request-id: 7\n" in told.err
    assert "secret" not in told.err


@pytest.mark.parametrize(("status", "code"), [(400, 1), (401, 2), (402, 3), (404, 4), (429, 3), (503, 5), (308, 4)])
def test_a_refusal_is_printed_as_it_is_and_has_the_exit_code_of_every_command(
    home: dict[str, str], status: int, code: int
) -> None:
    with peer(says({"error": {"code": "X"}}, status)) as there:
        told = told_by(there, home, "coin/risk/NOPE")
    assert (told.code, json.loads(told.out)) == (code, {"error": {"code": "X"}})
    assert told.err == f"verdict: The service answered {status}.\n"


def test_a_success_goes_to_a_file_whole_and_a_refusal_leaves_the_file_alone(
    home: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "answer.json"
    with peer(answers(ANSWER), says({}, 404)) as there:
        assert told_by(there, home, "coins", "-o", str(path)).out == ""
        assert told_by(there, home, "nope", "-o", str(path)).code == 4
    assert path.read_bytes() == ANSWER
    assert [one.name for one in tmp_path.iterdir()] == ["answer.json"]
    with peer(answers(ANSWER)) as there:
        told = told_by(there, home, "coins", "-o", str(tmp_path / "no" / "where.json"))
    assert (told.code, told.err.endswith(": No such file or directory.\n")) == (1, True)


def test_a_terminal_gets_control_characters_as_text(home: dict[str, str]) -> None:
    with peer(answers(b"a\x1b[31mb\n")) as there:
        assert told_by(there, home, "x", terminal=True).out == "a\\u001b[31mb\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://elsewhere/x"], "PATH is a path of the service, not a URL"),
        (["coin/risk/B C"], "PATH must be percent-encoded. Write coin/risk/B%20C."),
        (["coins", "-q", "limit"], "'limit' is not NAME=VALUE."),
        (["coins", "--timeout", "0"], "0.0 is not in the range"),
    ],
)
def test_a_mistake_is_said_before_anything_is_sent(home: dict[str, str], words: list[str], said: str) -> None:
    told = typed("api", *words, environment=home)
    assert (told.code, told.out) == (1, "")
    assert said in told.err
    assert told.err.count("\n") == 1


def test_a_truncated_answer_is_an_error_and_leaves_the_file_alone(home: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_bytes(b"before")
    cut = Reply(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf", hang_up=True)
    with peer(cut, cut) as there:
        told = told_by(there, home, "coins", "-o", str(path))
        assert (told.code, told.out) == (6, "")
        assert told_by(there, home, "coins").code == 6
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("answer.json", b"before")]


def test_a_file_keeps_its_mode_and_a_device_stays_one(home: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.touch(mode=0o640)
    path.chmod(0o640)
    with peer(answers(ANSWER), answers(ANSWER)) as there:
        assert told_by(there, home, "coins", "-o", str(path)).code == 0
        assert told_by(there, home, "coins", "-o", os.devnull).code == 0
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (ANSWER, 0o640)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_words_that_are_no_text_are_refused(home: dict[str, str]) -> None:
    for words in (["coins", "-q", "k=\udcff"], ["\udcff"], ["coins", "-d", "\udcff"]):
        told = typed("api", *words, environment=home)
        assert (told.code, told.out) == (1, "")
        assert "not UTF-8" in told.err
