import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client.answer import RawAnswer, RefusedError, UnreadableAnswerError, reading

ANSWERS = Path(__file__).parent.parent / "answers"


def refused(document: object, status: int = 404, **headers: str) -> RefusedError:
    return RefusedError(status, headers, document)


def test_an_answer_gives_its_parts() -> None:
    answer = RawAnswer(200, {}, (ANSWERS / "coin.risk.json").read_bytes())
    assert answer.data["price"] == 117700.0
    assert answer.meta["data_age_seconds"] == 0
    assert answer.document["schemaVersion"] == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[" * 100_000, b"1" * 5_000])
def test_a_body_that_is_no_json_is_none_of_this_interface(body: bytes) -> None:
    with pytest.raises(UnreadableAnswerError, match="the answer is not JSON"):
        _ = RawAnswer(200, {}, body).document


@pytest.mark.parametrize("body", [b"[]", b"1", b'{"schemaVersion":1}', b"null"])
def test_an_answer_in_no_envelope_is_none_of_this_interface(body: bytes) -> None:
    for part in ("data", "meta"):
        with pytest.raises(UnreadableAnswerError, match="in no envelope"):
            getattr(RawAnswer(200, {}, body), part)


def test_a_refusal_says_what_the_service_said() -> None:
    document = json.loads((ANSWERS / "refused.unknown.json").read_bytes())
    error = refused(document)
    assert (error.code, error.details["candidates"][0]) == ("UNKNOWN_SYMBOL", "NOT")
    assert str(error) == error.message == "No coin 'NOPE' is listed. The closest are NOT, NEAR, OP, ONE, HYPE."
    assert error.document is document


def test_the_question_routes_refusal_is_a_bare_text() -> None:
    error = refused({"error": "messages is required"}, 400)
    assert (error.code, error.message, error.details) == ("HTTP_400", "messages is required", {})


@pytest.mark.parametrize("document", [None, [], "no", {}, {"error": 3}, {"error": {"code": None, "details": []}}])
def test_a_refusal_in_no_form_says_its_status(document: object) -> None:
    error = refused(document, 503)
    assert (error.code, error.details) == ("HTTP_503", {})
    assert error.message == "the service answered 503 without saying why"


def test_a_redirect_without_a_target_is_a_refusal_without_a_word() -> None:
    assert refused(None, 302).message == "the service answered 302 without saying why"
    assert "sends on to http://x" in refused(None, 302, location="http://x").message


@pytest.mark.slow
@settings(max_examples=40)
@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), lambda x: st.dictionaries(st.text(), x)))
def test_whatever_stands_in_a_refusal_is_one(document: object) -> None:
    error = refused({"error": document}, 500)
    assert error.code
    assert error.message


@pytest.mark.parametrize("document", [{}, [], None, 3, "text"])
def test_an_answer_that_lacks_what_is_read_is_none_of_this_interface(document: object) -> None:
    with pytest.raises(UnreadableAnswerError, match="lacks what it should hold"), reading():
        document["data"]["tier"].title()  # type: ignore[index]


def test_reading_what_is_there_is_left_alone() -> None:
    with reading():
        assert {"a": 1}["a"] == 1


def test_what_a_refusal_says_in_no_text_it_does_not_say() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    error = refused({"error": {"code": nested, "message": nested}})
    assert (error.code, str(error)) == ("HTTP_404", "the service answered 404 without saying why")
