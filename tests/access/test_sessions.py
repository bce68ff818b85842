import base64
import json
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.sessions import LEEWAY_MS, SESSION_MS, SessionTokens
from service.clock import SECOND_MS
from service.errors import ServiceError
from tests.fakes.clock import START_MS

KEY = b"k" * 32
FORM = SessionTokens(KEY)
NOW_S = START_MS // 1_000
GOOD = {"iss": "verdict", "aud": "verdict", "sub": "7", "iat": NOW_S, "exp": NOW_S + 60, "jti": "a" * 22}


def forge(claims: dict[str, Any], *, key: bytes = KEY, alg: str = "HS256", **header: Any) -> str:
    return jwt.encode(claims, key, alg, headers=header or None)


def refusal(token: str, now_ms: int = START_MS) -> str:
    with pytest.raises(ServiceError) as caught:
        FORM.read(token, now_ms)
    assert (caught.value.status, caught.value.code) == (401, "AUTH_INVALID")
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    return caught.value.message


def segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_a_session_is_read_as_it_was_signed() -> None:
    claims = FORM.read(FORM.sign(7, "j" * 22, START_MS, START_MS + SESSION_MS), START_MS)
    assert (claims.sub, claims.jti) == ("7", "j" * 22)
    assert claims.exp - claims.iat == 30 * 86_400


@pytest.mark.promise("sessions.jwt")
def test_its_form_is_hs256_with_the_six_claims_and_no_more() -> None:
    token = FORM.sign(7, "j" * 22, START_MS, START_MS + SESSION_MS)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    assert jwt.decode(token, options={"verify_signature": False}).keys() == {"iss", "aud", "sub", "iat", "exp", "jti"}


def test_a_token_made_by_another_library_call_with_our_key_is_ours() -> None:
    assert FORM.read(forge(GOOD), START_MS).sub == "7"


@pytest.mark.promise("sessions.jwt")
@pytest.mark.parametrize("claim", sorted(GOOD))
def test_a_token_without_one_of_the_claims_is_refused(claim: str) -> None:
    assert "malformed" in refusal(forge({name: value for name, value in GOOD.items() if name != claim}))


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("aud", "another"),
        ("aud", ["verdict"]),
        ("iss", "another"),
        ("sub", 7),
        ("jti", 7),
        ("jti", None),
        ("exp", "soon"),
        ("exp", True),
        ("exp", 1e300),
        ("iat", "then"),
        ("nbf", NOW_S),
        ("admin", True),
    ],
)
def test_a_token_with_a_wrong_foreign_or_mistyped_claim_is_refused(claim: str, value: object) -> None:
    forged = jwt.api_jws.PyJWS().encode(json.dumps(GOOD | {claim: value}).encode(), KEY, "HS256", {"typ": "JWT"})
    assert "malformed" in refusal(forged)


@pytest.mark.promise("sessions.jwt")
def test_alg_none_is_refused_in_every_spelling() -> None:
    for alg in ("none", "None", "NONE", "nOnE"):
        for signature in ("", "x", "A" * 43):
            assert "malformed" in refusal(f"{segment({'alg': alg, 'typ': 'JWT'})}.{segment(GOOD)}.{signature}")


@pytest.mark.promise("sessions.jwt")
@pytest.mark.parametrize("alg", ["HS384", "HS512"])
@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_another_algorithm_is_refused_even_with_our_key(alg: str) -> None:
    assert "malformed" in refusal(forge(GOOD, alg=alg))


@pytest.mark.parametrize(
    "header",
    [
        {"kid": "../../../../dev/null"},
        {"kid": "' UNION SELECT 'x' --"},
        {"kid": "a" * 5_000},
        {"jku": "https://evil.example/keys"},
        {"jwk": {"kty": "oct", "k": "AAAA"}},
        {"x5u": "https://evil.example/cert"},
        {"crit": ["exp"], "exp": 0},
        {"crit": ["b64"], "b64": True},
        {"typ": "at+jwt"},
        {"zip": "DEF"},
    ],
)
def test_a_header_that_says_anything_of_its_own_is_refused(header: dict[str, Any]) -> None:
    assert "malformed" in refusal(forge(GOOD, **header))


def test_an_unencoded_payload_is_refused() -> None:
    head = segment({"alg": "HS256", "typ": "JWT", "b64": False, "crit": ["b64"]})
    assert "malformed" in refusal(f"{head}.{json.dumps(GOOD)}.{'A' * 43}")


def test_another_key_is_told_apart_from_a_broken_token() -> None:
    assert "not signed by this service" in refusal(forge(GOOD, key=b"x" * 32))
    assert "malformed" in refusal(forge(GOOD)[:-1])


def test_claims_exchanged_under_the_signature_are_noticed() -> None:
    head, _, signature = forge(GOOD).split(".")
    assert "not signed" in refusal(f"{head}.{segment(GOOD | {'sub': '1'})}.{signature}")


def test_a_payload_that_is_not_an_object_is_refused() -> None:
    for payload in (b"[]", b"null", b"7", b"\xff", b"[" * 700, b'{"a":NaN}'):
        forged = jwt.api_jws.PyJWS().encode(payload, KEY, "HS256", {"typ": "JWT"})
        assert "malformed" in refusal(forged)


@pytest.mark.promise("sessions.leeway")
def test_it_expires_on_the_clock_after_the_leeway_and_says_when() -> None:
    token, exp_ms = forge(GOOD), START_MS + 60 * SECOND_MS
    FORM.read(token, exp_ms + LEEWAY_MS - 1)
    assert "expired at 2025-07-25T12:01:00.000Z" in refusal(token, exp_ms + LEEWAY_MS)


@pytest.mark.promise("sessions.leeway")
def test_it_does_not_begin_before_it_was_issued_but_for_the_leeway() -> None:
    token = forge(GOOD)
    FORM.read(token, START_MS - LEEWAY_MS)
    assert "not valid yet" in refusal(token, START_MS - LEEWAY_MS - 1)


def test_sixty_four_kilobytes_are_refused_before_they_are_decoded() -> None:
    assert "malformed" in refusal("A" * 65_536)
    assert "malformed" in refusal(forge(GOOD | {"jti": "x" * 65_536}))


@given(st.one_of(st.text(), st.text().map("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.".__add__)))
def test_any_text_is_refused_and_breaks_nothing(text: str) -> None:
    refusal(text)


@given(st.binary(max_size=300), st.binary(min_size=32, max_size=32))
def test_any_payload_under_any_signature_is_refused(payload: bytes, signature: bytes) -> None:
    parts = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (payload, signature))
    refusal("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + ".".join(parts))
