"""The command `verdict mcp`: serves tools over standard input and output, or over HTTP on this machine."""

import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import closing
from typing import Any, BinaryIO, Final

import anyio
import anyio.to_thread
import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage

from service.client.caller import token_of
from service.client.errors import RefusalError
from service.client.paying.buyer import unattended_buyer
from service.clock import SystemClock
from service.mcp.calls import Gateway
from service.mcp.error_messages import jsonrpc_error, message_error
from service.mcp.http_guard import MOST_BYTES, PATH, TOO_LONG, HttpGuard, bearer
from service.mcp.server import make_server
from service.mcp.tool_results import DEFAULT_BYTES, LEAST_BYTES, clean
from service.queued_output import queue_output

PORT: Final = 8403
_HERE: Final = "127.0.0.1"
_LAST_PORT: Final = 65_535
_IDLE_S: Final = 75
"""An idle connection is closed after this time, as the service does by default."""

_SHUTDOWN_S: Final = 5
_WAITS: Final = (
    "This MCP server waits for an MCP host to send JSON-RPC to its standard input. Press Ctrl-C to stop it.\n"
    "Run `verdict mcp install --client claude|cursor|vscode|codex` to set up a host, or `verdict mcp --http` to serve "
    "over HTTP."
)


def serve(
    url: str, environment: Mapping[str, str], *, http: bool, port: int | None, budget: int | None, pay: bool
) -> None:
    """Serve until standard input ends or the process is stopped.

    Args:
        url: The service.
        environment: Environment variables of the process.
        http: Whether to serve over HTTP instead of standard input and output.
        port: The port to listen on over HTTP; None is 8403.
        budget: Byte budget of an answer; None is 24 KB.
        pay: Whether to pay for calls.

    Raises:
        RefusalError: If the options do not work together or one is out of range.
    """
    most_bytes = DEFAULT_BYTES if budget is None else budget
    if most_bytes < LEAST_BYTES:
        raise RefusalError(f"--budget: {budget} bytes are too few for a useful answer. Use at least {LEAST_BYTES}.")
    if http and pay:
        raise RefusalError("--pay is unsafe with --http: any program on this machine could spend the wallet. Use one.")
    if port is not None and not http:
        raise RefusalError("--port has no effect without --http. Add --http, or leave out --port.")
    queue_output("stderr")
    buyer = unattended_buyer(environment, SystemClock(), tell=tell, pause=threading.Event().wait) if pay else None

    def own(_headers: object) -> str | None:
        """The user's credential, read at each call, so that a login takes effect at once."""
        return token_of(environment, url)

    with closing(Gateway(url, bearer if http else own, buyer, most_bytes=most_bytes, over_http=http)) as gateway:
        server = make_server(gateway)
        if http:
            serve_http(server, PORT if port is None else port)
            return
        if sys.stdin.isatty() or sys.stderr.isatty():
            tell(_WAITS)
        # Ctrl-C ends the process at once: the thread that reads standard input cannot be cancelled. Nothing is lost: a
        # payment is stored before it is sent.
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            anyio.run(serve_stdio, server)
        finally:
            signal.signal(signal.SIGINT, before)


def tell(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


async def serve_stdio(server: Server[Any]) -> None:
    """Serve over standard input and output. Other output of this process goes to standard error meanwhile."""

    async def refuse(error: types.JSONRPCError) -> None:
        await write.send(SessionMessage(error))

    lines = _messages(sys.stdin.buffer, refuse)
    async with stdio_server(lines) as (read, write):  # type: ignore[arg-type] # it is iterated, no more
        await server.run(read, write, server.create_initialization_options())


async def _messages(source: BinaryIO, refuse: Callable[[types.JSONRPCError], Awaitable[None]]) -> AsyncIterator[str]:
    """The lines of standard input that are a message. Others are answered with an error, and reading goes on."""

    async def read() -> bytes:
        return await anyio.to_thread.run_sync(source.readline, MOST_BYTES + 1)

    is_first = True
    while line := await read():
        if len(line) > MOST_BYTES and not line.endswith(b"\n"):
            while (rest := await read()) and not rest.endswith(b"\n"):
                pass  # the rest of the line is dropped
            await refuse(jsonrpc_error(types.INVALID_REQUEST, TOO_LONG.format(MOST_BYTES)))
        elif line.strip():
            if (error := message_error(line)) is None:
                yield line.decode()
            else:
                await refuse(error)
        is_first = False
    if is_first:
        tell(f"Standard input ended before a message arrived.\n{_WAITS}")


def serve_http(server: Server[Any], port: int) -> None:
    """Serve over streamable HTTP, each request by itself, on a port of this machine; 0 is any free one.

    Raises:
        RefusalError: If the port is not valid or cannot be used.
    """
    if not 0 <= port <= _LAST_PORT:
        raise RefusalError(f"--port: {port} is not a port. Use a number from 0 (any free port) to {_LAST_PORT}.")
    try:
        listening = socket.create_server((_HERE, port))
    except OSError as error:
        raise RefusalError(f"Port {port} cannot be used: {error.strerror}. Choose another one with --port.") from None
    with listening:
        port = listening.getsockname()[1]
        hosts = [f"{name}:{port}" for name in (_HERE, "localhost")]
        origins = [f"http://{host}" for host in hosts]  # other pages may not call (DNS rebinding)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=MOST_BYTES,
            transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
        )
        config = uvicorn.Config(
            HttpGuard(app, hosts),
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_SHUTDOWN_S,
        )
        tell(f"Serving tools at http://{_HERE}:{port}{PATH} (Ctrl-C stops the server).")
        uvicorn.Server(config).run(sockets=[listening])
