"""GET /api/cli/regime: the market's regime, the positions that follow it, why they turned, how they went."""

from service.market.conclusions.regime_desk import RegimeDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import RegimeQuery


def regime(regimes: RegimeDesk, call: Call[RegimeQuery, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE where nothing can be
            said.
    """
    return regimes.regime(call.parameters.action, call.parameters.symbol)
