"""GET /api/cli/signal-quality: the out-of-sample record of one strategy on one coin."""

from service.routes.call import Call
from service.walkforward.desk import WalkforwardDesk
from service.wire.envelope import Answer
from service.wire.queries import SignalQualityQuery


async def signal_quality(desk: WalkforwardDesk, call: Call[SignalQualityQuery, None]) -> Answer:
    """Judge a strategy's closed trades of one coin.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UNAVAILABLE if the store fails.
    """
    return await desk.signal_quality(call.parameters)
