"""Signs in through the user's browser: opens the page and receives the session on a loopback port.

Source: RFC 8252, sections 7.3 and 8.3 (loopback redirection): the literal 127.0.0.1 and a port chosen by the system.

Decisions:
- The browser authorizes itself by 256 random bits made for this login. It is redirected to the service at once, so the
  session stays neither in the address bar nor in the history.
- Other users of this machine may see the random bits (an argument of the browser), so the wallet is always shown.
- They are stored until the login ends, so that `--paste` can finish what a browser could not hand over.
"""

import hmac
import json
import secrets
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

from service.client.connection import is_token
from service.client.errors import RefusalError
from service.client.files import read_whole, state_dir, write_whole
from service.clock import iso, parse_iso

_DISPLAYS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
_DESKTOPS: Final = frozenset({"darwin", "win32"})


def open_browser(url: str, environment: Mapping[str, str]) -> bool:
    """Open a page, unless the only browser would be one of text in this very terminal.

    Args:
        url: Of the page.
        environment: Of the process.

    Returns:
        Whether something was opened.
    """
    if sys.platform not in _DESKTOPS and not any(map(environment.get, _DISPLAYS)):
        return False
    return webbrowser.open(url)


STATE_FILE: Final = "signin.json"
_STATE_BYTES: Final = 32


def begin_login(environment: Mapping[str, str], url: str) -> str:
    """Begin a login.

    Returns:
        Its text of 256 random bits, 43 characters that a URL takes as they are.

    Raises:
        RefusalError: If it cannot be kept.
    """
    state = secrets.token_urlsafe(_STATE_BYTES)
    path = state_dir(environment) / STATE_FILE
    try:
        write_whole(path, json.dumps({"url": url, "state": state}).encode())
    except OSError as error:
        raise RefusalError(f"{path} cannot be written ({error.strerror})") from None
    return state


def find_login(environment: Mapping[str, str], url: str) -> str | None:
    """The text of the login that was begun at an address; None if there is none."""
    try:
        document = json.loads(read_whole(state_dir(environment) / STATE_FILE) or b"{}")
    except (OSError, ValueError):
        return None  # whatever lies there, a new login takes its place
    begun = isinstance(document, dict) and document.get("url") == url
    return str(document["state"]) if begun and isinstance(document.get("state"), str) else None


def end_login(environment: Mapping[str, str]) -> None:
    """Forget the login that was begun."""
    (state_dir(environment) / STATE_FILE).unlink(missing_ok=True)


_NAMES: Final = frozenset({"state", "token", "wallet", "expiresAt"})
_NOTICE: Final = "notice"
_LONGEST: Final = 8_192


class BrowserSession(NamedTuple):
    """A session, as the browser tells it: the service is asked whose it is before anybody believes this."""

    token: str
    wallet: str
    expires_at: str
    notice: str | None = None

    def __repr__(self) -> str:
        """Without the token: this may end up in a log."""
        return f"Returned({self.wallet}, until {self.expires_at})"


def read_session(query: str, state: str) -> BrowserSession:
    """Read what a browser brings.

    Args:
        query: Of the callback's URL, without the question mark.
        state: The text that this login was begun with; it is compared in constant time.

    Raises:
        ValueError: If it is another login's, or not what the page gives; what it says holds nothing of the token.
    """
    try:
        fields = parse_qs(query[:_LONGEST], strict_parsing=True, max_num_fields=len(_NAMES) + 1, errors="strict")
    except ValueError:
        raise ValueError("that is not what the page gives") from None
    if fields.keys() - {_NOTICE} != _NAMES or any(len(values) > 1 for values in fields.values()):
        raise ValueError("that is not what the page gives")
    if not hmac.compare_digest(fields["state"][0].encode(), state.encode()):
        raise ValueError("that is of another login; begin again with `verdict login`")
    token, expires_at = fields["token"][0], fields["expiresAt"][0]
    if not is_token(token):
        raise ValueError("that is not what the page gives")
    return BrowserSession(token, fields["wallet"][0], iso(parse_iso(expires_at)), fields.get(_NOTICE, [None])[0])


CALLBACK_HOST: Final = "127.0.0.1"
CALLBACK_PATH: Final = "/callback"
_REQUEST_TIMEOUT_S: Final = 10.0
"""For one request: browsers open connections on which they say nothing."""

_POLL_S: Final = 0.05


class Callback:
    """A server that waits for one login to return.

    Args:
        state: The text that the login was begun with.
        onward: Where the browser is sent when it has returned.
    """

    def __init__(self, state: str, onward: str) -> None:
        self._came: Queue[BrowserSession] = Queue()
        self._once = Lock()
        self._server = _Server((CALLBACK_HOST, 0), _Handler)
        self._server.login = self
        self._state = state
        self.onward = onward

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def wait(self, seconds: float) -> BrowserSession | None:
        """Wait until the login returns; None if it does not in that time."""
        try:
            return self._came.get(timeout=seconds)
        except Empty:
            return None

    def take(self, query: str) -> BrowserSession | None:
        """Take what a browser brings; None if the login has returned before.

        Raises:
            ValueError: If it is not this login's.
        """
        returned = read_session(query, self._state)
        return returned if self._once.acquire(blocking=False) else None

    def tell(self, returned: BrowserSession) -> None:
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
    timeout = _REQUEST_TIMEOUT_S
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain; charset=utf-8"

    def do_GET(self) -> None:
        """Answer the browser."""
        path, _, query = self.path.partition("?")
        if self.headers.get_all("Host") != [f"{CALLBACK_HOST}:{self.server.server_port}"]:
            # Another name that resolves to here is somebody's else (DNS rebinding).
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "This is not the address that was given out.")
        elif path != CALLBACK_PATH:
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
        fields = {"Content-Type": self.error_content_type, "Content-Length": str(len(content)), **headers}
        guards = {
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        }
        for name, value in (fields | guards).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing is logged: the address holds the session."""
