"""What leaves: envelope and headers; and what comes in a body."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive

from service.errors import ServiceError
from service.http.gates.body import BodyGate, decode_body
from service.http.request import RequestContext
from service.wire.strict import DEEPEST
from tests.fakes.asgi import ask, scope_of
from tests.http.stage import RISK, staged
from tests.http.wire import HOST, served

KEYS = "/api/keys"
JSON = {b"content-type": b"application/json"}


class Body(msgspec.Struct):
    """A body that lets unknown members pass, as the strictest checks must hold for what is ignored too."""

    name: str
    inner: msgspec.Raw = msgspec.Raw(b"null")


@pytest.mark.promise("envelope.success", "time.age", "headers.no-store", "fixtures.header")
async def test_a_success_is_an_envelope_with_the_services_headers(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        reply = await ask(stage.app, RISK, key=await stage.key())
        assert list(reply.json) == ["schemaVersion", "data", "meta"]
        assert reply.json["meta"]["data_age_seconds"] == 3
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["cache-control"] == "private, no-store"
        assert reply.headers["x-data-source"] == "fixtures"
        assert int(reply.headers["content-length"]) == len(reply.body)


@pytest.mark.promise("headers.no-store")
async def test_a_failure_is_never_stored_either(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        assert (await ask(stage.app, RISK)).headers["cache-control"] == "private, no-store"


async def test_a_body_reaches_the_route_and_a_bare_answer_leaves_without_envelope(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        body = b'{"name":"laptop"}'
        reply = await ask(
            stage.app, KEYS, "POST", key=await stage.session(), body=body, content_type="application/json"
        )
        assert (reply.status, reply.json) == (200, {"name": "laptop", "expiresAt": None})


async def test_a_peer_that_leaves_in_the_middle_of_its_body_is_not_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        bearer = b"Authorization: Bearer " + (await stage.session()).encode()
        head = b"POST /api/keys HTTP/1.1\r\n" + HOST + bearer + b"\r\nContent-Type: application/json\r\n"
        peer = await wire.connect()
        await peer.say(head + b'Content-Length: 20\r\n\r\n{"name":')
        peer.writer.write_eof()
        assert await peer.closed() == b""
    assert not caplog.records


async def unused(*_: object) -> None:
    raise AssertionError("nothing is sent")


async def read(headers: dict[bytes, bytes], receive: Receive) -> object:
    """What the gate reads."""
    scope = scope_of("/", "POST", {})
    request = RequestContext({**scope, "headers": list(headers.items())})
    request.connect(receive, unused)
    await BodyGate(unused, Body).check(request)
    return request.body


def decoded(raw: bytes) -> str:
    try:
        decode_body(Body, raw)
    except ServiceError as error:
        return error.code
    return "taken"


@pytest.mark.promise("errors.bad-json", "errors.json-depth")
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b'{"name":"a"',
        b'{"name":"a"} x',
        b'{"name":"a"}{"name":"b"}',
        b'{"name":"a"}\0',
        b'{"name":"a",}',
        b"{'name':'a'}",
        b'{"name":NaN}',
        b'{"name":"a","inner":Infinity}',
        b'{"name":"a","inner":-Infinity}',
        b'{"name":"a","other":NaN}',
        b'{"name":"a","other":01}',
        b'{"name":"\xff"}',
        b'{"name":"\xed\xa0\x80"}',
        b'{"name":"a","other":"\xff"}',
        b'{"name":"a","inner":"\xff"}',
        b'{"name":"\\ud800"}',
        b'{"name":"a","other":"\\ud800"}',
        b'{"name":"a","inner":"\\udc00"}',
        b'{"name":"a\0"}',
        b'{"name":"a","inner":"\0"}',
        b'\xef\xbb\xbf{"name":"a"}',
        '{"name":"a"}'.encode("utf-16"),
        '{"name":"a"}'.encode("utf-16-be"),
        '{"name":"a"}'.encode("utf-32"),
        b"[]",
        b"null",
        b'"name"',
        b'{"name":1}',
        b'{"name":null}',
        b"{}",
        b'{"name":"a","name":"b"}',
        b'{"name":"a","inner":{"x":1,"x":2}}',
        b'{"name":"a","other":[{"x":1,"x":2}]}',
        b'{"name":"a","\\u006eame":"b"}',
        b"[" * 100_000,
        b'{"name":"a","other":' + b"[" * 100_000,
        b'{"name":"a","inner":' + b"[" * 33 + b"]" * 33 + b"}",
        b'{"name":"a","other":' + b'{"a":' * 33 + b"1" + b"}" * 33 + b"}",
    ],
    ids=lambda raw: repr(raw[:40]),
)
def test_a_body_that_is_no_strict_json_is_400(raw: bytes) -> None:
    assert decoded(raw) == "BAD_REQUEST"


def test_a_body_may_be_nested_to_the_limit_and_hold_brackets_in_text() -> None:
    inner = DEEPEST - 1
    assert decoded(b'{"name":"a","inner":' + b"[" * inner + b"]" * inner + b"}") == "taken"
    assert decoded(b'{"name":"' + b'[{\\"' * 100 + b'","inner":[1,[2]]}') == "taken"
    assert decoded(b'{"name":"a","inner":[' + b",".join([b"[]"] * 100) + b"]}") == "taken"


def test_a_number_of_any_length_breaks_nothing() -> None:
    assert decoded(b'{"name":"a","other":' + b"9" * 5000 + b"}") == "taken"


@pytest.mark.promise("errors.bad-request-parameter")
@pytest.mark.parametrize(
    ("raw", "place"),
    [(b'{"name":1}', "name"), (b"{}", "name"), (b"[]", "body"), (b'{"name":"a","name":"b"}', "name")],
)
def test_what_does_not_fit_is_named_by_its_path(raw: bytes, place: str) -> None:
    with pytest.raises(ServiceError) as caught:
        decode_body(Body, raw)
    assert caught.value.details == {"parameter": place}


def test_a_hostile_member_name_is_not_repeated_at_length() -> None:
    class Strict(msgspec.Struct, forbid_unknown_fields=True):
        name: str

    name = b'"' + b"x" * 30_000 + b'":1'
    for kind, raw in ((Strict, b"{" + name + b"}"), (Body, b'{"name":"a",' + name + b"," + name + b"}")):
        with pytest.raises(ServiceError) as caught:
            decode_body(kind, raw)
        assert len(caught.value.message) < 300
        assert len(str(caught.value.details)) < 300


async def nothing() -> dict[str, Any]:
    raise AssertionError("the body is not read")


@pytest.mark.promise("errors.media-415")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"content-type": b"text/plain"},
        {b"content-type": b"application/x-www-form-urlencoded"},
        {b"content-type": b"application/json; charset=utf-16"},
        {b"content-type": b"application/jsonp"},
        {b"content-type": b"application/json\n"},
        {**JSON, b"content-encoding": b"gzip"},
        {**JSON, b"content-encoding": b""},
        {**JSON, b"content-encoding": b"identity, gzip"},
    ],
)
async def test_another_media_type_or_an_encoded_body_is_415_before_it_is_read(headers: dict[bytes, bytes]) -> None:
    with pytest.raises(ServiceError) as caught:
        await read(headers, nothing)
    assert caught.value.code == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize(
    "headers",
    [
        JSON,
        {b"content-type": b"Application/JSON; charset=UTF-8"},
        {b"content-type": b'application/json;charset="utf-8"'},
        {**JSON, b"content-encoding": b"Identity"},
    ],
)
async def test_json_is_taken_in_pieces_and_under_each_of_its_names(headers: dict[bytes, bytes]) -> None:
    pieces = iter([(b'{"na', True), (b"", True), (b'me":"a"}', False)])

    async def receive() -> dict[str, Any]:
        body, more = next(pieces)
        return {"type": "http.request", "body": body, "more_body": more}

    assert await read(headers, receive) == Body("a")


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
"""A body that holds U+0000 is refused: no text is meant by it."""


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
        lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
        max_leaves=20,
    )
)
def test_whatever_json_says_is_taken_as_it_was_said(value: object) -> None:
    raw = json.dumps({"name": "a", "inner": value}).encode()
    body = decode_body(Body, raw)
    assert isinstance(body, Body)
    assert json.loads(bytes(body.inner)) == value


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail_otherwise_than_with_a_400(raw: bytes) -> None:
    assert decoded(raw) in {"BAD_REQUEST", "taken"}
