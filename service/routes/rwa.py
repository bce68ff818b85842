"""GET /api/cli/rwa/symbol/{symbol} and /api/cli/rwa/assets: real-world assets as their perpetuals trade."""

from service.routes.call import Call
from service.rwa.desk import RwaDesk
from service.wire.envelope import Answer
from service.wire.rwa import OfRwaSymbol, RwaAssetsQuery


def symbol(rwa: RwaDesk, call: Call[OfRwaSymbol, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX or UPSTREAM_5XX where nothing can be said.
    """
    return rwa.symbol(call.parameters.symbol)


def assets(rwa: RwaDesk, call: Call[RwaAssetsQuery, None]) -> Answer:
    """Answer from memory. `dex` has been checked: the one that is read is all there is.

    Raises:
        ServiceError: UPSTREAM_4XX or UPSTREAM_5XX where no listing is known.
    """
    return rwa.assets(call.parameters.type, call.parameters.top)
