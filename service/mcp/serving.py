"""The command `verdict mcp`: serves tools over standard input and output, or over HTTP on this machine."""

import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, BinaryIO, Final

import anyio
import anyio.to_thread
import uvicorn
from anyio.abc import ObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage

from service.client.caller import token_of
from service.client.errors import RefusalError
from service.client.paying.buyer import unattended_buyer
from service.clock import SystemClock
from service.mcp import http_guard, sessions
from service.mcp.calls import ToolCaller
from service.mcp.error_messages import error_of, judge
from service.mcp.gateway import Confirmations, Gateway, bearer
from service.mcp.server import make_server
from service.mcp.tool_results import DEFAULT_BYTES, LEAST_BYTES, clean
from service.networks import TrustedProxies, network_of
from service.queued_output import queue_output

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message, its line end not counted."""

Answers = ObjectSendStream[SessionMessage]


class MessageLines:
    """What a transport reads from instead of standard input: only lines that hold a message.

    Args:
        source: Standard input.

    Attributes:
        answers: Where errors are written to; set before the first line is read.
    """

    answers: Answers

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield messages until standard input ends."""
        while line := await self._read():
            if len(line) > MOST_BYTES and not line.endswith(b"\n"):
                await self._skip()
                await self._refuse(error_of(types.INVALID_REQUEST, f"A message takes at most {MOST_BYTES} bytes."))
            elif line.strip():
                if (error := judge(line)) is None:
                    yield line.decode()
                else:
                    await self._refuse(error)

    async def _read(self) -> bytes:
        return await anyio.to_thread.run_sync(self._source.readline, MOST_BYTES + 1)

    async def _skip(self) -> None:
        """Read to the end of a line that is too long, keeping none of it."""
        while (rest := await self._read()) and not rest.endswith(b"\n"):
            pass

    async def _refuse(self, error: types.JSONRPCError) -> None:
        await self.answers.send(SessionMessage(error))


PORT: Final = 8403
_HERE: Final = "127.0.0.1"
_NAMES: Final = (_HERE, "localhost")
_LAST_PORT: Final = 65_535
_IDLE_S: Final = 75
"""A connection without a request for so long is closed, as those of the service are by default."""

_FAREWELL_S: Final = 5


def serve(
    url: str, environment: Mapping[str, str], *, http: bool, port: int | None, budget: int | None, pay: bool
) -> None:
    """Serve until standard input ends, or the process is stopped.

    Args:
        url: The service.
        environment: Of the process.
        http: Whether to serve over HTTP instead of standard input and output.
        port: Where to listen over HTTP; None is 8403.
        budget: Byte budget of an answer; None is 24 KB.
        pay: Whether to pay for calls.

    Raises:
        RefusalError: If it cannot be served as is asked.
    """
    most_bytes = DEFAULT_BYTES if budget is None else budget
    if most_bytes < LEAST_BYTES:
        raise RefusalError(f"--budget: no answer is worth its question in less than {LEAST_BYTES} bytes")
    if http and pay:
        raise RefusalError("--pay: over HTTP nothing is paid, as anybody on this machine could spend the wallet")
    if port is not None and not http:
        raise RefusalError("--port: only --http listens on one")
    queue_output("stderr")
    buyer = unattended_buyer(environment, SystemClock(), tell=tell, pause=threading.Event().wait) if pay else None

    def own(_headers: object) -> str | None:
        """The credential of this machine's user, read at each call: a login takes effect at once."""
        return token_of(environment, url)

    with closing(Gateway(url, bearer if http else own, buyer)) as gateway:
        server = make_server(ToolCaller(gateway, most_bytes, over_http=http), most_bytes, over_http=http)
        if http:
            proxies = trusted_proxies(environment)
            with closing(Confirmations(url, SystemClock())) as confirmations:
                serve_http(server, PORT if port is None else port, confirmations, proxies)
        else:
            if sys.stdin.isatty():
                tell("The tools wait for the program that starts this to speak to them; Ctrl-C ends it")
            with _interruptible():
                anyio.run(serve_stdio, server)


def tell(text: str) -> None:
    """Write a line for a person to standard error."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


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


async def serve_stdio(server: Server[Any]) -> None:
    """Serve over standard input and output. Other output of this process goes to stderr meanwhile."""
    lines = MessageLines(sys.stdin.buffer)
    async with stdio_server(lines) as (read, write):  # type: ignore[arg-type] # it is iterated, no more
        lines.answers = write
        await server.run(read, write, server.create_initialization_options())


def trusted_proxies(environment: Mapping[str, str]) -> TrustedProxies:
    """The proxies whose `X-Forwarded-For` counts, as the service reads them.

    Raises:
        RefusalError: If one is no address and no network.
    """
    name = "VERDICT_TRUSTED_PROXIES"
    try:
        return TrustedProxies([part.strip() for part in environment.get(name, "").split(",") if part.strip()])
    except ValueError as error:
        raise RefusalError(f"{name} takes addresses or networks ({error})") from None


def serve_http(server: Server[Any], port: int, confirmations: Confirmations, proxies: TrustedProxies) -> None:
    """Serve this machine over streamable HTTP.

    Args:
        server: What is served.
        port: Where; 0 is any that is free.
        confirmations: Says which tokens the service accepts.
        proxies: Proxies in front of it.

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
            streamable_http_path=http_guard.PATH,
            transport_security=trusted,
            max_request_body_size=http_guard.MOST_BYTES,
            session_idle_timeout=sessions.SESSION_IDLE_S,
            max_sessions=2
            * sessions.MOST_SESSIONS,  # the guard counts sessions; requests that open none take a place for a moment
        )
        guard = http_guard.HttpGuard(
            app,
            trusted.allowed_hosts,
            SystemClock(),
            confirmations.token_status,
            lambda scope: network_of(proxies.host_of(scope)),
        )
        config = uvicorn.Config(
            guard,
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_FAREWELL_S,
        )
        tell(f"Tools at http://{_HERE}:{port}{http_guard.PATH}")
        uvicorn.Server(config).run(sockets=[listening])


def security(port: int) -> TransportSecuritySettings:
    """Who may call: requests that name this machine, from no page or from one of its own (DNS rebinding)."""
    hosts = [f"{name}:{port}" for name in _NAMES]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
