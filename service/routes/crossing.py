"""GET /api/cli/market/crossing: when UP and DOWN changed places."""

from service.market.conclusions.breadth_desk import BreadthDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import NoParameters


def crossing(breadth: BreadthDesk, _: Call[NoParameters, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE where nothing can be said.
    """
    return breadth.crossing()
