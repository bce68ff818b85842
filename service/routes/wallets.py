"""GET /api/cli/wallets: who is watched on the chain, and what moved."""

from service.routes.call import Call
from service.wallets.desk import WalletDesk
from service.wire.envelope import Answer
from service.wire.wallets import WalletsQuery


async def wallets(desk: WalletDesk, call: Call[WalletsQuery, None]) -> Answer:
    """Read the watchlist, or a page of movements, from the store.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; NOT_FOUND for an address that is not watched; UPSTREAM_4XX, UPSTREAM_5XX
            or UNAVAILABLE where nothing can be said.
    """
    return await desk.wallets(call.parameters)
