"""The envelope of answers and failures."""

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import LATEST_MS, SECOND_MS, parse_iso
from service.errors import STATUS, ServiceError
from service.wire.envelope import Answer, BareMeta, ErrorBody, Failure, Meta, failure, success

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

instants = st.integers(0, LATEST_MS)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text()
payloads = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} in JSON")


@pytest.mark.promise(
    "envelope.success", "envelope.schema-version", "envelope.meta", "envelope.order", "envelope.nothing-else"
)
@given(payloads, instants, instants)
def test_a_success_is_schema_version_data_and_meta_in_this_order(data: object, now_ms: int, as_of_ms: int) -> None:
    body = msgspec.json.decode(success(Answer(data, as_of_ms), now_ms))
    assert list(body) == ["schemaVersion", "data", "meta"]
    assert body["schemaVersion"] == 1
    assert list(body["meta"]) == ["ts", "as_of", "data_age_seconds"]
    msgspec.convert(body["meta"], Meta, strict=True)


@pytest.mark.promise("time.age")
@given(instants, instants)
def test_the_age_is_whole_seconds_rounded_down_and_never_negative(now_ms: int, as_of_ms: int) -> None:
    meta = msgspec.json.decode(success(Answer(None, as_of_ms), now_ms))["meta"]
    assert meta["data_age_seconds"] == max(0, (now_ms - as_of_ms) // SECOND_MS)
    assert meta["data_age_seconds"] >= 0


@pytest.mark.promise("time.iso")
@given(instants, instants)
def test_timestamps_are_iso_8601_utc_with_milliseconds_and_z(now_ms: int, as_of_ms: int) -> None:
    meta = msgspec.json.decode(success(Answer(None, as_of_ms), now_ms))["meta"]
    for key, at_ms in (("ts", now_ms), ("as_of", as_of_ms)):
        assert TIMESTAMP.fullmatch(meta[key])
        assert parse_iso(meta[key]) == at_ms


@pytest.mark.promise("numbers.finite")
@given(payloads)
def test_no_number_is_ever_nan_or_infinite(data: object) -> None:
    """The standard library's parser, unlike others, would read `NaN` and `Infinity`: it must never meet them."""
    json.loads(
        success(Answer({"data": data, "bad": [float("nan"), float("inf")]}, 0), 0), parse_constant=refuse_constant
    )
    json.loads(failure(ServiceError("INTERNAL", "m", details={"data": data})), parse_constant=refuse_constant)


@given(payloads, instants)
def test_a_payload_encoded_before_travels_unchanged(data: object, now_ms: int) -> None:
    encoded = msgspec.Raw(msgspec.json.encode(data))
    assert success(Answer(encoded, 0), now_ms) == success(Answer(data, 0), now_ms)


@pytest.mark.promise("time.per-response")
def test_the_age_of_a_cached_payload_is_computed_per_response() -> None:
    answer = Answer(msgspec.Raw(b"{}"), as_of_ms=1_000)
    ages = [msgspec.json.decode(success(answer, now))["meta"]["data_age_seconds"] for now in (1_000, 1_999, 61_000)]
    assert ages == [0, 0, 60]


@pytest.mark.promise("envelope.tier-meta")
@given(instants)
def test_an_answer_without_underlying_data_has_a_meta_of_ts_alone(now_ms: int) -> None:
    meta = msgspec.json.decode(success(Answer({}), now_ms))["meta"]
    assert list(meta) == ["ts"]
    assert msgspec.convert(meta, BareMeta).ts == meta["ts"]


@pytest.mark.promise("envelope.failure", "envelope.order", "envelope.nothing-else", "envelope.error")
@given(st.sampled_from(sorted(STATUS)), st.text(), st.none() | st.dictionaries(st.text(), payloads, max_size=3))
def test_a_failure_is_schema_version_and_error_in_this_order(
    code: str, message: str, details: dict[str, object] | None
) -> None:
    body = msgspec.json.decode(failure(ServiceError(code, message, details=details)))
    assert list(body) == ["schemaVersion", "error"]
    assert list(body["error"]) == ["code", "message", *(["details"] if details is not None else [])]
    assert (body["error"]["code"], body["error"]["message"]) == (code, message)
    assert msgspec.convert(body, Failure).error == ErrorBody(code, message, body["error"].get("details"))


@pytest.mark.promise("envelope.error")
def test_a_failure_without_details_does_not_mention_them() -> None:
    assert (
        failure(ServiceError("NOT_FOUND", "no")) == b'{"schemaVersion":1,"error":{"code":"NOT_FOUND","message":"no"}}'
    )


def test_a_code_outside_the_closed_table_cannot_be_raised() -> None:
    with pytest.raises(KeyError):
        ServiceError("TEAPOT", "short and stout")
