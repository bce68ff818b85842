"""GET /api/cli/signal/{symbol}: a verdict on one asset, everything it rests on, and how verdicts like it turned out."""

from service.routes.call import Call
from service.verdict.desk import VerdictDesk
from service.wire.envelope import Answer
from service.wire.queries import SignalQuery


async def signal(desk: VerdictDesk, call: Call[SignalQuery, None]) -> Answer:
    """Judge what is known now, or was known then; not counted where evidence is insufficient.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; BAD_REQUEST or NOT_FOUND for `as_of`; UPSTREAM_4XX, UPSTREAM_5XX
            or UNAVAILABLE where no coin is known, or nothing can be written down.
    """
    return await desk.signal(call.parameters.symbol, call.parameters.as_of)
