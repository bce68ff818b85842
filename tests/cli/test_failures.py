"""How failures are told: an exit code for their kind, a line for people, the envelope for programs; on stderr."""

import json
from collections.abc import Callable
from hashlib import sha256

import pytest

from service.cli import calling
from service.client.answer import RefusedError, SentRequest, UnreachableError, UnreadableAnswerError
from service.client.errors import RefusalError
from tests.cli.conftest import Typed

Fails = Callable[[Exception], None]
RISK = "coin risk BTC"


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Fails:
    """Has commands of routes end in an error."""

    def fail_with(error: Exception) -> None:
        def call(*_: object) -> int:
            raise error

        monkeypatch.setattr(calling, "call", call)

    return fail_with


def refused(status: int, **headers: str) -> RefusedError:
    document = {"schemaVersion": 1, "error": {"code": "SOME_CODE", "message": "no \x1b[2J"}}
    return RefusedError(status, {name.replace("_", "-"): value for name, value in headers.items()}, document)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        *((refused(status), 1) for status in (400,)),
        *((refused(status), 2) for status in (401, 403)),
        *((refused(status), 3) for status in (402, 429)),
        *((refused(status), 4) for status in (307, 404, 405, 409, 499)),
        *((refused(status), 5) for status in (500, 502, 503, 599)),
        (UnreachableError("no"), 6),
        (UnreadableAnswerError("no"), 5),
        (RefusalError("no"), 1),
        (RefusalError("no", 3), 3),
        (RuntimeError("no"), 7),
        (OSError(28, "No space left on device"), 1),
        (OSError(28, "No space left on device", "somewhere"), 7),
        (OSError(104, "Connection reset by peer"), 7),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_exit_code_says_what_kind_of_failure_it_was(
    fails: Fails, person: Typed, program: Typed, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    monkeypatch.setattr("service.cli.main._discard", lambda _: None)
    fails(error)
    assert (person(RISK).code, program(RISK).code) == (code, code)


NESTED: list[object] = []
"""Deeper than Python writes lists, and a service may send what is nearly as deep."""
for _ in range(100_000):
    NESTED = [NESTED]


def unknown(message: str, candidates: object) -> RefusedError:
    return RefusedError(404, {}, {"error": {"message": message, "details": {"candidates": candidates}}})


def nobody(code: str, authorization: str = "") -> RefusedError:
    asked = SentRequest("http://a.example", b"GET /", sha256(authorization.encode()).hexdigest())
    return RefusedError(403, {}, {"error": {"code": code, "message": "who?"}}, asked)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (refused(404), "no \ufffd[2J\n"),
        (unknown("none", ["BTC", "B\x07"]), "none\nDid you mean BTC or B\ufffd?\n"),
        (unknown("closest is BTC", ["BTC"]), "closest is BTC\n"),
        (unknown("none", []), "none\n"),
        (unknown("none", [NESTED, None, "BTC"]), "none\nDid you mean BTC?\n"),
        (unknown("none", ["BTC"] * 10_000), f"none\nDid you mean {' or '.join(['BTC'] * 10)}?\n"),
        (unknown("none", "BTC"), "none\n"),
        (refused(429, retry_after="12"), "no \ufffd[2J\nTry again in 12 s.\n"),
        (refused(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), "no \ufffd[2J\n"),
        (nobody("AUTH_REQUIRED"), "who?\nIf you have an API key, store it with `verdict login --token`, or set"),
        (nobody("AUTH_REQUIRED", "Bearer x"), "who?\n"),
        (nobody("NOT_FOUND"), "who?\n"),
        (refused(401), "no \ufffd[2J\n`verdict login` signs in again. VERDICT_TOKEN, if it is set, takes precedence"),
    ],
)
def test_people_read_what_is_wrong_and_what_to_do(fails: Fails, person: Typed, error: Exception, said: str) -> None:
    fails(error)
    told = person(RISK).err
    assert told.startswith(f"verdict: {said}")
    assert told.endswith(said[-1]) or not said.endswith("\n")
    assert told.count("\n") == max(said.count("\n"), 1 + (not said.endswith("\n")))


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
    ],
)
def test_programs_read_an_envelope_of_what_failed_here(
    fails: Fails, program: Typed, error: Exception, code: str
) -> None:
    fails(error)
    assert json.loads(program(RISK).err) == {"schemaVersion": 1, "error": {"code": code, "message": "where?"}}


@pytest.mark.parametrize("form", ["", "--json", "--ndjson", "--csv"])
def test_programs_read_what_the_service_sent(fails: Fails, person: Typed, program: Typed, form: str) -> None:
    error = refused(402)
    error.document["accepts"] = [{"payTo": "é"}]
    fails(error)
    for told in (program(f"{RISK} {form}"), *([person(f"{RISK} {form}")] if form else [])):
        assert (told.out, told.err.count("\n"), json.loads(told.err)) == ("", 1, error.document)
    fails(RefusedError(502, {}, {"error": "where?"}))
    assert json.loads(program(RISK).err) == {"error": "where?"}
    for document in (None, {}, {"detail": "no"}, {"error": None}):
        fails(RefusedError(418, {}, document))
        own = {"code": "HTTP_418", "message": "The service answered 418 without a reason."}
        assert json.loads(program(RISK).err) == {"schemaVersion": 1, "error": own}


@pytest.mark.parametrize(("code", "kept"), [(3, True), (5, False), (6, False)])
def test_what_was_not_paid_for_is_told_with_how_it_could_be_and_what_may_be_paid_is_not(
    fails: Fails, program: Typed, code: int, kept: bool
) -> None:
    error = RefusalError("too dear", code)
    offered = {"schemaVersion": 1, "error": {"code": "X", "message": "pay"}, "accepts": [1]}
    error.__cause__ = RefusedError(402, {}, offered)
    fails(error)
    document = json.loads(program(RISK).err)
    assert (document["error"]["message"], "accepts" in document) == ("too dear", kept)
    error.__cause__ = RefusedError(402, {}, {})
    assert json.loads(program(RISK).err).keys() == {"schemaVersion", "error"}


def test_a_defect_says_that_it_is_one_without_what_could_steer_the_terminal_or_opens_a_door(
    fails: Fails, person: Typed
) -> None:
    fails(RuntimeError("postgres://verdict:sesame@db.example.org/verdict?password=sesame, Bearer sesame \x1b]0;t\x07"))
    said = person(RISK).err
    assert "Traceback" in said
    assert "RuntimeError: postgres://" in said
    assert said.endswith(
        "verdict: This is a defect of `verdict`, not a mistake of yours. The lines above help to find it.\n"
    )
    assert not {"\x1b", "\x07"} & set(said)
    assert "sesame" not in said
