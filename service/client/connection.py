"""Calls the service: one persistent connection, one request at a time."""

import http.client
import json
import re
import selectors
import socket
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from service import __version__
from service.client.address import read_address
from service.client.answer import (
    CHECK_URL,
    RawAnswer,
    RefusedError,
    SentRequest,
    UnreachableError,
    UnreadableAnswerError,
    read_json,
)
from service.clock import Clock, SystemClock
from service.proxies import Proxy, proxy_for

TIMEOUT_S: Final = 60.0
"""Longest wait for the next bytes: streams send a heartbeat every 15 s, a paid call may take half a minute."""

CONNECTING_S: Final = 10.0
"""Longest wait for a connection, TLS included."""

FRESH_S: Final = 4.0
"""Longest idle time of a connection that a request which must not be sent twice may use. A service closes an idle
connection after five seconds at the earliest; a request that crosses the close has an unknown outcome."""

MOST_BYTES: Final = 16 * 2**20
"""Longest answer that is read into memory; those of the service are far shorter."""

INVALID_CREDENTIAL: Final = (
    "This is not an API key or session: it contains a space or another character that is not allowed."
)

_MOST_REFUSAL_BYTES: Final = 2**20
_PIECE_BYTES: Final = 65_536
_CLOCK: Final = SystemClock()
_PAYMENTS: Final = frozenset({"payment-signature", "x-payment"})
_CLOSED: Final = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""Errors of a connection that the peer closed: `RemoteDisconnected` is a `ConnectionError`."""

_PROXY_STATUS: Final = re.compile(r"(?:status|failed:) ([0-9]{3})\b")

Headers = Mapping[str, str]
_NOTHING: Final[Mapping[str, Any]] = {}


class Tls(NamedTuple):
    """TLS version, and when the certificate expires, epoch seconds."""

    version: str
    ends_s: float


class RequestParts(NamedTuple):
    """Arguments of `ApiConnection.ask`."""

    method: str
    path: str
    query: Mapping[str, object]
    body: object
    headers: Headers


class ApiConnection:
    """One caller of the service at a URL in its normal form. `token` is an API key or session, or None.

    Raises:
        ValueError: If the token is not valid (`is_token`); the message does not repeat it.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout_s: float = TIMEOUT_S, clock: Clock = _CLOCK
    ) -> None:
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        """Also while a response that closes the connection is read: `http.client` drops its reference then."""
        self._proxy: Proxy | None = None
        self._clock = clock
        self._used_s = 0.0
        if token and not is_token(token):
            raise ValueError(INVALID_CREDENTIAL)
        self.url = url
        self.token = token
        self._timeout_s = timeout_s

    def __del__(self) -> None:
        """Close the connection, also of a command that failed."""
        self.close()

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Headers = _NOTHING,
    ) -> RawAnswer:
        """Send a request and read its whole answer. None values of `query` are omitted; `body` is sent as JSON.

        Raises:
            RefusedError: If the service refuses.
            UnreachableError: If no complete answer arrived.
            UnreadableAnswerError: If it is longer than any answer of this API.
        """
        with self._accepted(method, path, query, body, headers) as response:
            return RawAnswer(response.status, _fields(response), _whole(response, MOST_BYTES))

    def pieces(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Headers = _NOTHING,
    ) -> Generator[bytes, None, None]:
        """Send a request and yield its answer in pieces, of any length. Raises as `ask`, also between pieces."""
        with self._accepted(method, path, query, body, headers) as response:
            yield from pieces_of(response)

    @property
    def tls(self) -> Tls | None:
        """TLS of the open connection; None without one, or without TLS."""
        sock = None if self._connection is None else self._connection.sock
        if not isinstance(sock, ssl.SSLSocket):
            return None
        ends = dict(sock.getpeercert() or {})["notAfter"]
        return Tls(str(sock.version()), ssl.cert_time_to_seconds(str(ends)))

    def interrupt(self) -> None:
        """End a read that waits on another thread, with an error there."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._socket = None

    @contextmanager
    def raw(
        self, method: str, target: str, payload: bytes | None = None, headers: Headers = _NOTHING
    ) -> Iterator[tuple[Headers, http.client.HTTPResponse]]:
        """Send any request, and yield the header fields that were sent and the response, whatever its status.

        `target` is the encoded path and query. Raises `UnreachableError` if no complete answer arrived.
        """
        sent = {"User-Agent": f"verdict/{__version__}", "Accept": "application/json", **headers}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        response = None
        try:
            response = self._send(method, target, payload, sent)
            if response.status < http.client.OK:
                raise http.client.UnknownProtocol(str(response.status))
            yield sent, response
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise UnreachableError(_why_unanswered(error, self.url, self._timeout_s), sent=True) from None
        finally:
            self._used_s = self._clock.monotonic()
            if response is None or not response.isclosed():
                self.close()  # the rest of this answer must not be read as the next one

    @contextmanager
    def _accepted(
        self, method: str, path: str, query: Mapping[str, object], body: object, headers: Headers
    ) -> Iterator[http.client.HTTPResponse]:
        given = {name: value for name, value in query.items() if value is not None}
        target = path + ("?" + urlencode(given, errors="replace") if given else "")
        payload = None if body is None else json.dumps(body).encode()
        more = {} if body is None else {"Content-Type": "application/json"}
        with self.raw(method, target, payload, {**headers, **more}) as (sent, response):
            if response.status >= http.client.MULTIPLE_CHOICES:
                # Not bound to a local name: the error's traceback would keep the error and the connection alive.
                raise self._refused(response, f"{method} {target}\n".encode() + (payload or b""), sent)
            yield response

    def _refused(self, response: http.client.HTTPResponse, request: bytes, sent: Headers) -> RefusedError:
        from hashlib import sha256  # noqa: PLC0415 - only a refusal needs it

        document = None
        # A proxy's refusal may have any body; the status is enough then.
        with suppress(UnreadableAnswerError):
            document = read_json(_whole(response, _MOST_REFUSAL_BYTES))
        asked = SentRequest(self.url, request, sha256(sent.get("Authorization", "").encode()).hexdigest())
        return RefusedError(response.status, _fields(response), document, asked)

    def _send(self, method: str, target: str, payload: bytes | None, sent: Headers) -> http.client.HTTPResponse:
        harmless = method == "GET" and not _PAYMENTS & {name.lower() for name in sent}
        if not harmless and self._clock.monotonic() - self._used_s > FRESH_S:
            self.close()
        kept = self._connection
        try:
            return self._send_once(method, target, payload, sent)
        except _CLOSED:
            if not harmless or self._connection is not kept:
                raise
        self.close()
        return self._send_once(method, target, payload, sent)

    def _send_once(self, method: str, target: str, payload: bytes | None, sent: Headers) -> http.client.HTTPResponse:
        connection, proxy = self._connect(), self._proxy
        if proxy is not None and not isinstance(connection, http.client.HTTPSConnection):
            target, sent = self.url + target, {**sent, **_credentials(proxy)}
        connection.request(method, target, payload, dict(sent))
        response = connection.getresponse()
        if proxy is not None and response.status == http.HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            raise UnreachableError(_why_unconnected(OSError(f"status {response.status}"), self.url, proxy))
        return response

    def _connect(self) -> http.client.HTTPConnection:
        kept = self._connection
        if kept is not None and kept.sock is not None and _is_silent(kept.sock):
            return kept
        self.close()
        try:
            address = read_address(self.url)
            proxy = self._proxy = proxy_for(self.url)
        except ValueError as error:
            raise UnreachableError(str(error)) from None
        kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
        at = address if proxy is None else proxy
        connection = kind(at.host, at.port, timeout=CONNECTING_S)
        if proxy is not None and address.secure:
            connection.set_tunnel(address.host, address.port, _credentials(proxy))
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise UnreachableError(_why_unconnected(error, self.url, proxy)) from None
        connection.sock.settimeout(self._timeout_s)
        self._connection, self._socket = connection, connection.sock
        return connection


def is_token(text: str) -> bool:
    """Whether a text is a valid bearer token: visible ASCII only."""
    return bool(text) and all("!" <= letter <= "~" for letter in text)


def fill(path: str, values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Percent-encode values into a path template (`/api/cli/coin/risk/{symbol}`); also returns those that remain."""
    rest = dict(values)
    for name, value in values.items():
        if "{" + name + "}" in path:
            path = path.replace("{" + name + "}", quote(str(value), safe="", errors="replace"))
            del rest[name]
    return path, rest


def pieces_of(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The body as it arrives. Raises `http.client.HTTPException` if it ends before the announced length."""
    # In Python 3.11 `read1` neither tracks the remaining length nor reports a truncated answer.
    left = response.length
    while left != 0:
        piece = response.read1(_PIECE_BYTES if left is None else min(left, _PIECE_BYTES))
        if not piece:
            break
        left = None if left is None else left - len(piece)
        yield piece
    if left:
        raise http.client.IncompleteRead(b"", left)
    response.close()


def _whole(response: http.client.HTTPResponse, most: int) -> bytes:
    pieces: list[bytes] = []
    for piece in pieces_of(response):
        pieces.append(piece)
        most -= len(piece)
        if most < 0:
            raise UnreadableAnswerError(f"The answer is longer than any answer of a Verdict service. {CHECK_URL}")
    return b"".join(pieces)


def _fields(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _credentials(proxy: Proxy) -> dict[str, str]:
    return {} if proxy.authorization is None else {"Proxy-Authorization": proxy.authorization}


def _is_silent(sock: socket.socket) -> bool:
    # Between two requests the peer sends nothing but its close.
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


_UNCONNECTED: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (socket.gaierror, "the host name is unknown", " Is it spelled correctly?"),
    (ConnectionRefusedError, "nothing listens there", " Is the service running?"),
    (TimeoutError, f"no connection within {CONNECTING_S:.0f} s", ""),
    (Exception, "{reason}", ""),
)
"""Error of a connection attempt, its meaning, and what to check."""

_UNANSWERED: Final[tuple[tuple[type[Exception], str], ...]] = (
    (TimeoutError, "{url} did not answer within {timeout_s:.0f} s."),
    (http.client.IncompleteRead, "The connection to {url} broke during the answer."),
    (http.client.RemoteDisconnected, "{url} closed the connection without an answer. Is it https:// instead?"),
    (http.client.HTTPException, f"{{url}} does not answer in valid HTTP. {CHECK_URL}"),
    (Exception, "The connection to {url} broke: {reason}."),
)
"""Error of a request that was sent, and its message."""


def _why_unconnected(error: Exception, url: str, proxy: Proxy | None) -> str:
    """Message for a failed connection attempt; `OSError("status N")` is the proxy's refusal."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {url} is not trusted: {error.verify_message}. If you trust it, set SSL_CERT_FILE to "
            "the certificate. If it has expired, also check the clock of this machine."
        )
    if isinstance(error, ssl.SSLError):
        return f"No TLS connection to {url} is possible: {_reason(error)}. Is it http:// instead?"
    meaning, question = next(said for kind, *said in _UNCONNECTED if isinstance(error, kind))
    meaning = meaning.format(reason=_reason(error))
    if proxy is None:
        return f"Cannot reach {url}: {meaning}.{question}"
    if status := _PROXY_STATUS.search(str(error)):
        needs = " and requires a valid user and password" if status[1] == "407" else ""
        meaning = f"it answered {status[1]}{needs}"
    return (
        f"Cannot reach {url} through the proxy {proxy}: {meaning}. Correct {proxy.variable}, or add the host to "
        "NO_PROXY."
    )


def _why_unanswered(error: Exception, url: str, timeout_s: float) -> str:
    sentence = next(sentence for kind, sentence in _UNANSWERED if isinstance(error, kind))
    return sentence.format(url=url, timeout_s=timeout_s, reason=_reason(error))


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
    return str(reason or str(error) or type(error).__name__)
