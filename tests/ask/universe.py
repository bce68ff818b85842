"""Everything the fixtures name, without serving them: what a reader of questions knows."""

from functools import cache

from fixtures.assets import ASSETS
from fixtures.coins import CATEGORIES, COINS, DELISTED
from service.ask.parser.known import Known
from service.market.symbols import Directory, Listing, canonical


def directory() -> Directory:
    return Directory(
        Listing(coin.name, canonical(coin.name), coin.title, listed=coin in COINS) for coin in (*COINS, *DELISTED)
    )


@cache
def known() -> Known:
    return Known(directory(), {asset.name: asset.title for asset in ASSETS}, tuple(CATEGORIES.values()))
