"""Verdicts, their quality, and walk-forward tests of strategies."""

from service.routes.call import Call
from service.verdict.service import VerdictService
from service.walkforward.service import WalkforwardService
from service.wire.envelope import Answer
from service.wire.queries import SignalQualityQuery, SignalQuery, WalkforwardQuery


async def signal(service: VerdictService, call: Call[SignalQuery, None]) -> Answer:
    """GET /api/cli/signal/{symbol}.

    The verdict on what is known now, or was known at `as_of`. Not counted if the evidence is insufficient.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; BAD_REQUEST or NOT_FOUND for `as_of`; UPSTREAM_4XX, UPSTREAM_5XX
            or UNAVAILABLE while there is no data, or if the verdict cannot be stored.
    """
    return await service.signal(call.parameters)


async def signal_quality(
    walkforward: WalkforwardService, verdict: VerdictService, call: Call[SignalQualityQuery, None]
) -> Answer:
    """GET /api/cli/signal-quality.

    Statistics of a strategy's closed trades of one coin, or outcomes of verdicts.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UNAVAILABLE if the store fails. For verdicts also UPSTREAM_4XX or
            UPSTREAM_5XX while no coin is known.
    """
    asked = call.parameters
    if asked.signal_type == "verdict":
        return await verdict.quality(asked.asset)
    return await walkforward.signal_quality(asked.asset, asked.signal_type)


async def walkforward(service: WalkforwardService, call: Call[WalkforwardQuery, None]) -> Answer:
    """GET /api/cli/walkforward.

    Read a page of the last run's records.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; UNKNOWN_SYMBOL with candidates; UNAVAILABLE if the store fails.
    """
    return await service.walkforward(call.parameters)
