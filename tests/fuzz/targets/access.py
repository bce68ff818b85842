"""Tokens, and the messages that wallets sign."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from contextlib import suppress

from service.access.api_keys import ApiKeyFormat
from service.access.sessions import SessionTokens
from service.access.sign_in import SignIn, parse_sign_in_message
from service.errors import ServiceError
from service.wire.access import Login
from service.wire.cursor import Cursors
from tests.access.signing import DOMAIN, message, sign, wallet
from tests.fakes.clock import START_MS, FakeClock
from tests.fuzz.target import Target, check_sound

_KEY = bytes(32)
_SESSIONS = SessionTokens(_KEY)
_KEYS = ApiKeyFormat("verdict_sk_", _KEY)
_CURSORS = Cursors(_KEY)
_SIGN_IN = SignIn(FakeClock(), _KEY, {DOMAIN}, 84_532)
_HEAD = b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
_ROUTE = "alerts"


def read_token(data: bytes) -> None:
    """A bearer token, as a session and as a key: nobody else's is ever read."""
    token = data.decode("latin-1")
    with suppress(ServiceError):
        check_sound(_SESSIONS.read(token, START_MS))
    with suppress(ServiceError):
        _KEYS.check(token)


def read_payload(data: bytes) -> None:
    """Claims that our own key has signed: what another version of this service may have written."""
    signed = _HEAD + urlsafe_b64encode(data).rstrip(b"=")
    mac = urlsafe_b64encode(hmac.digest(_KEY, signed, "sha256")).rstrip(b"=")
    with suppress(ServiceError):
        _SESSIONS.read((signed + b"." + mac).decode(), START_MS)


def read_sign_in(data: bytes) -> None:
    """A message to sign in with, and a signature behind it."""
    text = data.decode("utf-8", "replace")
    with suppress(ValueError):
        check_sound(parse_sign_in_message(text))
    said, _, signature = text.rpartition("\n0x")
    with suppress(ServiceError):
        check_sound(_SIGN_IN.check(Login(said, f"0x{signature}")) if len(signature) == 130 else None)


def read_cursor(data: bytes) -> None:
    """A cursor: only what was written is read."""
    text = data.decode("utf-8", "replace")
    try:
        position = _CURSORS.read(text, _ROUTE, {})
    except ServiceError:
        return
    assert _CURSORS.write(_ROUTE, {}, position) == text


def _tokens() -> Iterable[bytes]:
    yield _SESSIONS.sign(7, "abc", START_MS, START_MS + 10_000).encode()
    yield _KEYS.draw().encode()


def _payloads() -> Iterable[bytes]:
    body = next(iter(_tokens())).split(b".")[1]
    yield urlsafe_b64decode(body + b"=" * (-len(body) % 4))


def _messages() -> Iterable[bytes]:
    nonce = _SIGN_IN.nonce()[0]
    yield message(wallet().address, nonce, START_MS).encode()
    full = message(wallet().address, nonce, START_MS, statement="Sign in, please.")
    yield f"{full}\n{sign(wallet(), full)}".encode()
    yield (full + "\nExpiration Time: 2025-07-25T13:00:00Z\nRequest ID: a\nResources:\n- https://a/b?c#d").encode()


def _cursors() -> Iterable[bytes]:
    yield _CURSORS.write(_ROUTE, {}, (START_MS, 7)).encode()


_FIELDS = (b"\nURI: ", b"\nVersion: 1", b"\nChain ID: ", b"\nNonce: ", b"\nIssued At: ", b"\nNot Before: ", b"https://")

TARGETS = (
    Target("access.token", read_token, _tokens, (b".", b"eyJ", b"verdict_sk_")),
    Target("access.payload", read_payload, _payloads, most=700, is_json=True),
    Target("access.sign-in", read_sign_in, _messages, _FIELDS, most=4_096),
    Target("access.cursor", read_cursor, _cursors, most=256),
)
