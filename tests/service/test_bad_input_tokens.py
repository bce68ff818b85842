"""Malformed tokens and payments, over sockets of the running service."""

import base64
import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.clock import HOUR_MS, SystemClock, iso
from tests.access.signing import message, sign, wallet
from tests.fakes.serving import wait_until
from tests.service.attack import CLOSED, OPEN, RISK, Row, Target, asking, attacked, check_envelope, each, posting
from tests.service.schema_hooks import post, sign_in

pytestmark = pytest.mark.process

KEYS = "/api/keys"
TIER = "/api/cli/billing/tier"
BEARER = "Authorization: Bearer <KEY>"
SESSION = "Authorization: Bearer <SESSION>"


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("data")) as running:
        yield running


def payment_of(version: int) -> str:
    """A payment of some version of x402, and nothing more."""
    return base64.b64encode(json.dumps({"x402Version": version}).encode()).decode()


def rows(status: int, code: str, named: Mapping[str, bytes], ends: bool = OPEN) -> list[Row]:
    return [Row(name, said, status, code, ends) for name, said in named.items()]


NO_TOKEN = rows(
    403,
    "AUTH_REQUIRED",
    {
        "nothing": asking(RISK),
        "an empty header": asking(RISK, "Authorization:"),
        "a header of spaces": asking(RISK, "Authorization:    "),
        "a key in another header": asking(RISK, "X-API-Key: <KEY>"),
        "a key in a cookie": asking(RISK, "Cookie: token=<KEY>; authorization=Bearer <KEY>"),
        "a key for a proxy": asking(RISK, "Proxy-Authorization: Bearer <KEY>"),
        "a route of the caller's own": asking(KEYS),
        "a body for nobody": posting(KEYS, b'{"name":"a"}'),
        "a key where a session is due": asking(KEYS, BEARER),
        "a key that would make a key": posting(KEYS, b'{"name":"a"}', BEARER),
        "a payment of nobody": asking(RISK, "X-PAYMENT: e30="),
    },
)
MALFORMED_VALUES = [
    "Bearer",
    "Bearer  ",
    "<KEY>",
    "Basic dXNlcjpwYXNz",
    "Token <KEY>",
    "Bearer<KEY>",
    "Bearer=<KEY>",
    "Bearer <KEY>x",
    "Bearer x<KEY>",
    'Bearer "<KEY>"',
    "Bearer <KEY> <KEY>",
    "Bearer <KEY>,Bearer <KEY>",
    "Bearer <KEY>, realm=x",
    "Bearer Bearer <KEY>",
    *(
        f"Bearer {prefix}{'A' * length}"
        for prefix in ("verdict_sk_", "VERDICT_SK_", "sk_")
        for length in (0, 36, 4_900)
    ),
    *(
        f"Bearer {word}"
        for word in ("null", "undefined", "e30", "..", "a.b.c", "eyJ", "' OR 1=1 --", "%00", "e" * 5_000)
    ),
    "Bearer \xff\xfe",
]
MALFORMED = rows(
    401,
    "AUTH_INVALID",
    {
        f"{number} {value[:40]}": asking(RISK, f"Authorization: {value}")
        for number, value in enumerate(MALFORMED_VALUES)
    },
)  # fmt: skip
IN_THE_URL = rows(
    400,
    "BAD_REQUEST",
    {
        target: asking(target, BEARER)
        for target in (
            f"{RISK}?key=<KEY>", f"{RISK}?<KEY>", f"{RISK}?access_token=<SESSION>", "/api/cli/coin/risk/<KEY>",
            "/api/cli/manifest?token=<KEY>", "/nowhere/<KEY>", "/nowhere?x=<SESSION>", "/healthz?api_key=<KEY>",
        )
    }
    | {
        "a key, escaped": asking("/nowhere?%6b=verdict%5fsk%5f" + "A" * 36),
        "a key where its prefix belongs": asking(f"{KEYS}?prefix=<KEY>", SESSION, method="DELETE"),
    },
)  # fmt: skip
PAYMENTS = rows(
    400,
    "BAD_REQUEST",
    {
        f"{header}: {value[:40]}": asking(RISK, BEARER, f"{header}: {value}")
        for header in ("PAYMENT-SIGNATURE", "X-PAYMENT")
        for value in (
            "", "garbage", "!!!!", "W10=", "bnVsbA==", base64.b64encode(b"[" * 4_000).decode(), "e30", "A" * 12_000,
            "\xff\xfe",
        )
    },
)  # fmt: skip
PAYMENTS += rows(
    402,
    "PAYMENT_REQUIRED",
    {
        f"{header}, version {version}": asking(RISK, BEARER, f"{header}: {payment_of(version)}")
        for header, version in (("PAYMENT-SIGNATURE", 0), ("PAYMENT-SIGNATURE", 1), ("X-PAYMENT", 0), ("X-PAYMENT", 3))
    },
)
PAYMENTS += [
    Row("two payments", asking(RISK, BEARER, "X-PAYMENT: e30=", "PAYMENT-SIGNATURE: e30="), 400, "BAD_REQUEST"),
    Row("the same payment twice", asking(RISK, BEARER, "X-PAYMENT: e30=", "X-PAYMENT: e30="), 400, "BAD_REQUEST"),
    Row("a payment of 20 KB", asking(RISK, BEARER, "X-PAYMENT: " + "A" * 20_000), 431, "HEADERS_TOO_LARGE", CLOSED),
]
TOO_LONG = [Row("64 KB", asking(RISK, "Authorization: Bearer " + "a" * 65_536), 431, "HEADERS_TOO_LARGE", CLOSED)]
ROWS = [*NO_TOKEN, *MALFORMED, *IN_THE_URL, *PAYMENTS, *TOO_LONG]


@pytest.mark.promise("auth.none-403", "keys.session-only", "errors.auth-required-message")
@pytest.mark.parametrize("row", each(NO_TOKEN))
def test_whoever_sends_no_token_is_told_to_log_in(target: Target, row: Row) -> None:
    assert "verdict login" in json.loads(target.attack(row).body)["error"]["message"]


@pytest.mark.promise("auth.malformed-401", "errors.www-authenticate")
@pytest.mark.parametrize("row", each(MALFORMED))
def test_a_malformed_token_is_401_and_is_called_malformed(target: Target, row: Row) -> None:
    reply = target.attack(row)
    assert reply.fields["www-authenticate"] == "Bearer"
    assert "malformed" in json.loads(reply.body)["error"]["message"]


@pytest.mark.promise("auth.key-in-url")
@pytest.mark.parametrize("row", each(IN_THE_URL))
def test_a_credential_in_a_url_is_400_wherever_it_stands(target: Target, row: Row) -> None:
    reply = target.attack(row)
    assert target.key not in reply.body.decode()
    assert "Replace" in json.loads(reply.body)["error"]["message"]


@pytest.mark.promise("pay.no-quota", "pay.two-headers")
@pytest.mark.parametrize("row", each(PAYMENTS))
def test_a_payment_of_any_kind_is_4xx_and_touches_no_quota(target: Target, row: Row) -> None:
    target.attack(row)


@pytest.mark.parametrize("row", each(TOO_LONG))
def test_a_token_of_64_kb_is_431(target: Target, row: Row) -> None:
    target.attack(row)


@pytest.mark.promise("auth.scheme-case")
@pytest.mark.parametrize(
    "header", ["bearer <KEY>", "BEARER <KEY>", "Bearer   <KEY>", "Bearer <SESSION>", "bEARER <SESSION>"]
)
def test_the_scheme_may_be_written_in_any_case(target: Target, header: str) -> None:
    assert target.ask(asking(TIER, f"Authorization: {header}")).status == 200


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def unpack(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return claims


class Forger:
    """Somebody who knows the secret the sessions are signed with, and still gets no further than the rules."""

    def __init__(self, target: Target) -> None:
        secrets = (Path(target.service.settings["data_dir"]) / "secrets.toml").read_text()
        found = re.search(r'session_key = "([0-9a-f]{64})"', secrets)
        assert found
        self.key = bytes.fromhex(found[1])
        self.claims = unpack(target.session)

    def token(
        self,
        header: Mapping[str, object] | None = None,
        digest: str = "sha256",
        drop: str = "",
        **changed: object,
    ) -> str:
        claims = {name: value for name, value in {**self.claims, **changed}.items() if name != drop}
        own = {"alg": "HS256", "typ": "JWT", **(header or {})}
        parts = [json.dumps(part, separators=(",", ":")).encode() for part in (own, claims)]
        signed = ".".join(map(base64url, parts))
        return f"{signed}.{base64url(hmac.digest(self.key, signed.encode(), digest))}"


def test_the_forger_makes_tokens_as_the_service_does(target: Target) -> None:
    assert target.ask(asking(TIER, f"Authorization: Bearer {Forger(target).token()}")).status == 200


NOW_S = SystemClock().now_ms() // 1_000
FORGERIES: Mapping[str, dict[str, Any]] = {
    "alg HS384": {"header": {"alg": "HS384"}, "digest": "sha384"},
    "alg HS512": {"header": {"alg": "HS512"}, "digest": "sha512"},
    "alg RS256": {"header": {"alg": "RS256"}},
    "alg in lower case": {"header": {"alg": "hs256"}},
    "alg null": {"header": {"alg": None}},
    "kid of a file": {"header": {"kid": "../../../../dev/null"}},
    "kid of a table": {"header": {"kid": "x' UNION SELECT 'key"}},
    "jku": {"header": {"jku": "https://evil.example/keys"}},
    "jwk": {"header": {"jwk": {"kty": "oct", "k": ""}}},
    "crit": {"header": {"crit": ["exp"]}},
    "b64": {"header": {"b64": False, "crit": ["b64"]}},
    "typ of another use": {"header": {"typ": "at+jwt"}},
    "cty": {"header": {"cty": "JWT"}},
    "no exp": {"drop": "exp"},
    "exp as text": {"exp": "9999999999"},
    "exp null": {"exp": None},
    "exp a fraction": {"exp": NOW_S + 86_400.5},
    "exp past": {"exp": NOW_S - 3_600},
    "exp negative": {"exp": -1},
    "no iat": {"drop": "iat"},
    "iat ahead": {"iat": NOW_S + 86_400},
    "no aud": {"drop": "aud"},
    "another aud": {"aud": "other"},
    "aud a list": {"aud": ["verdict", "other"]},
    "no iss": {"drop": "iss"},
    "another iss": {"iss": "other"},
    "no jti": {"drop": "jti"},
    "jti unknown": {"jti": "0" * 32},
    "jti a number": {"jti": 1},
    "jti empty": {"jti": ""},
    "jti of SQL": {"jti": "' OR 1=1 --"},
    "no sub": {"drop": "sub"},
    "sub a number": {"sub": 1},
    "one claim more": {"admin": True},
}


@pytest.mark.promise("auth.malformed-401", "auth.unknown-401", "sessions.jwt")
@pytest.mark.parametrize("name", FORGERIES)
def test_a_session_that_is_not_exactly_one_of_ours_is_401_though_rightly_signed(target: Target, name: str) -> None:
    token = Forger(target).token(**FORGERIES[name])
    target.attack(Row("", asking(TIER, f"Authorization: Bearer {token}"), 401, "AUTH_INVALID"))


NONE_OF_ANOTHER_CASE = b'{"alg":"nOnE"}'
SPACED = b'{ "alg":"HS256","typ":"JWT"}'


def broken_sessions(target: Target) -> dict[str, str]:
    head, payload, signature = target.session.split(".")
    none = base64url(b'{"alg":"none","typ":"JWT"}')
    other = target.other_session.split(".")
    flipped = ("A" if signature[0] != "A" else "B") + signature[1:]
    public = base64url(hmac.digest(b"public key", f"{head}.{payload}".encode(), hashlib.sha256))
    return {
        "alg none, unsigned": f"{none}.{payload}.",
        "alg none, signed": f"{none}.{payload}.{signature}",
        "alg None": f"{base64url(NONE_OF_ANOTHER_CASE)}.{payload}.",
        "no signature": f"{head}.{payload}.",
        "two parts": f"{head}.{payload}",
        "four parts": f"{target.session}.{signature}",
        "five parts": f"{target.session}.{head}.{payload}",
        "another's payload": f"{head}.{other[1]}.{signature}",
        "another's signature": f"{head}.{payload}.{other[2]}",
        "a flipped bit": f"{head}.{payload}.{flipped}",
        "padding": f"{target.session}=",
        "another key": f"{head}.{payload}.{public}",
        "a payload that is no JSON": f"{head}.{base64url(b'x')}.{signature}",
        "a payload of nested lists": f"{head}.{base64url(b'[' * 700)}.{signature}",
        "white space inside": f"{head}. {payload}.{signature}",
        "a header with white space": f"{base64url(SPACED)}.{payload}.{signature}",
    }


def test_a_session_that_was_tampered_with_is_401(target: Target) -> None:
    for name, token in broken_sessions(target).items():
        reply = target.ask(asking(TIER, f"Authorization: Bearer {token}"))
        assert (name, reply.status, reply.code) == (name, 401, "AUTH_INVALID")
        check_envelope(reply)


def told(target: Target, token: str) -> str:
    reply = target.ask(asking(RISK, f"Authorization: Bearer {token}"))
    assert (reply.status, reply.code) == (401, "AUTH_INVALID"), reply
    return str(json.loads(reply.body)["error"]["message"])


def make_key(target: Target, session: str) -> tuple[str, str]:
    made = json.loads(target.ask(posting(KEYS, b'{"name":"a"}', f"Authorization: Bearer {session}")).body)
    return made["key"], made["prefix"]


@pytest.mark.promise("auth.unknown-401", "auth.expired-401", "auth.revoked-401", "errors.auth-invalid-reason")
def test_a_key_that_does_not_open_says_whether_it_is_unknown_expired_revoked_or_rotated(target: Target) -> None:
    session = f"Authorization: Bearer {target.session}"
    key, prefix = make_key(target, target.session)
    assert target.ask(asking(TIER, f"Authorization: Bearer {key}")).status == 200
    assert target.ask(asking(f"{KEYS}?prefix={prefix}", session, method="DELETE")).status == 200
    assert "revoked" in told(target, key)

    key, prefix = make_key(target, target.session)
    assert target.ask(posting(f"{KEYS}/rotate", json.dumps({"prefix": prefix}).encode(), session)).status == 200
    assert "rotated" in told(target, key)

    soon = iso(SystemClock().now_ms() + 5_000)  # so long may the request take
    made = target.ask(posting(KEYS, json.dumps({"name": "a", "expiresAt": soon}).encode(), session))
    short = json.loads(made.body)["key"]
    wait_until(lambda: target.ask(asking(TIER, f"Authorization: Bearer {short}")).status == 401)
    assert "expired" in told(target, short)

    ended = sign_in(target.url, 3)
    assert target.ask(asking("/api/auth/logout", f"Authorization: Bearer {ended}", method="POST")).status == 200
    assert re.search("logged out|revoked|ended", told(target, ended))

    foreign = "verdict_sk_" + "A" * 30
    checksum = base62(zlib.crc32(foreign.encode()))
    assert "not known" in told(target, foreign + checksum)
    assert "checksum" in told(target, target.key[:-1] + ("a" if target.key[-1] != "a" else "b"))


def base62(value: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join(digits[value // 62**place % 62] for place in reversed(range(6)))


def test_another_users_key_is_404_and_goes_on_working(target: Target) -> None:
    key, prefix = make_key(target, target.session)
    other = f"Authorization: Bearer {target.other_session}"
    for said in (
        asking(f"{KEYS}?prefix={prefix}", other, method="DELETE"),
        posting(f"{KEYS}/rotate", json.dumps({"prefix": prefix}).encode(), other),
        asking(f"{KEYS}?prefix=verdict_sk_00000000", other, method="DELETE"),
    ):
        target.attack(Row("", said, 404, "NOT_FOUND"))
    assert prefix not in target.ask(asking(KEYS, other)).body.decode()
    assert target.ask(asking(TIER, f"Authorization: Bearer {key}")).status == 200


def log_in(target: Target, **changed: str) -> bytes:
    """A login of wallet 4, changed somewhere and signed."""
    signer, at_ms = wallet(4), SystemClock().now_ms() - int(changed.pop("age_ms", "0"))
    nonce = changed.pop("nonce", "") or post(target.url, "/api/auth/nonce")["nonce"]
    fields = {"domain": target.url.removeprefix("http://"), "uri": f"{target.url}/api/auth/login", **changed}
    text = message(signer.address, nonce, at_ms, **fields)
    return posting("/api/auth/login", json.dumps({"message": text, "signature": sign(signer, text)}).encode())


@pytest.mark.promise("signin.domain-chain", "signin.nonce-once")
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"domain": "evil.example"}, "domain"),
        ({"domain": "127.0.0.1"}, "domain"),
        ({"chain_id": "1"}, "chain"),
        ({"chain_id": "8453"}, "chain"),
        ({"nonce": "A" * 40}, "nonce"),
        ({"nonce": "abcdefgh"}, "nonce"),
        ({"age_ms": str(HOUR_MS)}, "issued"),
        ({"age_ms": str(-HOUR_MS)}, "issued"),
        ({"after": "\nExpiration Time: 2020-01-01T00:00:00Z"}, "expired"),
        ({"after": "\nNot Before: 2999-01-01T00:00:00Z"}, "not valid before"),
        ({"address": wallet(5).address}, "signature"),
    ],
)
def test_a_sign_in_that_is_not_for_here_and_now_is_401(target: Target, changed: dict[str, str], reason: str) -> None:
    if "address" in changed:
        text = log_in(target).replace(wallet(4).address.encode(), wallet(5).address.encode())
    else:
        text = log_in(target, **changed)
    reply = target.attack(Row("", text, 401, "AUTH_INVALID"))
    assert reason in json.loads(reply.body)["error"]["message"]


@pytest.mark.promise("signin.nonce-once", "signin.login")
def test_a_sign_in_is_good_once(target: Target) -> None:
    said = log_in(target)
    assert target.ask(said).status == 200
    assert "used already" in json.loads(target.attack(Row("", said, 401, "AUTH_INVALID")).body)["error"]["message"]


@pytest.mark.gate
def test_all_of_it_counts_nothing_and_leaves_the_log_clean(target: Target) -> None:
    before = target.counted()
    for row in ROWS:
        target.ask(row.said)
    for forgery in FORGERIES.values():
        target.ask(asking(RISK, f"Authorization: Bearer {Forger(target).token(**forgery)}"))
    assert target.counted() == before
    target.check_unharmed()
