"""The command `verdict mcp`: serves tools over standard input and output, or over HTTP on this machine."""

import signal
import socket
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from service.clients.cli.refusal import RefusalError
from service.clients.cli.screen import safe
from service.clients.cli.terminal import is_terminal
from service.clients.mcp import http_guard
from service.clients.mcp.budget import DEFAULT, LEAST
from service.clients.mcp.calling import Caller
from service.clients.mcp.gateway import Gateway, bearer
from service.clients.mcp.lines import Lines
from service.clients.mcp.server import make_server
from service.clients.paying.buyer import Buyer
from service.clients.paying.opening import unattended
from service.clients.profile.caller import token_of, url_of
from service.clock import SystemClock

PORT: Final = 8403
PATH: Final = "/mcp"
_HERE: Final = "127.0.0.1"
_NAMES: Final = (_HERE, "localhost")
_LAST_PORT: Final = 65_535
_MOST_SESSIONS: Final = 500
"""Of all clients together, of the older generation of the protocol, which keeps some tens of kilobytes for each."""

_FAREWELL_S: Final = 5


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Serve until standard input ends, or the process is told to stop.

    Args:
        arguments: Of the command.
        environment: Of the process.

    Raises:
        RefusalError: If it cannot be served as is asked.
    """
    most_bytes = DEFAULT if arguments.budget is None else arguments.budget
    if most_bytes < LEAST:
        raise RefusalError(f"--budget: no answer is worth its question in less than {LEAST} bytes")
    if arguments.http and arguments.pay:
        raise RefusalError("--pay: over HTTP nothing is paid, as anybody on this machine could spend the wallet")
    if arguments.port is not None and not arguments.http:
        raise RefusalError("--port: only --http listens on one")
    url = url_of(arguments, environment)
    buyer = _buyer(environment) if arguments.pay else None
    whose = bearer if arguments.http else _own(environment, url)
    with closing(Gateway(url, whose, buyer)) as gateway:
        server = make_server(
            Caller(gateway, most_bytes, over_http=arguments.http), most_bytes, over_http=arguments.http
        )
        if arguments.http:
            serve_http(server, PORT if arguments.port is None else arguments.port)
        else:
            if is_terminal(sys.stdin):
                _tell("The tools wait for the program that starts this to speak to them; Ctrl-C ends it")
            with _interruptible():
                anyio.run(serve_stdio, server)
    return 0


@contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl+C end the process as it is: the thread that waits for standard input hears of nothing else.

    Nothing is lost by that: a payment is kept before it is sent.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _own(environment: Mapping[str, str], url: str) -> Callable[[object], str | None]:
    """The credential of whoever started this, looked up at each call: a login takes effect at once."""
    return lambda _headers: token_of(environment, url)


def _buyer(environment: Mapping[str, str]) -> Buyer:
    return unattended(environment, SystemClock(), tell=_tell, pause=threading.Event().wait)


def _tell(line: str) -> None:
    sys.stderr.write(f"{safe(line)}\n")


async def serve_stdio(server: Server[Any]) -> None:
    """Serve whoever started this process. While it lasts, what else is written to standard output goes to stderr."""
    lines = Lines(sys.stdin.buffer)
    async with stdio_server(lines) as (read, write):  # type: ignore[arg-type] # it is iterated, no more
        lines.answers = write
        await server.run(read, write, server.create_initialization_options())


def serve_http(server: Server[Any], port: int) -> None:
    """Serve this machine over streamable HTTP.

    Args:
        server: What is served.
        port: Where; 0 is any that is free.

    Raises:
        RefusalError: If it is none, or somebody listens there already.
    """
    if not 0 <= port <= _LAST_PORT:
        raise RefusalError(f"--port: {port} is none; there are 0 (any that is free) to {_LAST_PORT}")
    try:
        listening = socket.create_server((_HERE, port))
    except OSError as error:
        raise RefusalError(f"port {port} cannot be listened on ({error.strerror})") from None
    with listening:
        port = listening.getsockname()[1]
        trusted = security(port)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=trusted,
            max_request_body_size=http_guard.MOST_BYTES,
            session_idle_timeout=http_guard.SESSION_IDLE_S,
            max_sessions=_MOST_SESSIONS,
        )
        config = uvicorn.Config(
            http_guard.HttpGuard(app, trusted.allowed_hosts, SystemClock()),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_FAREWELL_S,
        )
        _tell(f"Tools at http://{_HERE}:{port}{PATH}")
        uvicorn.Server(config).run(sockets=[listening])


def security(port: int) -> TransportSecuritySettings:
    """Who may call: requests that name this machine, from no page or from one of its own (DNS rebinding)."""
    hosts = [f"{name}:{port}" for name in _NAMES]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
