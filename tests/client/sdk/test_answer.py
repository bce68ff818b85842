import json
from pathlib import Path

import pytest

from service.access.quota import QuotaStatus
from service.client.answer import CallerQuota, RawAnswer, RefusedError, UnreadableAnswerError, read_quota, reading
from service.clock import DAY_MS
from service.http.quota_response import quota_headers
from tests.fakes.clock import FakeClock

ANSWERS = Path(__file__).parent.parent / "answers"
NESTED: list[object] = []
for _ in range(100_000):
    NESTED = [NESTED]


def refused(document: object, status: int = 404, **headers: str) -> RefusedError:
    return RefusedError(status, headers, document)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b'{"a": "\xff"}', b"[" * 100_000, b"1" * 5_000])
def test_a_body_that_is_not_json_is_an_error_with_its_bytes(body: bytes) -> None:
    with pytest.raises(UnreadableAnswerError, match="The answer is not JSON") as caught:
        _ = RawAnswer(200, {}, body).document
    assert caught.value.body == body


@pytest.mark.parametrize("body", [b"[]", b"1", b'{"schemaVersion":1}', b"null"])
def test_an_answer_in_no_envelope_is_an_error(body: bytes) -> None:
    for part in ("data", "meta"):
        with pytest.raises(UnreadableAnswerError, match="has no `"):
            getattr(RawAnswer(200, {}, body), part)


def test_a_refusal_says_what_the_service_said() -> None:
    document = json.loads((ANSWERS / "refused.unknown.json").read_bytes())
    error = refused(document)
    assert (error.code, error.details["candidates"][0], error.document) == ("UNKNOWN_SYMBOL", "NOT", document)
    assert str(error) == error.message == "No coin 'NOPE' is listed. The closest are NOT, NEAR, OP, ONE, HYPE."
    bare = refused({"error": "messages is required"}, 400)  # of the question route
    assert (bare.code, bare.message, bare.details) == ("HTTP_400", "messages is required", {})


@pytest.mark.parametrize(
    "document",
    [None, [], "no", {}, {"error": 3}, {"error": {"code": None, "details": []}},
     {"error": {"code": NESTED, "message": NESTED}}],
    ids=range(7),
)  # fmt: skip
def test_a_refusal_of_another_form_says_its_status(document: object) -> None:
    error = refused(document, 503)
    assert (error.code, error.details) == ("HTTP_503", {})
    assert error.message == "The service answered 503 without a reason."
    assert "redirects to http://x" in refused(document, 302, location="http://x").message


@pytest.mark.parametrize("document", [{}, [], None, 3, "text"])
def test_an_answer_without_what_is_read_is_an_error(document: object) -> None:
    with pytest.raises(UnreadableAnswerError, match="lacks an expected field"), reading():
        document["data"]["tier"].title()  # type: ignore[index]


@pytest.mark.parametrize(
    ("left", "policy", "quota"),
    [
        ('"questions";r=7', '"questions";q=10', CallerQuota(7, 10, daily=False, reset_s=None)),
        ('"questions";r=0;t=3600', '"questions";q=1;w=86400', CallerQuota(0, 1, daily=True, reset_s=3600)),
        ('"requests";r=0;t=1, "questions";r=7', "", CallerQuota(7, None, daily=False, reset_s=None)),
        ('"questions" ; r=7 ;t=5', '"questions"; q=10', CallerQuota(7, 10, daily=False, reset_s=5)),
        *((text, "", None) for text in ("", '"requests";r=0;t=1', '"questions"', '"questions";r=x', "questions;r=1")),
        ('"questions";r=' + "9" * 20, "", None),
    ],
)
def test_a_quota_is_read_from_the_headers_of_an_answer(left: str, policy: str, quota: CallerQuota | None) -> None:
    assert read_quota({"ratelimit": left, "ratelimit-policy": policy}) == quota


def test_the_quota_that_the_service_writes_is_read() -> None:
    clock = FakeClock()
    status = QuotaStatus("access", 3, 50, 47, "day", clock.now_ms() + DAY_MS)
    fields = {name.decode(): value.decode() for name, value in quota_headers(status, clock)}
    assert read_quota(fields) == CallerQuota(47, 50, daily=True, reset_s=86_400)
