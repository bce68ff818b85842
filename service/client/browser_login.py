"""Signs in through the user's browser: opens the page and receives the session on a loopback port.

Source: RFC 8252, sections 7.3 and 8.3 (loopback redirection): the literal 127.0.0.1 and a port chosen by the system.

Decisions:
- The browser authorizes itself by 256 random bits made for this login (`state`). It is redirected to the service at
  once, so the session stays neither in the address bar nor in the history.
- Other users of this machine may see the random bits (an argument of the browser), so the wallet is always shown.
- They are stored until the login ends, so that `--paste` can finish what a browser could not hand over.
"""

import hmac
import secrets
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any, Final, NamedTuple, Self
from urllib.parse import parse_qs

from msgspec import Struct, convert

from service.client.connection import is_token
from service.client.errors import RefusalError
from service.client.files import read_document, state_dir, write_document
from service.clock import iso, parse_iso

CALLBACK_HOST: Final = "127.0.0.1"
CALLBACK_PATH: Final = "/callback"
STATE_FILE: Final = "signin.json"

_DISPLAYS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
_DESKTOPS: Final = frozenset({"darwin", "win32"})
_STATE_BYTES: Final = 32
_NAMES: Final = frozenset({"state", "token", "wallet", "expiresAt"})
_LONGEST: Final = 8_192
_POLL_S: Final = 0.05
_OTHER_TEXT: Final = "This is not the text that the sign-in page gives."


class _Begun(Struct):
    url: str
    state: str


def open_browser(url: str, environment: Mapping[str, str]) -> bool:
    """Open a page and return whether it was opened. A text browser in this terminal is not used."""
    if sys.platform not in _DESKTOPS and not any(map(environment.get, _DISPLAYS)):
        return False
    return webbrowser.open(url)


def begin_login(environment: Mapping[str, str], url: str) -> str:
    """Begin a login and return its state: 43 URL-safe characters. `RefusalError` if it cannot be stored."""
    state = secrets.token_urlsafe(_STATE_BYTES)
    write_document(state_dir(environment) / STATE_FILE, {"url": url, "state": state})
    return state


def find_login(environment: Mapping[str, str], url: str) -> str | None:
    """The state of an unfinished login at a service; None without one."""
    begun = None
    with suppress(RefusalError):  # an unreadable file is replaced by the next login
        begun = read_document(state_dir(environment) / STATE_FILE, lambda document: convert(document, _Begun), str)
    return None if begun is None or begun.url != url else begun.state


def end_login(environment: Mapping[str, str]) -> None:
    """Delete the state of the login that was begun."""
    (state_dir(environment) / STATE_FILE).unlink(missing_ok=True)


class BrowserSession(NamedTuple):
    """A session as the browser states it; the service confirms its owner before it is used."""

    token: str
    wallet: str
    expires_at: str
    notice: str | None = None

    def __repr__(self) -> str:
        """Without the token: this may end up in a log."""
        return f"BrowserSession({self.wallet}, until {self.expires_at})"


def read_session(query: str, state: str) -> BrowserSession:
    """Parse the query of the callback's URL, given without the question mark.

    Raises:
        ValueError: If it is not the page's, or belongs to another login: its state is compared in constant time. The
            message does not contain the token.
    """
    try:
        fields = parse_qs(query[:_LONGEST], strict_parsing=True, max_num_fields=len(_NAMES) + 1, errors="strict")
    except ValueError:
        fields = {}
    known = fields.keys() - {"notice"} == _NAMES and all(len(values) == 1 for values in fields.values())
    if not known or not is_token(fields["token"][0]):
        raise ValueError(_OTHER_TEXT)
    if not hmac.compare_digest(fields["state"][0].encode(), state.encode()):
        raise ValueError("This belongs to another login. Begin again with `verdict login`.")
    try:
        expires_at = iso(parse_iso(fields["expiresAt"][0]))
    except ValueError:
        raise ValueError(_OTHER_TEXT) from None
    return BrowserSession(fields["token"][0], fields["wallet"][0], expires_at, fields.get("notice", [None])[0])


class Callback(ThreadingHTTPServer):
    """A server on a loopback port that waits for the login with a state to return, and sends the browser onward."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, state: str, onward: str) -> None:
        super().__init__((CALLBACK_HOST, 0), _Handler)
        self.port = self.server_port
        self.state = state
        self.onward = onward
        self.once = Lock()
        self.returned: Queue[BrowserSession] = Queue()

    def wait(self, seconds: float) -> BrowserSession | None:
        """Wait until the login returns; None if it does not in that time."""
        try:
            return self.returned.get(timeout=seconds)
        except Empty:
            return None

    @contextmanager
    def open(self) -> Iterator[Self]:
        """Listen while the block runs."""
        thread = Thread(target=self.serve_forever, args=(_POLL_S,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report defects; a browser that disconnects is not one."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Callback
    server_version = "verdict"
    sys_version = ""
    timeout = 10.0  # browsers open connections on which they send nothing
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain; charset=utf-8"

    def do_GET(self) -> None:
        """Answer the browser."""
        path, _, query = self.path.partition("?")
        if self.headers.get_all("Host") != [f"{CALLBACK_HOST}:{self.server.port}"]:
            # Another host name that resolves to this machine is an attack (DNS rebinding).
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "This is not the address that was given out.")
        elif path != CALLBACK_PATH:
            self._say(HTTPStatus.NOT_FOUND, "There is nothing here.")
        else:
            self._take(query)

    def _take(self, query: str) -> None:
        login = self.server
        try:
            session = read_session(query, login.state)
        except ValueError as error:
            self._say(HTTPStatus.BAD_REQUEST, f"You are not signed in: {error}")
            return
        if not login.once.acquire(blocking=False):
            self._say(HTTPStatus.GONE, "This login has returned already.")
            return
        try:
            self._say(HTTPStatus.SEE_OTHER, "You can close this and go back to the terminal.", Location=login.onward)
        finally:
            login.returned.put(session)

    def _say(self, status: HTTPStatus, text: str, **headers: str) -> None:
        content = f"{text}\n".encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": self.error_content_type,
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing: the URL contains the session."""
