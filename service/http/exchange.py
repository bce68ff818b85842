"""What is known of one request while it goes through the gates: `scope["verdict"]`."""

import secrets
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Final

from starlette.types import Message, Scope, Send

from service.access.caller import Caller
from service.access.devices import Visitor
from service.errors import ServiceError

_PROCESS: Final = secrets.token_hex(5).encode()
_NUMBERS: Final = count(1)


def next_request_id() -> bytes:
    """A request id: unique over processes and restarts, cheap to make."""
    return b"%b%07x" % (_PROCESS, next(_NUMBERS))


class Exchange:
    """One request on its way through the stack.

    Attributes:
        request_id: Ties answer and log lines together.
        headers: The request's headers by lower-case name; the last one where a name repeats.
        raw_path: The path, as it was sent.
        path_params: Values of the path template, percent-decoded.
        caller: Who asks; set by `auth`, None on public routes.
        parameters: Struct of path and query; set by `parameters`.
        body: Struct of the JSON body; set by `body`, None where the route takes none.
        key_hash: SHA-256, hex, of its Idempotency-Key and all that its answer depends on; set by `repeat`.
        network: Keyed hash of the network that a sign-in comes from; set by `network`.
        mark: What the caller's token is remembered by; set by `auth`, None where there is none.
        kept: Whether the answer is kept before it leaves: work on it goes on when its peer is gone.
        paid: Whether a payment stands for the question this route costs: it is not metered then.
        doubt: What the caller is told if the service ends before it is answered, where a payment may be under way.
        counted: Whether the answer costs a question where the route does; cleared by `serve`.
        fields: Response headers that every answer to this request carries, beside its id.
        visitor: Who asks without a token, where the route takes such; set by `guest`.
        payer: Address whose signature a request without a token carries, EIP-55; set by `payer`.
        reserved: The question that is counted with the answer, by whoever keeps that; None: it is counted already.
        route: Name of the route, for counts and logs; `none` where there is none.
        status: Status of the answer once it was begun, 0 before.
    """

    body: object = None
    caller: Caller | None = None
    counted = True
    doubt: ServiceError | None = None
    kept = False
    key_hash: str | None = None
    mark: bytes | None = None
    network: bytes | None = None
    paid = False
    parameters: object = None
    path_params: Mapping[str, str] = {}
    payer: str | None = None
    reserved: int | None = None
    route = "none"
    status = 0
    visitor: Visitor | None = None

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self.request_id = next_request_id()
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])
        self.raw_path: bytes = scope["raw_path"]
        self.fields: list[tuple[bytes, bytes]] = []

    def again(self, headers: Mapping[bytes, bytes] | None = None) -> "Exchange":
        """A new exchange about the same head: it knows what the head alone says.

        Args:
            headers: In place of the head's.
        """
        new = Exchange.__new__(Exchange)
        new.request_id = next_request_id()
        new.headers = self.headers if headers is None else headers
        new.raw_path = self.raw_path
        new.parameters = self.parameters
        new.mark = self.mark
        new.route = self.route
        new.fields = [*self.fields]
        return new

    def renew(self, fields: Iterable[tuple[bytes, bytes]]) -> None:
        """Become the exchange of the next request with the same head, now that its last one is answered.

        Args:
            fields: As the head alone has them.
        """
        self.request_id = next_request_id()
        self.fields = [*fields]
        self.caller = None
        self.status = 0

    @property
    def known_caller(self) -> Caller:
        """The caller, at a gate that stands behind auth.

        Raises:
            RuntimeError: If it does not: a defect of the stack, and nothing is given away by it.
        """
        if self.caller is None:
            raise RuntimeError("this gate stands behind auth")
        return self.caller

    async def send(self, message: Message) -> None:
        """Pass a message on, with the exchange's own fields in the head."""
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self.request_id), *self.fields]
            await self._send(message)
            self.status = message["status"]
        else:
            await self._send(message)
