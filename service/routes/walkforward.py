"""GET /api/cli/walkforward: what strategies would have done on days they had never seen."""

from service.routes.call import Call
from service.walkforward.desk import WalkforwardDesk
from service.wire.envelope import Answer
from service.wire.queries import WalkforwardQuery


async def walkforward(desk: WalkforwardDesk, call: Call[WalkforwardQuery, None]) -> Answer:
    """Read a page of the last run's records.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; UNKNOWN_SYMBOL with candidates; UNAVAILABLE if the store fails.
    """
    return await desk.walkforward(call.parameters)
