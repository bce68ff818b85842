"""The short way: a route that answers from memory, through the same gates, without a task, a coroutine or a message.

An ASGI stack costs a task and a chain of coroutines a request, and they are most of what a metered answer costs. A GET
whose gates have nothing to wait for needs none of them: the gates' own checks are called one after the other, the route
function runs, and the connection writes head and body when the meter says that they are counted; a caller whose quota
is known to be spent gets the route's refusal in their place, where the route has anything to sell. Whatever has to wait
(a token not known by heart, a payment) goes through the stack, which is built of the same gates.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from starlette.types import ASGIApp, Message, Scope

from service.access.standing import Decision, Standing
from service.http.exchange import Exchange
from service.http.gates.auth import Auth
from service.http.gates.meter import Metered
from service.http.gates.parameters import Parameters
from service.http.gates.pay import Pay
from service.http.gates.rate import Rate
from service.http.serve import Serve

Check = Callable[[Scope, Exchange], bool]


class Lane(Struct, frozen=True):
    """The checks of a route's gates, its meter if it is counted, and its end."""

    checks: tuple[Check, ...]
    metered: Metered | None
    serve: Serve


def lane_of(stack: ASGIApp) -> Lane | None:
    """Read the short way off a stack; none where it has gates of another kind, or its route has to wait."""
    checks: list[Check] = []
    while isinstance(stack, Auth | Rate | Parameters | Pay):
        # A payment takes waiting, and is looked for before anything is counted that the stack will count again.
        checks.insert(0 if isinstance(stack, Pay) else len(checks), stack.check)
        stack = stack.app
    metered = stack if isinstance(stack, Metered) else None
    serve = stack.app if isinstance(stack, Metered) else stack
    if not isinstance(serve, Serve) or serve.waits:
        return None
    return Lane(tuple(checks), metered, serve)


class Giver(Protocol):
    """Who gives an answer, or says why there is none."""

    def give(self, head: Message, body: bytes) -> None:
        """Write the answer."""

    def fail(self, error: BaseException) -> None:
        """Answer with a failure."""

    def refuse(self, metered: Metered, standing: Standing) -> None:
        """Answer that the quota is spent."""

    def gone(self) -> bool:
        """Whether nobody waits for it any more."""


class Charge:
    """An answer that waits to be counted; has the part of a future that the meter uses."""

    __slots__ = ("_body", "_exchange", "_giver", "_head", "_metered")

    def __init__(self, metered: Metered, exchange: Exchange, giver: Giver, head: Message, body: bytes) -> None:
        self._metered = metered
        self._exchange = exchange
        self._giver = giver
        self._head = head
        self._body = body

    def done(self) -> bool:
        """Whether the peer has left: its question is given back."""
        return self._giver.gone()

    def set_result(self, decision: Decision) -> None:
        """Answer, if it is counted."""
        if self._metered.settle(self._exchange, decision, self._head):
            self._giver.give(self._head, self._body)
        else:
            self._giver.refuse(self._metered, decision.standing)

    def set_exception(self, error: BaseException) -> None:
        """Answer that it could not be counted."""
        self._giver.fail(error)
