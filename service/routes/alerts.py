"""GET /api/cli/funding/alerts: when funding was out of the ordinary."""

from service.market.alerts.desk import AlertDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import AlertsQuery


async def alerts(desk: AlertDesk, call: Call[AlertsQuery, None]) -> Answer:
    """Read a page of events from the store.

    Raises:
        ServiceError: BAD_REQUEST for `since` or `cursor`; UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or
            UNAVAILABLE where nothing can be said.
    """
    return await desk.alerts(call.parameters)
