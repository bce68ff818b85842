"""`verdict ask`: what is sent, what is shown, and that asking again is never charged again."""

import io
import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.commanding import typed
from tests.cli.conftest import Typed
from tests.cli.recorded import ANSWERS
from tests.client.sdk.peer import Peer, Reply, answers, peer, says

PROSE = "**ETH is at $3,730**, daily DOWN.\n\n| Coin | Mood |\n| --- | --- |\n| ETH | calm |\n"
SET = "ETH is at $3,730, daily DOWN.\n\nCoin  Mood\nETH   calm\n"


@pytest.fixture(autouse=True)
def _key(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_abc"


def bodies(there: Peer) -> list[dict[str, object]]:
    return [json.loads(heard.body) for heard in there.heard]


def test_a_person_reads_prose_set_for_the_terminal(person: Typed) -> None:
    with peer(answers(PROSE.encode())) as there:
        assert person(f"ask How is ETH? --url {there.url}") == (0, SET, "")
    [heard] = there.heard
    assert (heard.method, heard.target, heard.headers["accept"]) == ("POST", "/api/cli", "text/plain")
    assert heard.headers["authorization"] == "Bearer verdict_sk_abc"
    assert bodies(there) == [{"messages": [{"role": "user", "content": "How is ETH?"}]}]


def test_a_program_reads_the_answer_as_json_byte_for_byte(program: Typed) -> None:
    told = (ANSWERS / "question.json").read_text().rstrip("\n")
    with peer(answers(told.encode())) as there:
        assert program(f"ask ETH? --url {there.url}") == (0, told + "\n", "")
    assert there.heard[0].headers["accept"] == "application/json"


@pytest.mark.parametrize("options", ["", "--raw", "--explain"])
@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"classification": {}, "steps": [1]}'])
def test_what_is_no_answer_is_not_passed_on_as_one(program: Typed, body: bytes, options: str) -> None:
    with peer(answers(body)) as there:
        told = program(f"ask ETH? {options} --url {there.url}")
    is_document = body.startswith(b"{") and options != "--explain"
    assert (told.code, bool(told.out)) == ((0, True) if is_document else (5, False))


def test_raw_findings_and_the_archetype_are_asked_for(person: Typed) -> None:
    with peer(says({"steps": []})) as there:
        told = person(f"ask ETH? --raw --archetype trader --url {there.url}")
    assert (told.code, told.json) == (0, {"steps": []})
    assert (bodies(there)[0]["raw"], bodies(there)[0]["archetype"]) == (True, "trader")


@pytest.mark.promise("question.typed-query")
def test_explaining_shows_the_typed_queries_in_words_and_as_they_are(person: Typed, program: Typed) -> None:
    found = {
        "classification": {"queries": [{"subject": {"coins": ["ETH"]}}], "ignored": ["\x1b[2J"]},
        "steps": [{"result": {"title": "ETH, price"}}, {"result": None, "error": "No data."}],
    }
    for type_it in (person, program):
        with peer(says(found)) as there:
            told = type_it(f"ask ETH? --explain --url {there.url}")
        first, rest = told.out.split("\n", 1)
        assert (told.code, first, json.loads(rest)) == (0, "Read as: ETH, price", found["classification"])
        assert bodies(there)[0]["raw"] is True


@pytest.mark.parametrize(
    ("stdin", "sent"),
    [
        (io.StringIO("How is\nSOL?\n"), "How is\nSOL?"),
        (io.StringIO(" \n"), None),
        (io.TextIOWrapper(io.BytesIO(b"\xff?"), "utf-8"), None),
        (io.StringIO("\udcff?"), None),
    ],
)
def test_a_question_can_come_from_standard_input_if_it_is_text(
    person: Typed, monkeypatch: pytest.MonkeyPatch, stdin: io.TextIOBase, sent: str | None
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    with peer(answers(b"Well.")) as there:
        told = person(f"ask - --url {there.url}")
    if sent is None:
        assert (told.code, there.heard) == (1, [])
        assert told.err.startswith(("verdict: Standard input is not valid UTF-8", "verdict: The question is empty"))
    else:
        assert (told, bodies(there)) == ((0, "Well.\n", ""), [{"messages": [{"role": "user", "content": sent}]}])


def test_an_answer_that_breaks_off_is_asked_for_again_with_the_same_key_and_shown_once(person: Typed) -> None:
    whole = answers(PROSE.encode())
    head, _, text = whole.raw.partition(b"\r\n\r\n")
    # Cut in the middle of a letter of two bytes, too: of what comes again, as many bytes are left out as had come.
    with peer(Reply(head + b"\r\n\r\n" + text[:20], hang_up=True), whole) as there:
        assert person(f"ask ETH? --url {there.url}") == (0, SET, "")
    first, second = (heard.headers["idempotency-key"] for heard in there.heard)
    assert (first == second, len(first)) == (True, 32)


def test_an_answer_that_breaks_off_twice_is_given_up(person: Typed) -> None:
    broken = Reply(answers(PROSE.encode()).raw[:-20], hang_up=True)
    with peer(broken, broken) as there:
        assert person(f"ask ETH? --url {there.url}").code == 6
    assert len(there.heard) == 2


def test_without_a_token_two_questions_are_of_the_same_device_and_have_two_keys(
    person: Typed, environment: dict[str, str]
) -> None:
    del environment["VERDICT_TOKEN"]
    with peer(answers(b"a"), says({"error": "this device's one free question has been answered"}, 403)) as there:
        assert [person(f"ask ETH? --url {there.url}").code for _ in range(2)] == [0, 2]
    first, second = (str(body["deviceId"]) for body in bodies(there))
    assert (first == second, len(first)) == (True, 32)
    assert len({heard.headers["idempotency-key"] for heard in there.heard}) == 2
    kept = Path(environment["HOME"], ".local/state/verdict/device")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_where_a_device_cannot_be_kept_nothing_is_asked_and_it_is_said(environment: dict[str, str]) -> None:
    del environment["VERDICT_TOKEN"]
    (Path(environment["HOME"]) / "state").write_text("a file stands where the folder should")
    environment["XDG_STATE_HOME"] = environment["HOME"] + "/state"
    told = typed("ask", "ETH?", "--url", "http://127.0.0.1:9", environment=environment, terminal=True)
    assert told.code == 1
    assert re.search(r"Cannot store .*device: \w.*\. Correct this, or sign in with `verdict login`\.", told.err)


def test_a_question_that_is_to_be_paid_for_is_paid_for_with_its_key(
    person: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pay(_refused: object, send: object, _environment: Mapping[str, str], **_options: object) -> object:
        return send({"PAYMENT-SIGNATURE": "signed"})  # type: ignore[operator]

    monkeypatch.setattr("service.cli.payment_prompt.pay", pay)
    with peer(says({"error": "your questions are spent"}, 402), answers(b"Paid.")) as there:
        assert person(f"ask ETH? --yes --url {there.url}") == (0, "Paid.\n", "")
    refused, paid = there.heard
    assert paid.headers["payment-signature"] == "signed"
    assert (paid.headers["idempotency-key"], paid.body) == (refused.headers["idempotency-key"], refused.body)
