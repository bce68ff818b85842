"""Calls the service: one connection that is kept, one request at a time."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from service import __version__
from service.clients.sdk.answer import Answer, Asked, RefusedError, UnreachableError

PATIENCE_S: Final = 60.0
"""Longest wait for the next bytes: a stream says something every 15 s, a paid call may take half a minute."""

_NOTHING: Final[Mapping[str, str]] = {}


class Client:
    """One caller of one service.

    Args:
        url: Where it is: http or https, a host, perhaps a port.
        token: API key or session; none for what is public.
        patience_s: Longest wait for the next bytes.
    """

    def __init__(self, url: str, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._patience_s = patience_s
        self._connection: http.client.HTTPConnection | None = None

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Mapping[str, str] = _NOTHING,
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
            UnreachableError: If no answer came.
        """
        with self._asked(method, path, query, body, headers) as response:
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, fields, response.read())

    def pieces(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] = _NOTHING,
        body: object = None,
        headers: Mapping[str, str] = _NOTHING,
    ) -> Iterator[bytes]:
        """Send a request and give its answer as it comes.

        Raises:
            RefusedError: As `ask`, before the first piece.
            UnreachableError: As `ask`; also in the middle, where the answer breaks off.
        """
        with self._asked(method, path, query, body, headers) as response:
            while piece := response.read1(65_536):
                yield piece

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, object],
        body: object,
        headers: Mapping[str, str],
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
        whole = False
        try:
            connection = self._connect()
            connection.request(method, target, payload, sent)
            response = connection.getresponse()
            if response.status >= http.client.MULTIPLE_CHOICES:
                raise _refused(response, self._told(method, target, payload, sent))
            yield response
            whole = response.isclosed()
        except TimeoutError:
            raise UnreachableError(f"{self.url} did not answer within {self._patience_s:.0f} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(
                f"{self.url} cannot be reached ({_reason(error)}); is the service running?"
            ) from None
        finally:
            if not whole:
                self.close()

    def _told(self, method: str, target: str, payload: bytes | None, sent: Mapping[str, str]) -> Asked:
        from hashlib import sha256  # noqa: PLC0415 - only a refusal needs it

        caller = sha256(sent.get("Authorization", "").encode()).hexdigest()
        return Asked(self.url, f"{method} {target}\n".encode() + (payload or b""), caller)

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self.url)
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise UnreachableError(f"{self.url!r} is no address; write it like http://127.0.0.1:8402")
            made = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._connection = made(parts.hostname, parts.port, timeout=self._patience_s)
        return self._connection


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


def _refused(response: http.client.HTTPResponse, asked: Asked) -> RefusedError:
    fields = {name.lower(): value for name, value in response.getheaders()}
    document: Any = None
    with suppress(ValueError):
        document = json.loads(response.read())
    return RefusedError(response.status, fields, document, asked)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
