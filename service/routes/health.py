"""GET /api/cli/market/health: how many coins go which way, and what that means."""

from service.market.conclusions.breadth_desk import BreadthDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import HealthQuery


def health(breadth: BreadthDesk, call: Call[HealthQuery, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE where nothing can be said.
    """
    return breadth.health(call.parameters.context)
