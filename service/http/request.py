"""The state of one request while it passes the gates: `scope["verdict"]`."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from typing import Final, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.anonymous import AnonymousCaller
from service.access.caller import Caller
from service.errors import ServiceError
from service.http.response import HeaderFields

DELIVERY: Final = "verdict.delivery"
"""Name of the ASGI extension by which our connection offers a `Delivery`."""

_PROCESS: Final = secrets.token_hex(5).encode()
_NUMBERS: Final = count(1)


def next_request_id() -> bytes:
    """A request id: unique over processes and restarts, cheap to make."""
    return b"%b%07x" % (_PROCESS, next(_NUMBERS))


class PeerGoneError(Exception):
    """The peer left before its request was read or answered."""


class Delivery:
    """Callbacks of one response, called by its writer.

    Attributes:
        before_write: Called once, directly before the first bytes are written.
        last_piece: Set for a stream without an end; returns its last bytes when its reader takes nothing.
    """

    __slots__ = ("before_write", "last_piece")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the callbacks: another response is sent."""
        self.before_write: Callable[[], None] | None = None
        self.last_piece: Callable[[], bytes] | None = None


class RequestContext:
    """One request on its way through the gates.

    Attributes:
        scope: The ASGI scope.
        request_id: Ties response and log lines together.
        headers: The request's headers by lower-case name; the last one where a name repeats.
        raw_path: The path, as it was sent.
        path_params: Values of the path template, percent-decoded.
        route: Name of the route, for metrics and logs; `none` if no route matches.
        rest: What the request has left to pass, if the fast path stopped: a gate that has to wait, or a route.
        token_digest: Digest of the caller's token; None without a token.
        caller: Set by the authentication gate; None without a token and on public routes.
        parameters: Decoded path and query.
        body: Decoded JSON body; None if the route takes none.
        key_hash: SHA-256 (hex) of the Idempotency-Key and everything that its response depends on.
        network: Keyed hash of the client's network, on the sign-in route.
        payer: EIP-55 address that signed a request without a token.
        buffered: Whether the response is stored before it is sent: work goes on after the peer has left.
        paid: Whether a payment covers the request: the quota is not charged.
        counted: Whether the response costs a question; set by the endpoint.
        reserved: Event of the question to commit together with the stored response.
        doubt: The failure to send if the service stops while a payment may be under way.
        response_headers: Headers that every response to this request carries, beside its id.
        delivery: Callbacks of the response.
        device: The device of a request without a token.
        status: Status of the response once it was begun, 0 before.
    """

    body: object = None
    buffered = False
    caller: Caller | None = None
    counted = True
    doubt: ServiceError | None = None
    key_hash: str | None = None
    network: bytes | None = None
    paid = False
    parameters: object = None
    path_params: Mapping[str, str] = {}
    payer: str | None = None
    receive: Receive
    reserved: int | None = None
    rest: ASGIApp
    route = "none"
    status = 0
    token_digest: bytes | None = None
    device: AnonymousCaller | None = None
    _body: bytes | None = None
    _is_written_here = False

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.request_id = next_request_id()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.raw_path: bytes = scope["raw_path"]
        self.response_headers: HeaderFields = []

    def connect(self, receive: Receive, send: Send) -> None:
        """Take the ASGI channels. A server without the delivery extension gets its callbacks called by `send`."""
        self.receive = receive
        self._send = send
        delivery: Delivery | None = self.scope.get("extensions", {}).get(DELIVERY)
        self._is_written_here = delivery is None
        self.delivery = delivery or Delivery()

    def restart(self, headers: int) -> None:
        """Become the next request of the same connection with the same bytes, once the last one is answered.

        Args:
            headers: How many of `response_headers` follow from the request's head alone.
        """
        self.request_id = next_request_id()
        del self.response_headers[headers:]
        self.caller = None
        self.status = 0

    @property
    def known_caller(self) -> Caller:
        """The caller, at a gate behind the authentication gate.

        Raises:
            RuntimeError: If there is none: a defect of the stack; the request is refused.
        """
        if self.caller is None:
            raise RuntimeError("This gate must stand behind the authentication gate.")
        return self.caller

    @property
    def target(self) -> bytes:
        """Path and query, as they were sent."""
        query = self.scope["query_string"]
        path = self.raw_path.partition(b"?")[0]
        return path + b"?" + query if query else path

    def url(self, public_url: str | None) -> str:
        """The absolute URL of the request, under the service's public URL if it has one."""
        base = public_url or f"{self.scope['scheme']}://{self.headers.get(b'host', b'').decode('latin-1')}"
        return base + self.target.decode("latin-1")

    async def read_body(self) -> bytes:
        """Read the body to its end, once; the connection bounds its size.

        Raises:
            PeerGoneError: If the peer left.
        """
        if self._body is None:
            parts: list[bytes] = []
            more = True
            while more:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise PeerGoneError
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
            self._body = b"".join(parts)
        return self._body

    async def send(self, message: Message) -> None:
        """Pass a message on, with the request's own headers in the head."""
        if message["type"] == "http.response.start":
            own = (b"x-request-id", self.request_id)
            message["headers"] = [*message.get("headers", ()), own, *self.response_headers]
            await self._send(message)
            self.status = message["status"]
            return
        callback = self.delivery.before_write
        if self._is_written_here and callback is not None:
            self.delivery.before_write = None
            callback()
        await self._send(message)


async def run_until_disconnect(receive: Receive, work: Coroutine[object, object, None]) -> None:
    """Await the work; cancel it if the peer leaves first.

    The work has no task of its own: a thousand streams would take three megabytes more.

    Args:
        receive: The ASGI channel; the request's body has been read.
        work: The work.

    Raises:
        PeerGoneError: If the peer left.
    """
    watch = _Watch(cast("asyncio.Task[object]", asyncio.current_task()))
    leaving = asyncio.get_running_loop().create_task(_left(receive))
    leaving.add_done_callback(watch.leave)
    try:
        await work
    except asyncio.CancelledError:
        if watch.has_seen_it_leave():
            raise PeerGoneError from None
        raise
    finally:
        watch.over = True
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


class _Watch:
    """Cancels a task once, when the peer leaves before the work is over."""

    def __init__(self, working: asyncio.Task[object]) -> None:
        self.over = False
        self._working = working
        self._gone = False

    def leave(self, _: asyncio.Task[None]) -> None:
        if not self.over:
            self._gone = self._working.cancel()

    def has_seen_it_leave(self) -> bool:
        """Whether that alone is why the task was cancelled; it is not, then, any more."""
        return self._gone and self._working.uncancel() == 0


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
