"""GET /api/cli/coins: all coins and all measures in one table."""

from service.routes.call import Call
from service.table.coins import CoinTable
from service.wire.coins import CoinsQuery
from service.wire.envelope import Answer


def coins(table: CoinTable, call: Call[CoinsQuery, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_SYMBOL or UNKNOWN_CATEGORY with candidates; BAD_REQUEST for `cursor`; UPSTREAM_4XX,
            UPSTREAM_5XX or UNAVAILABLE where nothing is known.
    """
    return table.coins(call.parameters)
