"""The doors of a service and nothing behind them: nonces, logins checked as the service does, tokens, a page."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from service.access.sign_in import SignIn
from service.clock import DAY_MS, iso
from service.errors import ServiceError
from service.wire.access import Login
from tests.fakes.clock import FakeClock

CHAIN_ID = 84_532
DAYS_MS = 30 * DAY_MS


class Gate:
    """What the service knows and says; tests change it.

    Attributes:
        clock: The service's own.
        domains: Authorities that a sign-in may be for; its own unless a test says otherwise.
        has_page: Whether there is a page for browsers.
        tokens: Token → identity, as the tier route tells it.
        asked: Method and path of each request, in order.
        messages: What was signed.
        answers: Path → (status, document) said instead.
        notice: What it tells those who sign in (`{"notice": …}`).
    """

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.domains: set[str] = set()
        self.has_page = True
        self.tokens: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.messages: list[str] = []
        self.answers: dict[str, tuple[int, Any]] = {}
        self.notice: dict[str, str] = {}
        self.url = ""

    def open_session(self, wallet: str) -> tuple[str, str]:
        """A session of a wallet: token and end."""
        token = f"session.{len(self.tokens)}"
        self.tokens[token] = {"kind": "session", "userId": 1, "walletAddress": wallet}
        return token, iso(self.clock.now_ms() + DAYS_MS)

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple[int, Any]:
        """Answer a request: status and document."""
        self.asked.append(f"{method} {path}")
        if path in self.answers:
            return self.answers[path]
        doors: dict[str, Callable[[], tuple[int, Any]]] = {
            "/api/cli/manifest": lambda: (200, _enveloped({"networks": [f"eip155:{CHAIN_ID}"]})),
            "/api/auth/nonce": self._nonce,
            "/api/auth/login": lambda: self._login(Login(**json.loads(body))),
            "/auth/cli": lambda: (200, {}) if self.has_page else (404, _refused("NOT_FOUND", "There is no such path.")),
        }
        return doors[path]() if path in doors else self._behind(path, token)

    def _behind(self, path: str, token: str) -> tuple[int, Any]:
        if token not in self.tokens:
            return 401, _refused("AUTH_INVALID", "The token is not known.")
        if path == "/api/auth/logout":
            del self.tokens[token]
            return 200, {"ok": True}
        return 200, _enveloped({"identity": self.tokens[token]})

    def _nonce(self) -> tuple[int, Any]:
        nonce, ends_ms = self._sign_in.nonce()
        return 200, {"nonce": nonce, "expiresAt": iso(ends_ms)}

    @property
    def _sign_in(self) -> SignIn:
        return SignIn(self.clock, b"key", self.domains or {self.url.partition("://")[2]}, CHAIN_ID)

    def _login(self, login: Login) -> tuple[int, Any]:
        try:
            proof = self._sign_in.check(login)
        except ServiceError as error:
            return error.status, _refused(error.code, error.message)
        self.messages.append(login.message)
        token, ends = self.open_session(proof.address)
        return 200, {"token": token, "walletAddress": proof.address, "expiresAt": ends, **self.notice}


def _enveloped(data: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "data": data, "meta": {"ts": "2026-01-01T00:00:00.000Z"}}


def _refused(code: str, message: str) -> dict[str, Any]:
    return {"schemaVersion": 1, "error": {"code": code, "message": message}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    gate: Gate


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        status, document = self.server.gate.answer(self.command, self.path.partition("?")[0], token, body)
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def open_gate() -> Iterator[Gate]:
    """A gate that can be asked over HTTP."""
    gate = Gate()
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.gate = gate
        gate.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield gate
        server.shutdown()
        thread.join()
