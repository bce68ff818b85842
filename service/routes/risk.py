"""GET /api/cli/coin/risk/{symbol}: the bundled risk context of one asset."""

from service.market.desk import MarketDesk
from service.routes.call import Call
from service.sentiment.desk import SentimentDesk
from service.wire.envelope import Answer
from service.wire.queries import OfSymbol


def risk(market: MarketDesk, sentiment: SentimentDesk, call: Call[OfSymbol, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX or UPSTREAM_5XX where nothing can be said.
    """
    return market.risk(call.parameters.symbol, sentiment.mood)
