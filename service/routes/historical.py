"""GET /api/cli/coin/historical/{symbol}: a coin some hours or days ago, now, and between."""

from service.market.historical import HistoricalDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import HistoricalQuery


async def historical(desk: HistoricalDesk, call: Call[HistoricalQuery, None]) -> Answer:
    """Read a coin's past from the store.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE where there are no bars.
    """
    return await desk.historical(call.parameters)
