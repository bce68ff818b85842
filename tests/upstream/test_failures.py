"""What is repeated of an upstream's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream.failures import LONGEST_BODY, UpstreamError, entrust, redact


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        (b"plain words stay", "plain words stay"),
        (b"GET https://x.example/a?key=1&b=2 failed", "GET https://x.example/a?[redacted] failed"),
        (b"GET /a?k=v failed", "GET /a?[redacted] failed"),
        (b"really? yes", "really? yes"),
        (b"https://user:pass@x.example/", "https://[redacted]@x.example/"),
        (b"Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        (b'{"api_key":"k1","price":"7"}', '{"api_key":"[redacted]","price":"7"}'),
        (b"x-cg-demo-api-key=CG-1; rest", "x-cg-demo-api-key=[redacted]; rest"),
        (b'{\\"secret\\": \\"s1\\"}', '{\\"secret\\": \\"[redacted]\\"}'),
        (b"id " + b"a1" * 20 + b" end", "id [redacted] end"),
        (b"\0binary\0\xff", "\ufffdbinary\ufffd\ufffd"),
    ],
)
@pytest.mark.promise("errors.upstream-redacted")
def test_credentials_and_queries_are_hidden(said: bytes, repeated: str) -> None:
    assert redact(said) == repeated


@pytest.mark.promise("errors.upstream-redacted")
def test_what_opens_an_upstream_is_hidden_though_it_looks_like_nothing() -> None:
    entrust("https://node.example.org/v2/mainnet/Sh0rt-one?a=b", "CG-7x9Kq", "Bearer pa55phrase")
    said = redact(b"POST /v2/mainnet/Sh0rt-one: no such key CG-7x9Kq, pa55phrase at node.example.org")
    assert said == "POST /v2/mainnet/[redacted]: no such key [redacted], [redacted] at node.example.org"


def test_hiding_comes_before_cutting() -> None:
    said = b"x " * ((LONGEST_BODY - 10) // 2) + b"https://s3cr3t:" + b"s3cr3t" * 50 + b"@host.example"
    assert "s3" not in redact(said)


@given(st.binary(max_size=5_000))
@pytest.mark.promise("errors.upstream-redacted")
def test_at_most_two_kilobytes_of_valid_text_are_repeated(body: bytes) -> None:
    assert len(redact(body).encode()) <= LONGEST_BODY


@pytest.mark.promise("errors.upstream-unreachable")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (None, "UPSTREAM_UNREACHABLE"),
        (200, "UPSTREAM_5XX"),
        (302, "UPSTREAM_5XX"),
        (404, "UPSTREAM_4XX"),
        (500, "UPSTREAM_5XX"),
    ],
)
def test_the_code_follows_the_status(status: int | None, code: str) -> None:
    error = UpstreamError("hyperliquid", status, b"")
    assert (error.code, error.status) == (code, 502)


@pytest.mark.parametrize(
    "unit", [b"a", b"?", b"key", b"://", b"?a=", b"bearer ", b"key:", b"token ", b'key"', b"\xc3\xa9"]
)
def test_no_body_takes_more_than_linear_time_to_redact(unit: bytes) -> None:
    assert len(redact(unit * 16_384).encode()) <= LONGEST_BODY
