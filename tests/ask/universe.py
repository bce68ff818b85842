"""Everything the fixtures name, without serving them: what a reader of questions knows."""

from functools import cache

from fixtures.assets import ASSETS
from fixtures.coins import CATEGORIES, COINS, DELISTED
from service.ask.glossary import TERMS
from service.ask.parser.names import NameIndex
from service.ask.parser.parse import Names, Parser
from service.market.symbols import CoinDirectory, CoinListing, canonical


def directory() -> CoinDirectory:
    return CoinDirectory(
        CoinListing(coin.name, canonical(coin.name), coin.title, listed=coin in COINS) for coin in (*COINS, *DELISTED)
    )


@cache
def known() -> NameIndex:
    return NameIndex(directory(), {asset.name: asset.title for asset in ASSETS}, tuple(CATEGORIES.values()))


@cache
def parser() -> Parser:
    """A parser of all that, without watched wallets and shows."""
    terms: dict[str, str] = {}
    for key, term in TERMS.items():
        for name in (key.replace("-", " "), term.title.lower(), *term.synonyms):
            terms.setdefault(name, key)
    return Parser(Names(known(), {}, {}, terms))
