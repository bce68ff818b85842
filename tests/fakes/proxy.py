"""A tiny HTTP proxy on the loopback: forwards absolute targets, tunnels CONNECT, and resolves the names of a test."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

import pytest

PATIENCE_S = 20.0
_PIECE = 65_536


VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def unset_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the variables that name proxies, in both spellings."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Asked(NamedTuple):
    """The head of a request as the proxy received it; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]


class FakeProxy:
    """Attributes: `names` maps a host to the port on the loopback that it stands for; `status` refuses everything."""

    def __init__(self, names: Mapping[str, int]) -> None:
        self.names = names
        self.status: int | None = None
        self.asked: list[Asked] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._open: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._start(self._serve, client)

    def _start(self, work: object, *sockets: socket.socket) -> None:
        self._open.extend(sockets)
        thread = threading.Thread(target=work, args=sockets, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, ValueError, KeyError):
            head, rest = self._head(client)
            first, *lines = head.split("\r\n")
            method, target, version = first.split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            self.asked.append(Asked(method, target, headers))
            if self.status is not None:
                client.sendall(f"HTTP/1.1 {self.status} Refused\r\nContent-Length: 0\r\n\r\n".encode())
                client.shutdown(socket.SHUT_WR)
                return
            if method == "CONNECT":
                server = self._reach(target.rpartition(":")[0])
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                host, _, path = target.removeprefix("http://").partition("/")
                server = self._reach(host.partition(":")[0])
                kept = [line for line in lines if not line.lower().startswith("proxy-")]
                server.sendall("\r\n".join([f"{method} /{path} {version}", *kept, "", ""]).encode() + rest)
            self._start(self._pass, server, client)
            self._pass(client, server)

    def _head(self, client: socket.socket) -> tuple[str, bytes]:
        got = b""
        while b"\r\n\r\n" not in got:
            piece = client.recv(_PIECE)
            if not piece:
                raise ValueError("gone")
            got += piece
        head, _, rest = got.partition(b"\r\n\r\n")
        return head.decode("latin-1"), rest

    def _reach(self, host: str) -> socket.socket:
        server = socket.create_connection(("127.0.0.1", self.names[host]), PATIENCE_S)
        server.settimeout(None)
        return server

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE):
                sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxy(**names: int) -> Iterator[FakeProxy]:
    """Run a proxy. `upstream_test=80` means that upstream.test is this port of the loopback."""
    made = FakeProxy({name.replace("_", "."): port for name, port in names.items()})
    try:
        yield made
    finally:
        made.close()
