"""GET /api/cli/signal-quality: the out-of-sample record of one strategy on one coin, or the record of verdicts."""

from service.routes.call import Call
from service.verdict.desk import VerdictDesk
from service.walkforward.desk import WalkforwardDesk
from service.wire.envelope import Answer
from service.wire.queries import SignalQualityQuery


async def signal_quality(
    walkforward: WalkforwardDesk, verdict: VerdictDesk, call: Call[SignalQualityQuery, None]
) -> Answer:
    """Judge a strategy's closed trades of one coin, or count how verdicts turned out.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UNAVAILABLE if the store fails. For verdicts also UPSTREAM_4XX or
            UPSTREAM_5XX while no coin is known.
    """
    asked = call.parameters
    if asked.signal_type == "verdict":
        return await verdict.quality(asked.asset)
    return await walkforward.signal_quality(asked.asset, asked.signal_type)
