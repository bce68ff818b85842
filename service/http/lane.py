"""The short way: a route that answers from memory, through the same gates, without a task, a coroutine or a message.

An ASGI stack costs a task and a chain of coroutines a request, and they are most of what a metered answer costs. A GET
whose gates have nothing to wait for needs none of them: the gates' own checks are called one after the other, the route
function runs, and the connection writes head and body when the meter says that they are counted; a caller whose quota
is known to be spent gets the route's refusal in their place, where the route has anything to sell. Whatever has to wait
(a token not known by heart, a payment) goes through the stack, which is built of the same gates.

A gate's `read` judges what the head of a request says, and says the same of the same head; its `check` what is so now.
"""

from collections.abc import Callable

from msgspec import Struct
from starlette.types import ASGIApp, Scope

from service.http.exchange import Exchange
from service.http.gates.auth import Auth
from service.http.gates.meter import Metered
from service.http.gates.parameters import Parameters
from service.http.gates.pay import Pay
from service.http.gates.rate import Rate
from service.http.serve import Serve

Step = Callable[[Scope, Exchange], bool]


class Lane(Struct, frozen=True):
    """What a route's gates do, its meter if it is counted, and its end.

    Attributes:
        every: Each `read` and `check` in their order.
        checks: The checks alone: all there is to do for a head whose reading is known.
        metered: Counts.
        serve: Answers.
    """

    every: tuple[Step, ...]
    checks: tuple[Step, ...]
    metered: Metered | None
    serve: Serve


def lane_of(stack: ASGIApp) -> Lane | None:
    """Read the short way off a stack; none where it has gates of another kind, or its route has to wait."""
    every: list[Step] = []
    checks: list[Step] = []
    while isinstance(stack, Auth | Rate | Parameters | Pay):
        if isinstance(stack, Pay):
            # A payment takes waiting, and is looked for before anything is counted that the stack will count again.
            every.insert(0, stack.read)
        else:
            if not isinstance(stack, Rate):
                every.append(stack.read)
            every.append(stack.check)
            checks.append(stack.check)
        stack = stack.app
    metered = stack if isinstance(stack, Metered) else None
    serve = stack.app if isinstance(stack, Metered) else stack
    if not isinstance(serve, Serve) or serve.waits:
        return None
    return Lane(tuple(every), tuple(checks), metered, serve)
