"""What a route function is given."""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from service.access.caller import Caller
from service.errors import ServiceError
from service.wire.ask import Event, Question
from service.wire.envelope import Answer, ErrorBody
from service.wire.streams import Ending

P = TypeVar("P")
B = TypeVar("B")


class Call(Struct, Generic[P, B], frozen=True):
    """One decoded request: typed parameters, typed body (`None` where the route takes none), the caller if known.

    `payer` is the address (EIP-55) whose signature came with a request without a token.
    `network` is a keyed hash of the network that it came from, on the route that signs in.
    """

    parameters: P
    body: B
    caller: Caller | None
    payer: str | None = None
    network: bytes | None = None

    def known_caller(self) -> Caller:
        """The caller of a route that its gate opens to known callers only.

        Raises:
            ServiceError: AUTH_REQUIRED, should a gate ever be missing: better shut than open.
        """
        if self.caller is None:
            raise ServiceError("AUTH_REQUIRED", "this route needs a token: run `verdict login`")
        return self.caller

    def known_network(self) -> bytes:
        """The network of a route that has the gate for it.

        Raises:
            RuntimeError: If it has none: a defect of the stack, and no account is made by it.
        """
        if self.network is None:
            raise RuntimeError("this route needs the gate of the network")
        return self.network


class Waiting(Struct, frozen=True):
    """A route that waits for something, and what it can refuse before: no question is set aside for such a call.

    `known` is given the parameters and raises what the route would answer from memory (an unknown symbol).
    """

    run: Callable[[Call[Any, Any]], Coroutine[object, object, Answer]]
    known: Callable[[Any], object]

    def __call__(self, call: Call[Any, Any]) -> Coroutine[object, object, Answer]:
        """Answer."""
        return self.run(call)


class Inquiry(Protocol):
    """An answer under way: enough of it is known to begin telling it, and to say what it costs."""

    @property
    def counted(self) -> bool:
        """Whether it costs a question."""

    def events(self) -> AsyncIterator[Event]:
        """What it is made of, in their order, as it is found out; to be read once.

        Raises:
            ServiceError: If it cannot be finished.
        """

    async def close(self) -> None:
        """End what is still under way."""


class Asking(Struct, frozen=True):
    """A route that answers piece by piece. What fails as a whole is raised by `ask`, before anything has left."""

    ask: Callable[[Call[Any, Question]], Coroutine[object, object, Inquiry]]


class Following(Protocol):
    """A stream under way, as one reader gets it."""

    @property
    def ended(self) -> bool:
        """Whether its last line was taken."""

    def take(self) -> bytes:
        """The lines that wait, whole ones; none is empty bytes. Once it is ended: its last ones."""

    async def wait(self) -> None:
        """Wait until there is something to take."""

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """Say why no more is sent; the first reason counts."""

    def close(self) -> None:
        """Leave: nobody reads it any more."""


class Watching(Struct, frozen=True):
    """A route that is followed line by line for as long as its caller likes.

    `known` is given the parameters and raises what the route refuses of them, before anything is counted; `join` raises
    nothing then.
    """

    known: Callable[[Any], object]
    join: Callable[[Call[Any, Any]], Following]


Endpoint = Callable[[Call[Any, Any]], Answer | Coroutine[object, object, Answer]]
"""A bound route function. A plain `def` answers from memory; an `async def` or a `Waiting` has to wait."""

Bound = Endpoint | Asking | Watching
"""What answers an offer."""
