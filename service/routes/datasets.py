"""Real-world assets, watched wallets and transcripts."""

from service.routes.call import Call
from service.rwa.service import RwaService
from service.transcripts.service import TranscriptService
from service.wallets.service import WalletService
from service.wire.envelope import Answer
from service.wire.rwa import OfRwaId, OfRwaSymbol, RwaAssetsQuery
from service.wire.transcripts import TranscriptsQuery
from service.wire.wallets import WalletsQuery


def rwa_symbol(rwa: RwaService, call: Call[OfRwaSymbol, None]) -> Answer:
    """GET /api/cli/rwa/{symbol}.

    Raises:
        ServiceError: UNKNOWN_SYMBOL with candidates; UPSTREAM_4XX or UPSTREAM_5XX while there is no data.
    """
    return rwa.symbol(call.parameters.symbol)


def rwa_asset(rwa: RwaService, call: Call[OfRwaId, None]) -> Answer:
    """GET /api/cli/rwa/asset/{id}.

    Raises:
        ServiceError: As `rwa_symbol`.
    """
    return rwa.symbol(call.parameters.id)


def rwa_assets(rwa: RwaService, call: Call[RwaAssetsQuery, None]) -> Answer:
    """GET /api/cli/rwa/assets. `dex` has one accepted value, which the parameter gate has checked.

    Raises:
        ServiceError: UPSTREAM_4XX or UPSTREAM_5XX while there is no data.
    """
    return rwa.assets(call.parameters.type, call.parameters.top)


async def wallets(service: WalletService, call: Call[WalletsQuery, None]) -> Answer:
    """GET /api/cli/wallets.

    Read the watchlist, or a page of movements, from the store.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; NOT_FOUND for an address that is not watched; UPSTREAM_4XX, UPSTREAM_5XX
            or UNAVAILABLE while there is no data.
    """
    return await service.wallets(call.parameters)


async def transcripts(service: TranscriptService, call: Call[TranscriptsQuery, None]) -> Answer:
    """GET /api/cli/transcripts.

    Read a page of highlights, or the sources, from the store.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; UNKNOWN_SYMBOL, UNKNOWN_CATEGORY or NOT_FOUND (a source) with
            candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE while there is no data.
    """
    return await service.transcripts(call.parameters)
