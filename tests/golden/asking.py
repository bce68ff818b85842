"""Send requests to the running service and write responses as text."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, Final, NamedTuple
from zlib import crc32

from tests.fakes.asgi import scope_of
from tests.golden.answers import Answer, normalised
from tests.golden.start import Running

_SOCKET_EVERY: Final = 10
_PATIENCE_S: Final = 20.0
_BLOCKS: Final = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li", "main", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr",
    "ul",
))  # fmt: skip
_UNSEEN: Final = frozenset({"script", "style"})
_IN_BASE64: Final = ("payment-required", "payment-response", "x-payment-response")
_NOT_SHOWN: Final = ("text/javascript", "text/css", "image/png", "font/")


class Request(NamedTuple):
    """A request.

    Attributes:
        who: Name of a caller, or empty: without a token.
        method: Of HTTP.
        target: Path and query.
        body: Of the request.
        headers: More headers.
    """

    who: str
    method: str
    target: str
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """Unique among the requests of a file."""
        more = [f"{name}: {value}" for name, value in self.headers]
        return " · ".join([f"{self.method} {self.target}", *filter(None, (self.who, self.body, *more))])


class Reply(NamedTuple):
    """A whole answer; headers in the order of their names."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def ask(service: Running, request: Request, tokens: Mapping[str, str]) -> Reply:
    """Send a request: one in ten over a socket, the others to the application in process."""
    headers = dict(request.headers)
    if request.who:
        headers["authorization"] = f"Bearer {tokens[request.who]}"
    by_socket = crc32(normalised(request.title).encode()) % _SOCKET_EVERY == 0
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await (_over_socket if by_socket else _in_process)(service, request, headers)
    except TimeoutError as error:
        error.add_note(f"no answer to {request.title}")
        raise


async def record(service: Running, requests: Iterable[Request], tokens: Mapping[str, str]) -> list[Answer]:
    """Send requests one after the other and record the responses."""
    return [Answer(each.title, shown(await ask(service, each, tokens))) for each in requests]


def shown(reply: Reply, known: Mapping[str, str] | None = None) -> str:
    """A response as text: status, headers and body. Of pages only the visible text, of scripts and images nothing."""
    headers = dict(reply.headers)
    media = headers.get("content-type", "")
    if media.startswith(_NOT_SHOWN):
        body = "<not shown>" if reply.body else ""
    elif media.startswith("text/html"):
        body = page_text(reply.body.decode())
    else:
        body = reply.body.decode("utf-8", "backslashreplace")
    fields = (f"{name}: {_decoded(value) if name in _IN_BASE64 else value}" for name, value in sorted(reply.headers))
    head = "\n".join([f"HTTP {reply.status}", *fields])
    return normalised(f"{head}\n\n{body}", known)


def _decoded(value: str) -> str:
    return b64decode(value, validate=True).decode()


async def _in_process(service: Running, request: Request, headers: Mapping[str, str]) -> Reply:
    scope = scope_of(request.target, request.method, {"host": "127.0.0.1:8402", **headers})
    arriving: list[Any] = [{"type": "http.request", "body": request.body.encode(), "more_body": False}]
    sent: list[Any] = []
    over = asyncio.Event()

    async def receive() -> Any:
        if arriving:
            return arriving.pop(0)
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await service.app(scope, receive, send)
    return joined(sent)


def joined(sent: Sequence[Any]) -> Reply:
    """The answer of an application, from the messages that it sent."""
    headers = [(name.decode().lower(), value.decode("latin-1")) for name, value in sent[0]["headers"]]
    return Reply(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


async def _over_socket(service: Running, request: Request, headers: Mapping[str, str]) -> Reply:
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    fields = {"Host": "127.0.0.1:8402", **headers, "Connection": "close"}
    if request.body:
        fields["Content-Length"] = str(len(request.body.encode()))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"{request.method} {request.target} HTTP/1.1\r\n{head}\r\n{request.body}".encode())
    raw_head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    first, *lines = raw_head.decode("latin-1").split("\r\n")
    received = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    if ("transfer-encoding", "chunked") in received:
        body = _unchunked(body)
    # The server adds these; an application in process does not have them.
    of_connection = ("connection", "date", "transfer-encoding")
    return Reply(int(first.split()[1]), [field for field in received if field[0] not in of_connection], body)


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        whole, body = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return whole


class _PageText(HTMLParser):
    """Collects the visible text of a page and the targets of its links."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in _UNSEEN:
            self._unseen += 1
        if tag in _BLOCKS:
            self.lines.append("")
        for name in ("href", "action", "alt", "aria-label", "value", "content", "data-sort"):
            if values.get(name):
                self.lines[-1] += f"[{values[name]}]"

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen -= 1
        if tag in _BLOCKS:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.lines[-1] += data


def page_text(html: str) -> str:
    """The visible text of a page, one line per block element."""
    parser = _PageText()
    parser.feed(html)
    lines = (" ".join(line.split()) for line in parser.lines)
    return "\n".join(line for line in lines if line)
