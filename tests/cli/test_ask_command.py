"""`verdict ask`: what is sent, what is shown, and that asking again is never charged again."""

import io
import json
import re
import stat
from pathlib import Path

import pytest

from service.__main__ import run
from tests.cli.commanding import typed
from tests.cli.recorded import ANSWERS
from tests.client.sdk.peer import Peer, Reply, answers, peer, says

PROSE = "**ETH is at $3,730**, daily DOWN.\n\n| Coin | Mood |\n| --- | --- |\n| ETH | calm |\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "VERDICT_TOKEN": "verdict_sk_abc",
        "NO_COLOR": "1",
    }


def body_of(listening: Peer, number: int = 0) -> dict[str, object]:
    sent: dict[str, object] = json.loads(listening.heard[number].body)
    return sent


def test_a_person_reads_prose_set_for_the_terminal(environment: dict[str, str]) -> None:
    with peer(answers(PROSE.encode())) as listening:
        seen = typed("ask", "How", "is", "ETH?", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert seen.out == "ETH is at $3,730, daily DOWN.\n\nCoin  Mood\nETH   calm\n"
    (heard,) = listening.heard
    assert (heard.method, heard.target) == ("POST", "/api/cli")
    assert heard.headers["accept"] == "text/plain"
    assert heard.headers["authorization"] == "Bearer verdict_sk_abc"
    assert body_of(listening) == {"messages": [{"role": "user", "content": "How is ETH?"}]}


def test_a_program_reads_the_answer_as_json_byte_for_byte(
    environment: dict[str, str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    told = (ANSWERS / "question.json").read_bytes().rstrip(b"\n")
    with peer(answers(told)) as listening:
        assert run(["ask", "How is ETH?", "--url", listening.url], environment) == 0
    assert capsysbinary.readouterr().out == told + b"\n"
    assert listening.heard[0].headers["accept"] == "application/json"


@pytest.mark.parametrize("raw", [[], ["--raw"]])
@pytest.mark.parametrize("body", [b"<html>", b"[]"])
def test_what_is_no_answer_is_not_passed_on_as_one(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str], body: bytes, raw: list[str]
) -> None:
    with peer(answers(body)) as listening:
        assert run(["ask", "How is ETH?", *raw, "--url", listening.url], environment) == 5
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("stdin", [io.TextIOWrapper(io.BytesIO(b"\xff?"), "utf-8"), io.StringIO("\udcff?")])
def test_a_question_that_is_no_text_is_refused(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, stdin: io.TextIOBase
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    seen = typed("ask", "-", environment=environment, terminal=True)
    assert (seen.code, seen.err) == (1, "verdict: what came on standard input is no UTF-8\n")


def test_raw_findings_and_the_archetype_are_asked_for(environment: dict[str, str]) -> None:
    with peer(says({"steps": []})) as listening:
        seen = typed(
            "ask",
            "ETH?",
            "--raw",
            "--archetype",
            "trader",
            "--url",
            listening.url,
            environment=environment,
            terminal=True,
        )
    assert seen.code == 0
    assert body_of(listening)["raw"] is True
    assert body_of(listening)["archetype"] == "trader"
    assert json.loads(seen.out) == {"steps": []}


@pytest.mark.promise("question.typed-query")
@pytest.mark.parametrize("terminal", [True, False])
def test_explaining_shows_the_typed_queries_in_words_and_as_they_are(
    environment: dict[str, str], terminal: bool
) -> None:
    query = {"subject": {"coins": ["ETH"]}, "measures": [{"name": "price"}]}
    found = {
        "classification": {"queries": [query], "ignored": ["\x1b[2J"]},
        "plan": {"steps": []},
        "steps": [{"result": {"title": "ETH, price"}}, {"result": None, "error": "No data."}],
    }
    with peer(says(found)) as listening:
        seen = typed("ask", "ETH?", "--explain", "--url", listening.url, environment=environment, terminal=terminal)
    assert seen.code == 0
    assert body_of(listening)["raw"] is True
    first, rest = seen.out.split("\n", 1)
    assert first == "Read as: ETH, price"
    assert json.loads(rest) == found["classification"]


@pytest.mark.parametrize("found", [{}, {"classification": {}, "steps": [1]}, {"classification": {}, "steps": None}])
def test_an_answer_without_queries_cannot_be_explained(environment: dict[str, str], found: object) -> None:
    with peer(says(found)) as listening:
        seen = typed("ask", "ETH?", "--explain", "--url", listening.url, environment=environment, terminal=True)
    assert (seen.code, seen.out) == (5, "")
    assert "does not say how the question was read" in seen.err


def test_a_question_can_come_from_standard_input(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("How is\nSOL?\n"))
    with peer(answers(b"Well.")) as listening:
        seen = typed("ask", "-", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert body_of(listening) == {"messages": [{"role": "user", "content": "How is\nSOL?"}]}
    assert seen.out == "Well.\n"


def test_nothing_asked_is_a_mistake_and_nothing_is_sent(environment: dict[str, str]) -> None:
    seen = typed("ask", environment=environment, terminal=True)
    assert seen.code == 1
    assert "ask something" in seen.err


def test_a_rehearsal_shows_the_question_and_sends_nothing(environment: dict[str, str]) -> None:
    with peer() as listening:
        seen = typed("ask", "ETH?", "--dry-run", "--url", listening.url, environment=environment, terminal=True)
        assert listening.heard == []
    assert seen.code == 0
    assert f"POST {listening.url}/api/cli" in seen.out
    assert "0.05 USDC" in seen.out


def test_an_answer_that_breaks_off_is_asked_for_again_with_the_same_key_and_shown_once(
    environment: dict[str, str],
) -> None:
    whole = answers(PROSE.encode())
    head, _, text = whole.raw.partition(b"\r\n\r\n")
    # Cut in the middle of a letter of two bytes, too: of what comes again, as many bytes are left out as had come.
    broken = Reply(head + b"\r\n\r\n" + text[:20], hang_up=True)
    with peer(broken, whole) as listening:
        seen = typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert seen.out == "ETH is at $3,730, daily DOWN.\n\nCoin  Mood\nETH   calm\n"
    first, second = (heard.headers["idempotency-key"] for heard in listening.heard)
    assert first == second
    assert len(first) == 32


def test_an_answer_that_breaks_off_twice_is_given_up(environment: dict[str, str]) -> None:
    broken = Reply(answers(PROSE.encode()).raw[:-20], hang_up=True)
    with peer(broken, broken) as listening:
        seen = typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True)
        assert len(listening.heard) == 2
    assert seen.code == 6
    assert seen.err.startswith("verdict: ")


def test_two_questions_have_two_keys(environment: dict[str, str]) -> None:
    with peer(answers(b"a"), answers(b"b")) as listening:
        for _ in range(2):
            assert typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True).code == 0
    first, second = (heard.headers["idempotency-key"] for heard in listening.heard)
    assert first != second


def test_nobody_there_is_told_at_once(environment: dict[str, str]) -> None:
    with peer() as listening:
        pass
    assert typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True).code == 6


def test_whoever_has_no_token_asks_as_the_same_device_each_time(environment: dict[str, str]) -> None:
    del environment["VERDICT_TOKEN"]
    with peer(answers(b"a"), says({"error": "this device's one free question has been answered"}, 403)) as listening:
        assert typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True).code == 0
        assert typed("ask", "ETH?", "--url", listening.url, environment=environment, terminal=True).code == 2
    first, second = body_of(listening)["deviceId"], body_of(listening, 1)["deviceId"]
    assert first == second
    assert len(str(first)) == 32
    kept = Path(environment["XDG_STATE_HOME"], "verdict", "device")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_where_a_device_cannot_be_kept_nothing_is_asked_and_it_is_said(environment: dict[str, str]) -> None:
    del environment["VERDICT_TOKEN"]
    Path(environment["XDG_STATE_HOME"]).write_text("a file stands where the folder should")
    seen = typed("ask", "ETH?", "--url", "http://127.0.0.1:9", environment=environment, terminal=True)
    assert seen.code == 1
    assert re.search(r"device cannot be kept \(\w.*\); sign in with `verdict login`", seen.err)


def test_a_question_that_is_to_be_paid_for_goes_through_the_till_with_its_key(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def settle(refused: object, send: object, _environment: object, **_options: object) -> object:
        return send({"PAYMENT-SIGNATURE": "signed"})  # type: ignore[operator]

    monkeypatch.setattr("service.cli.payment_prompt.pay", settle)
    with peer(says({"error": "your questions are spent"}, 402), answers(b"Paid.")) as listening:
        seen = typed("ask", "ETH?", "--yes", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert seen.out == "Paid.\n"
    refused, paid = listening.heard
    assert paid.headers["payment-signature"] == "signed"
    assert paid.headers["idempotency-key"] == refused.headers["idempotency-key"]
    assert paid.body == refused.body
