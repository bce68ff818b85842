"""How a failure is told: an exit code for its kind, a line for people, the envelope for programs; on stderr."""

import json
import sys
from collections.abc import Callable
from hashlib import sha256

import pytest

from service.cli import api_command
from service.client.answer import RefusedError, SentRequest, UnreachableError, UnreadableAnswerError
from service.client.errors import RefusalError
from tests.cli.commanding import typed

Fails = Callable[[Exception], None]


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Fails:
    """Has the command about risk end in an error."""

    def fail_with(error: Exception) -> None:
        def run(*_: object) -> int:
            raise error

        monkeypatch.setattr(api_command, "run", run)

    return fail_with


def refused(status: int, **headers: str) -> RefusedError:
    document = {"schemaVersion": 1, "error": {"code": "SOME_CODE", "message": "no \x1b[2J"}}
    return RefusedError(status, {name.replace("_", "-"): value for name, value in headers.items()}, document)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (refused(400), 1),
        (refused(401), 2),
        (refused(403), 2),
        (refused(402), 3),
        (refused(429), 3),
        (refused(404), 4),
        (refused(405), 4),
        (refused(409), 4),
        (refused(499), 4),
        (refused(307), 4),
        (refused(500), 5),
        (refused(502), 5),
        (refused(503), 5),
        (refused(599), 5),
        (UnreachableError("no"), 6),
        (UnreadableAnswerError("no"), 5),
        (RefusalError("no"), 1),
        (RefusalError("no", 3), 3),
        (RuntimeError("no"), 7),
        (OSError(28, "No space left on device", "somewhere"), 7),
        (OSError(104, "Connection reset by peer"), 7),
    ],
)
def test_the_exit_code_says_what_kind_of_failure_it_was(fails: Fails, error: Exception, code: int) -> None:
    fails(error)
    for terminal in (False, True):
        assert typed("coin", "risk", "BTC", terminal=terminal).code == code


def test_people_read_a_line_that_cannot_steer_their_terminal(fails: Fails) -> None:
    fails(refused(404))
    assert typed("coin", "risk", "BTC", terminal=True) == (4, "", "verdict: no \ufffd[2J\n")


NESTED: list[object] = []
"""Deeper than Python writes lists, and a service may send what is nearly as deep."""
for _ in range(100_000):
    NESTED = [NESTED]


def unknown(message: str, candidates: object) -> RefusedError:
    return RefusedError(404, {}, {"error": {"message": message, "details": {"candidates": candidates}}})


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (unknown("none", ["BTC", "B\x07"]), "Did you mean BTC or B\ufffd?\n"),
        (unknown("closest is BTC", ["BTC"]), ""),
        (unknown("none", []), ""),
        (unknown("none", [NESTED, None, "BTC"]), "Did you mean BTC?\n"),
        (unknown("none", ["BTC"] * 10_000), f"Did you mean {' or '.join(['BTC'] * 10)}?\n"),
        (unknown("none", "BTC"), ""),
        (refused(429, retry_after="12"), "Try again in 12 s.\n"),
        (refused(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), ""),
        (refused(401), "`verdict login` signs in again. VERDICT_TOKEN, if it is set, goes before what login stores.\n"),
    ],
)
def test_people_read_what_to_do(fails: Fails, error: Exception, advice: str) -> None:
    fails(error)
    line, _, rest = typed("coin", "risk", "BTC", terminal=True).err.partition("\n")
    assert line.startswith("verdict: ")
    assert rest == advice


@pytest.mark.parametrize("words", [["--json"], ["--ndjson"], ["--csv"]])
def test_programs_read_the_envelope_that_the_service_sent(fails: Fails, words: list[str]) -> None:
    error = refused(402)
    error.document["accepts"] = [{"payTo": "é"}]
    fails(error)
    for told in (typed("coin", "risk", "BTC"), typed("coin", "risk", "BTC", *words, terminal=True)):
        assert told.out == ""
        assert told.err.count("\n") == 1
        assert json.loads(told.err) == error.document


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnreachableError("where?"), "UNREACHABLE"),
        (UnreadableAnswerError("where?"), "UNAVAILABLE"),
        (RefusalError("where?"), "BAD_REQUEST"),
        (RefusalError("where?", 2), "AUTH_REQUIRED"),
        (RefusalError("where?", 3), "PAYMENT_REQUIRED"),
        (RefusalError("where?", 4), "REFUSED"),
        (RefusalError("where?", 7), "INTERNAL"),
        (RefusedError(502, {}, {"error": "where?"}), None),
    ],
)
def test_programs_read_an_envelope_of_what_failed_here_too(fails: Fails, error: Exception, code: str | None) -> None:
    fails(error)
    document = json.loads(typed("coin", "risk", "BTC").err)
    if code is None:
        assert document == {"error": "where?"}
    else:
        assert document == {"schemaVersion": 1, "error": {"code": code, "message": "where?"}}


@pytest.mark.parametrize(("code", "kept"), [(3, True), (5, False), (6, False)])
def test_what_was_not_paid_for_is_told_with_how_it_could_be_and_what_may_be_paid_is_not(
    fails: Fails, code: int, kept: bool
) -> None:
    error = RefusalError("too dear", code)
    error.__cause__ = RefusedError(
        402, {}, {"schemaVersion": 1, "error": {"code": "X", "message": "pay"}, "accepts": [1]}
    )
    fails(error)
    document = json.loads(typed("coin", "risk", "BTC").err)
    assert (document["error"]["message"], "accepts" in document) == ("too dear", kept)
    error.__cause__ = RefusedError(402, {}, None)
    assert json.loads(typed("coin", "risk", "BTC").err).keys() == {"schemaVersion", "error"}


@pytest.mark.parametrize(
    ("code", "authorization", "told"),
    [("AUTH_REQUIRED", "", True), ("AUTH_REQUIRED", "Bearer x", False), ("NOT_FOUND", "", False)],
)
def test_who_is_nobody_yet_reads_what_to_do_with_a_key(fails: Fails, code: str, authorization: str, told: bool) -> None:
    asked = SentRequest("http://a.example", b"GET /", sha256(authorization.encode()).hexdigest())
    fails(RefusedError(403, {}, {"error": {"code": code, "message": "who?"}}, asked))
    said = typed("coin", "risk", "BTC", terminal=True).err
    assert ("`verdict login --token`" in said) == told


def test_a_refusal_that_says_nothing_still_has_an_envelope(fails: Fails) -> None:
    fails(RefusedError(418, {}, None))
    error = json.loads(typed("coin", "risk", "BTC").err)["error"]
    assert (error["code"], "418" in error["message"]) == ("HTTP_418", True)


def test_a_mistake_in_the_command_line_is_an_envelope_for_programs_too() -> None:
    told = typed("coin", "risk")
    assert told.code == 1
    assert json.loads(told.err)["error"]["code"] == "BAD_REQUEST"


def test_a_defect_says_that_it_is_one_and_where(fails: Fails) -> None:
    fails(RuntimeError("boom"))
    told = typed("coin", "risk", "BTC", terminal=True)
    assert "Traceback" in told.err
    assert "RuntimeError: boom" in told.err
    assert told.err.endswith(
        "verdict: this is a defect of `verdict`, not a mistake of yours; what stands above helps to find it\n"
    )


def test_a_defect_is_told_without_what_could_steer_the_terminal(fails: Fails) -> None:
    fails(RuntimeError("what a service sent: \x1b]0;title\x07\x9b2J"))
    said = typed("coin", "risk", "BTC", terminal=True).err
    assert "what a service sent: \ufffd]0;title" in said
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


def test_a_defect_is_told_without_what_opens_a_door(fails: Fails) -> None:
    fails(RuntimeError("postgres://verdict:sesame@db.example.org/verdict?password=sesame, Bearer sesame"))
    said = typed("coin", "risk", "BTC", terminal=True).err
    assert "RuntimeError: postgres://" in said
    assert "sesame" not in said


def test_an_operators_command_tells_a_line_wherever_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = typed("admin", "keys", "list", "--json", environment={"VERDICT_PORT": "x"})
    assert (told.code, told.err) == (1, "verdict: VERDICT_PORT takes a whole number, not 'x'\n")
    assert "service.admin.accounts" in sys.modules
