"""Another end of the line that answers as it is told to, byte for byte, and hangs up where it is told to."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

PATIENCE_S = 20.0
"""Longest wait of either side; none is waited for unless a test fails."""


class Reply(NamedTuple):
    """What is sent for one request, and whether the connection ends with it."""

    raw: bytes
    hang_up: bool = False


class Heard(NamedTuple):
    """One request as it came: over which connection (counted from 1), its parts, its header fields in lower case."""

    connection: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


def says(document: object, status: int = 200, **headers: str) -> Reply:
    """A whole answer in JSON."""
    return answers(json.dumps(document).encode(), status, **headers)


def answers(body: bytes, status: int = 200, **headers: str) -> Reply:
    """A whole answer of these bytes."""
    fields = {"content-length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"HTTP/1.1 {status} Told", *(f"{name}: {value}" for name, value in fields.items())]
    return Reply("\r\n".join([*lines, "", ""]).encode() + body)


class Peer:
    """Listens on the loopback; its replies are given out in their order, over however many connections."""

    def __init__(self, replies: tuple[Reply, ...], context: ssl.SSLContext | None, hello: bytes) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._replies = list(replies)
        self._context = context
        self._hello = hello
        self._accepted: list[socket.socket] = []
        self.heard: list[Heard] = []
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more, and hang up."""
        for sock in (self._listener, *self._accepted):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE_S)

    def _serve(self) -> None:
        with suppress(OSError):
            for number in range(1, 100):
                accepted, _ = self._listener.accept()
                accepted.settimeout(PATIENCE_S)
                with suppress(OSError), accepted:
                    wrap = self._context and self._context.wrap_socket
                    with wrap(accepted, server_side=True) if wrap else accepted as connection:
                        self._accepted = [connection]
                        self._talk(connection, number)

    def _talk(self, connection: socket.socket, number: int) -> None:
        if self._hello:
            connection.sendall(self._hello)
            while connection.recv(1024):
                pass
            return
        with connection.makefile("rb") as stream:
            while (line := stream.readline()).strip():
                method, target, _ = line.decode().split(" ", 2)
                fields = (field.decode().partition(":") for field in iter(stream.readline, b"\r\n"))
                headers = {name.lower(): value.strip() for name, _, value in fields}
                body = stream.read(int(headers.get("content-length", 0)))
                self.heard.append(Heard(number, method, target, headers, body))
                if not self._replies:
                    return  # one request more than the test expects
                reply = self._replies.pop(0)
                connection.sendall(reply.raw)
                if reply.hang_up:
                    connection.shutdown(socket.SHUT_RDWR)
                    return


@contextmanager
def peer(*replies: Reply, context: ssl.SSLContext | None = None, hello: bytes = b"") -> Iterator[Peer]:
    """Listen while the test runs, with TLS by a context; `hello` is said to each connection, and nothing after it."""
    listening = Peer(replies, context, hello)
    try:
        yield listening
    finally:
        listening.close()
