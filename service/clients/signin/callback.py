"""Where the browser returns to: one address on this machine, for one login.

Source: RFC 8252, sections 7.3 and 8.3 (loopback redirection), from which the literal 127.0.0.1 and the port that the
system chooses.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any, Final

from service.clients.signin.returned import Returned, read_returned

HOST: Final = "127.0.0.1"
PATH: Final = "/callback"
_PATIENCE_S: Final = 10.0
"""For one request: browsers open connections on which they say nothing."""

_POLL_S: Final = 0.05


class Callback:
    """A server that waits for one login to return.

    Args:
        state: The text that the login was begun with.
        onward: Where the browser is sent when it has returned.
    """

    def __init__(self, state: str, onward: str) -> None:
        self._came: Queue[Returned] = Queue()
        self._once = Lock()
        self._server = _Server((HOST, 0), _Handler)
        self._server.login = self
        self._state = state
        self.onward = onward

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def wait(self, seconds: float) -> Returned | None:
        """Wait until the login returns; None if it does not in that time."""
        try:
            return self._came.get(timeout=seconds)
        except Empty:
            return None

    def take(self, query: str) -> Returned | None:
        """Take what a browser brings; None if the login has returned before.

        Raises:
            ValueError: If it is not this login's.
        """
        returned = read_returned(query, self._state)
        return returned if self._once.acquire(blocking=False) else None

    def tell(self, returned: Returned) -> None:
        """End the wait: the browser has its answer, or is gone."""
        self._came.put(returned)

    @contextmanager
    def open(self) -> Iterator["Callback"]:
        """Listen while the block runs."""
        thread = Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    login: Callback

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A browser that is gone in the middle is no news for a person who waits; a defect is.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "verdict"
    sys_version = ""
    timeout = _PATIENCE_S
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain; charset=utf-8"

    def do_GET(self) -> None:
        """Answer the browser."""
        path, _, query = self.path.partition("?")
        if self.headers.get_all("Host") != [f"{HOST}:{self.server.server_port}"]:
            # Another name that resolves to here is somebody's else (DNS rebinding).
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "This is not the address that was given out.")
        elif path != PATH:
            self._say(HTTPStatus.NOT_FOUND, "There is nothing here.")
        else:
            self._take(query)

    def _take(self, query: str) -> None:
        login = self.server.login
        try:
            returned = login.take(query)
        except ValueError as error:
            self._say(HTTPStatus.BAD_REQUEST, f"This does not sign you in: {error}.")
            return
        if returned is None:
            self._say(HTTPStatus.GONE, "This login has returned already.")
            return
        try:
            self._say(HTTPStatus.SEE_OTHER, "You can close this and go back to the terminal.", Location=login.onward)
        finally:
            login.tell(returned)

    def _say(self, status: HTTPStatus, text: str, **headers: str) -> None:
        content = f"{text}\n".encode()
        self.send_response(status)
        told = {"Content-Type": self.error_content_type, "Content-Length": str(len(content)), **headers}
        guards = {
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        }
        for name, value in (told | guards).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing is logged: the address holds the session."""
