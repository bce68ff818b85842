"""Calls the service: one connection that is kept, one request at a time."""

import http.client
import json
import selectors
import socket
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from service import __version__
from service.clients.sdk.address import read_address
from service.clients.sdk.answer import Answer, Asked, RefusedError, UnreachableError, UnreadableError, read_json
from service.clients.sdk.failure import why_unanswered, why_unconnected

PATIENCE_S: Final = 60.0
"""Longest wait for the next bytes: a stream says something every 15 s, a paid call may take half a minute."""

CONNECTING_S: Final = 10.0
"""Longest wait for a connection, TLS included."""

MOST_BYTES: Final = 16 * 2**20
"""Longest answer that is read whole: the longest of the service is far below, and memory is not given to strangers."""

_MOST_REFUSAL_BYTES: Final = 2**20
_PIECE_BYTES: Final = 65_536
_NOTHING: Final[Mapping[str, str]] = {}
_PAYMENTS: Final = frozenset({"payment-signature", "x-payment"})
_CLOSED: Final = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""What a connection raises whose other end is gone: `RemoteDisconnected` is a `ConnectionError`."""

Headers = Mapping[str, str]


class Tls(NamedTuple):
    """How a connection is encrypted: by what version, and until when the certificate is good, epoch seconds."""

    version: str
    ends_s: float


class Client:
    """One caller of one service.

    Args:
        url: Where it is: http or https, a host, perhaps a port.
        token: API key or session; none for what is public.
        patience_s: Longest wait for the next bytes.

    Raises:
        ValueError: If the token is none that could be sent (`is_token`); it is not told again.
    """

    def __init__(self, url: str, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        self._connection: http.client.HTTPConnection | None = None
        if token and not is_token(token):
            raise ValueError("a token is letters, digits and signs, without a space")
        self.url = url.rstrip("/")
        self.token = token
        self._patience_s = patience_s

    def __del__(self) -> None:
        """Let go of the connection with the client: a command that fails has no better moment."""
        self.close()

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Headers = _NOTHING,
    ) -> Answer:
        """Send a request and read its whole answer.

        Args:
            method: GET, POST or DELETE.
            path: As the manifest writes it, its parameters filled in by `fill`.
            query: Parameters; what is None is left out.
            body: Sent as JSON, if there is any.
            headers: Beside `Authorization`.

        Raises:
            RefusedError: If the service says no.
            UnreachableError: If no whole answer came.
            UnreadableError: If it is longer than any of this interface.
        """
        with self._asked(method, path, query, body, headers) as response:
            return Answer(response.status, _fields(response), _whole(response, MOST_BYTES))

    def pieces(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Headers = _NOTHING,
    ) -> Generator[bytes, None, None]:
        """Send a request and give its answer as it comes, however long.

        Raises:
            RefusedError: As `ask`, before the first piece.
            UnreachableError: As `ask`; also in the middle, where the answer breaks off.
        """
        with self._asked(method, path, query, body, headers) as response:
            yield from _pieces(response)

    @property
    def tls(self) -> Tls | None:
        """How the connection there is is encrypted; None where it is not, or there is none."""
        sock = None if self._connection is None else self._connection.sock
        if not isinstance(sock, ssl.SSLSocket):
            return None
        ends = dict(sock.getpeercert() or {})["notAfter"]
        return Tls(str(sock.version()), ssl.cert_time_to_seconds(str(ends)))

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _asked(
        self, method: str, path: str, query: Mapping[str, object], body: object, headers: Headers
    ) -> Iterator[http.client.HTTPResponse]:
        given = {name: value for name, value in query.items() if value is not None}
        target = path + ("?" + urlencode(given) if given else "")
        sent = {"User-Agent": f"verdict/{__version__}", "Accept": "application/json", **headers}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        response = None
        try:
            response = self._send(method, target, payload, sent)
            if response.status < http.client.OK:  # none that was asked for: no payment is over because of it
                raise http.client.UnknownProtocol(str(response.status))
            if response.status >= http.client.MULTIPLE_CHOICES:
                # Under no name of this frame, or the error would hold itself, and the connection, for ever.
                raise _refused(response, self._told(method, target, payload, sent))
            yield response
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise UnreachableError(why_unanswered(error, self.url, self._patience_s), sent=True) from None
        finally:
            if response is None or not response.isclosed():
                self.close()  # nothing of this answer may be taken for the next one

    def _told(self, method: str, target: str, payload: bytes | None, sent: Headers) -> Asked:
        from hashlib import sha256  # noqa: PLC0415 - only a refusal needs it

        caller = sha256(sent.get("Authorization", "").encode()).hexdigest()
        return Asked(self.url, f"{method} {target}\n".encode() + (payload or b""), caller)

    def _send(self, method: str, target: str, payload: bytes | None, sent: Headers) -> http.client.HTTPResponse:
        kept = self._connection
        connection = self._connect()
        try:
            return _exchange(connection, method, target, payload, sent)
        except _CLOSED:
            harmless = method == "GET" and not _PAYMENTS & {name.lower() for name in sent}
            if connection is not kept or not harmless:
                raise
        self.close()
        return _exchange(self._connect(), method, target, payload, sent)

    def _connect(self) -> http.client.HTTPConnection:
        kept = self._connection
        if kept is not None and kept.sock is not None and _is_silent(kept.sock):
            return kept
        self.close()
        try:
            address = read_address(self.url)
        except ValueError as error:
            raise UnreachableError(str(error)) from None
        kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
        connection = kind(address.host, address.port, timeout=CONNECTING_S)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise UnreachableError(why_unconnected(error, self.url, CONNECTING_S)) from None
        connection.sock.settimeout(self._patience_s)
        self._connection = connection
        return connection


def is_token(text: str) -> bool:
    """Whether a text could be a bearer token: visible ASCII, which is all that a header field takes."""
    return bool(text) and all("!" <= letter <= "~" for letter in text)


def fill(path: str, values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Put values into a path template.

    Args:
        path: As the manifest writes it: `/api/cli/coin/risk/{symbol}`.
        values: By parameter.

    Returns:
        The path, each value percent-encoded, and what of the values it does not take: the query.
    """
    rest = dict(values)
    for name, value in values.items():
        if "{" + name + "}" in path:
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
            del rest[name]
    return path, rest


def _exchange(
    connection: http.client.HTTPConnection, method: str, target: str, payload: bytes | None, sent: Headers
) -> http.client.HTTPResponse:
    connection.request(method, target, payload, dict(sent))
    return connection.getresponse()


def _is_silent(sock: socket.socket) -> bool:
    # Between two requests the other end has nothing to say but that it is gone.
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


def _pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    # `read1` of Python 3.11 neither counts what an answer with a length has left, nor minds where it breaks off.
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
    for piece in _pieces(response):
        pieces.append(piece)
        most -= len(piece)
        if most < 0:
            raise UnreadableError("the answer is longer than any of a Verdict service: is that address one?")
    return b"".join(pieces)


def _fields(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _refused(response: http.client.HTTPResponse, asked: Asked) -> RefusedError:
    document: Any = None
    # What stands between here and the service has its own ways of saying no; the status says enough then.
    with suppress(UnreadableError):
        document = read_json(_whole(response, _MOST_REFUSAL_BYTES))
    return RefusedError(response.status, _fields(response), document, asked)
