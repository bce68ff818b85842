"""Bad input, byte by byte, over sockets of one running service, and what must be so after all of it."""

import json
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fakes.serving import Serving, serving
from tests.service.schema_hooks import sign_in

PATIENCE_S = 60.0
RISK = "/api/cli/coin/risk/BTC"
UNBOUNDED = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
OPEN = False
CLOSED = True

_STILL_THERE = b"GET /healthz HTTP/1.1\r\nHost: api.example.org\r\n\r\n"


class Reply(NamedTuple):
    """One answer, read to its last byte; the last value where a header repeats."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The error's code, empty for a success."""
        return str(json.loads(self.body).get("error", {}).get("code", "")) if self.body else ""


class Row(NamedTuple):
    """One request that is not right, and what it must be answered. `<KEY>` and `<SESSION>` stand for live tokens."""

    name: str
    said: bytes
    status: int
    code: str = ""
    ends: bool = OPEN


def asking(target: str | bytes = RISK, *lines: str | bytes, method: str = "GET", body: bytes | None = None) -> bytes:
    """A well-formed request with these header lines; a body brings its length."""
    written = target.encode() if isinstance(target, str) else target
    fields = [line.encode("latin-1") if isinstance(line, str) else line for line in lines]
    if not any(field.lower().startswith(b"host:") for field in fields):
        fields.insert(0, b"Host: api.example.org")
    if body is not None:
        fields.append(b"Content-Length: %d" % len(body))
    head = b"".join([method.encode(), b" ", written, b" HTTP/1.1\r\n", *(field + b"\r\n" for field in fields)])
    return head + b"\r\n" + (body or b"")


def posting(target: str, body: bytes, *lines: str | bytes, media: str = "application/json") -> bytes:
    return asking(target, f"Content-Type: {media}", *lines, method="POST", body=body)


class Connection:
    """A socket to the service."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._unread = b""

    def say(self, data: bytes) -> None:
        """Send; an end that was closed meanwhile is found out by reading."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(data)

    def reply(self, *, bodiless: bool = False) -> Reply:
        """Read one answer."""
        while b"\r\n\r\n" not in self._unread:
            self._take()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split(" ")[1])
        length = 0 if bodiless or status == 204 else int(fields["content-length"])
        while len(self._unread) < length:
            self._take()
        body, self._unread = self._unread[:length], self._unread[length:]
        return Reply(status, fields, body)

    def is_closed(self) -> bool:
        """Whether the other end has nothing more to say; if it has, a further request is answered."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(_STILL_THERE)
        try:
            said = self._unread + self._socket.recv(65_536)
        except ConnectionResetError:
            return True
        assert not said or said.startswith(b"HTTP/1.1 200 "), said
        return not said

    def close(self) -> None:
        self._socket.close()

    def _take(self) -> None:
        taken = self._socket.recv(65_536)
        assert taken, f"closed in the middle of an answer: {self._unread!r}"
        self._unread += taken


class Target:
    """A running service, with callers who have not used a question yet."""

    def __init__(self, service: Serving) -> None:
        self.service = service
        self.url = f"http://127.0.0.1:{service.port}"
        self.key = service.make_key()
        self.session = sign_in(self.url, 1)
        self.other_session = sign_in(self.url, 2)
        self.tokens: Sequence[str] = (self.key, self.session, self.other_session)

    def fill_in(self, said: bytes) -> bytes:
        return said.replace(b"<KEY>", self.key.encode()).replace(b"<SESSION>", self.session.encode())

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        opened = Connection(self.service.port)
        try:
            yield opened
        finally:
            opened.close()

    def ask(self, said: bytes) -> Reply:
        """Say it on a connection of its own; read one answer."""
        with self.connection() as opened:
            opened.say(self.fill_in(said))
            return opened.reply(bodiless=said.startswith(b"HEAD "))

    def attack(self, row: Row) -> Reply:
        """Send a row and hold the answer to it."""
        with self.connection() as opened:
            opened.say(self.fill_in(row.said))
            reply = opened.reply()
            assert (reply.status, reply.code) == (row.status, row.code), reply
            if row.code:
                check_envelope(reply)
            assert opened.is_closed() is row.ends, "the connection " + ("stayed open" if row.ends else "was closed")
            return reply

    def counted(self) -> int:
        usage = json.loads(self.service.verdict("admin", "usage", "--json").stdout)
        return sum(row["total"] for row in usage["users"])

    def check_unharmed(self) -> None:
        """Ready, sound, and silent about what must not be said."""
        assert self.ask(asking("/readyz")).status == 200
        assert json.loads(self.service.verdict("admin", "doctor", "--json").stdout)["ok"]
        secrets = (Path(self.service.settings["data_dir"]) / "secrets.toml").read_text()
        hidden = [*self.tokens, *(secret for secret in re.findall(r'"([0-9a-f]{64})"', secrets))]
        for line in list(self.service.lines):
            assert isinstance(json.loads(line), dict)
            assert json.loads(line)["level"] in {"debug", "info"}, line
            assert re.fullmatch(r"[\x20-\x7e]+\n", line), line
            assert not any(secret in line for secret in hidden), line


def check_envelope(reply: Reply) -> None:
    """A failure in the envelope of errors."""
    body: dict[str, Any] = json.loads(reply.body)
    assert reply.fields["content-type"] == "application/json"
    assert reply.fields["x-request-id"]
    assert list(body)[:2] == ["schemaVersion", "error"]
    assert set(body["error"]) <= {"code", "message", "details"}
    assert "location" not in reply.fields


@contextmanager
def attacked(data_dir: Path, **settings: str) -> Iterator[Target]:
    """A service to attack."""
    with serving(data_dir, log_level="debug", **UNBOUNDED, **settings) as running:
        yield Target(running)


def each(rows: Sequence[Row]) -> list[Any]:
    """Every row as a parameter; every third one runs before each landing."""
    return [
        pytest.param(row, id=row.name, marks=[] if place % 3 else [pytest.mark.gate]) for place, row in enumerate(rows)
    ]
