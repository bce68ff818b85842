"""The routes of a service for signing in: nonces, logins checked as the service does, tokens, a page."""

import json
from collections.abc import Iterator
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


class Gate:
    """What the service knows and says; tests change it.

    `domains` are those that a sign-in may be for, its own unless a test says otherwise; `tokens` have the identity that
    the tier route tells; `answers` are fixed, by path. `asked` and `messages` are what came and what was signed.
    """

    def __init__(self) -> None:
        self.url = ""
        self.clock = FakeClock()
        self.domains: set[str] = set()
        self.tokens: dict[str, dict[str, Any]] = {}
        manifest = {"data": {"networks": [f"eip155:{CHAIN_ID}"]}, "meta": {}}
        self.answers: dict[str, tuple[int, Any]] = {"/api/cli/manifest": (200, manifest), "/auth/cli": (200, {})}
        self.notice: dict[str, str] = {}
        self.asked: list[str] = []
        self.messages: list[str] = []

    def open_session(self, wallet: str) -> tuple[str, str]:
        """A session of a wallet: token and end."""
        token = f"session.{len(self.tokens)}"
        self.tokens[token] = {"kind": "session", "userId": 1, "walletAddress": wallet}
        return token, iso(self.clock.now_ms() + 30 * DAY_MS)

    def answer(self, path: str, token: str, body: bytes) -> tuple[int, Any]:
        """Answer a request: status and document."""
        self.asked.append(path)
        sign_in = SignIn(self.clock, b"key", self.domains or {self.url.partition("://")[2]}, CHAIN_ID)
        if path in self.answers:
            return self.answers[path]
        if path == "/api/auth/nonce":
            nonce, ends_ms = sign_in.nonce()
            return 200, {"nonce": nonce, "expiresAt": iso(ends_ms)}
        if path == "/api/auth/login":
            return self._login(sign_in, Login(**json.loads(body)))
        if token not in self.tokens:
            return 401, {"error": {"code": "AUTH_INVALID", "message": "The token is not known."}}
        if path == "/api/auth/logout":
            del self.tokens[token]
            return 200, {"ok": True}
        return 200, {"data": {"identity": self.tokens[token]}, "meta": {}}

    def _login(self, sign_in: SignIn, login: Login) -> tuple[int, Any]:
        try:
            proof = sign_in.check(login)
        except ServiceError as error:
            return error.status, {"error": {"code": error.code, "message": error.message}}
        self.messages.append(login.message)
        token, ends = self.open_session(proof.address)
        return 200, {"token": token, "walletAddress": proof.address, "expiresAt": ends, **self.notice}


@contextmanager
def open_gate() -> Iterator[Gate]:
    """A gate that can be asked over HTTP."""
    gate = Gate()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            status, document = gate.answer(self.path.partition("?")[0], token, body)
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        gate.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield gate
        server.shutdown()
        thread.join()
