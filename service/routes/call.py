"""What a route function gets, and the kinds of routes."""

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
    """One decoded request.

    Attributes:
        parameters: Path and query.
        body: JSON body; None if the route takes none.
        caller: The authenticated caller; None without a token.
        payer: Address (EIP-55) whose signature came with a request without a token.
        network: Keyed hash of the client's network, on the sign-in route.
    """

    parameters: P
    body: B
    caller: Caller | None
    payer: str | None = None
    network: bytes | None = None

    def known_caller(self) -> Caller:
        """The caller of a route behind the authentication gate.

        Raises:
            ServiceError: AUTH_REQUIRED if that gate is missing.
        """
        if self.caller is None:
            raise ServiceError("AUTH_REQUIRED", "This route needs a token. Run `verdict login`.")
        return self.caller

    def known_network(self) -> bytes:
        """The network of a route behind the network gate.

        Raises:
            RuntimeError: If that gate is missing.
        """
        if self.network is None:
            raise RuntimeError("This route must stand behind the network gate.")
        return self.network


class WaitingRoute(Struct, frozen=True):
    """A route that waits for something before it can answer.

    Attributes:
        run: Answers.
        known: Takes the parameters and raises what can be refused without waiting (an unknown symbol), so that no
            question is reserved for such a call.
    """

    run: Callable[[Call[Any, Any]], Coroutine[object, object, Answer]]
    known: Callable[[Any], object]

    def __call__(self, call: Call[Any, Any]) -> Coroutine[object, object, Answer]:
        """Answer."""
        return self.run(call)


class PendingAnswer(Protocol):
    """The answer to a question, of which enough is known to begin sending it."""

    @property
    def counted(self) -> bool:
        """Whether it costs a question."""

    def events(self) -> AsyncIterator[Event]:
        """Its parts in order, as they are found. Iterate once.

        Raises:
            ServiceError: If it cannot be finished.
        """

    async def close(self) -> None:
        """Cancel what is still running."""


class QuestionRoute(Struct, frozen=True):
    """A route that answers piece by piece. `ask` raises failures of the whole question, before anything is sent."""

    ask: Callable[[Call[Any, Question]], Coroutine[object, object, PendingAnswer]]


class OpenStream(Protocol):
    """A stream as one reader gets it."""

    @property
    def ended(self) -> bool:
        """Whether its last line was taken."""

    def take(self) -> bytes:
        """The waiting lines, whole ones; empty if there are none. The last ones once it is ended."""

    async def wait(self) -> None:
        """Wait until there is something to take."""

    def end(self, reason: Ending, error: ErrorBody | None = None) -> None:
        """End it with a reason; the first reason counts."""

    def close(self) -> None:
        """Leave the stream."""


class StreamRoute(Struct, frozen=True):
    """A route that is followed line by line, for as long as its caller likes.

    Attributes:
        known: Takes the parameters and raises what the route refuses of them, before anything is counted.
        join: Joins the stream; raises nothing after `known`.
    """

    known: Callable[[Any], object]
    join: Callable[[Call[Any, Any]], OpenStream]


Endpoint = Callable[[Call[Any, Any]], Answer | Coroutine[object, object, Answer]]
"""A bound route function. A plain `def` answers from memory; an `async def` or a `WaitingRoute` has to wait."""

Bound = Endpoint | QuestionRoute | StreamRoute
"""What answers an offer."""
