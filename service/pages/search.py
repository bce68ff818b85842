"""The page `/search`: the coins whose ticker or name a text fits; a text that names one coin leads to its page."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from service.errors import ServiceError
from service.pages.coins import TITLES, table_row
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage
from service.pages.snapshot import MOST_COINS
from service.wire.coins import CoinRow, Coins

MOST_FOUND: Final = 30
_LONGEST: Final = 200
_SEE_OTHER: Final = 303


class SearchPage:
    """Finds coins.

    Args:
        dependencies: What it reads.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, _segment: str, query: Mapping[str, str]) -> HtmlPage:
        """Show the coins that fit `q`, at most 30, or lead to the only one.

        Raises:
            ServiceError: As the route of the coin table; BAD_REQUEST for a text of more than 200 characters.
        """
        text = query.get("q", "").strip()
        if len(text) > _LONGEST:
            raise ServiceError(
                "BAD_REQUEST", f"The search text has more than {_LONGEST} characters.", details={"parameter": "q"}
            )
        table = await self._dependencies.routes.ask("coins", Coins, limit=MOST_COINS)
        found = _fitting(table.data.coins, text.casefold())
        if text and (len(found) == 1 or (found and found[0].symbol.casefold() == text.casefold())):
            where = f"/coin/{quote(found[0].symbol, safe='')}"
            return HtmlPage(b"", _SEE_OTHER, location=where.encode())
        return self._dependencies.templates.page(
            "search.html",
            text=text,
            columns=TITLES,
            rows=[table_row(coin) for coin in found],
            as_of_ms=table.as_of_ms,
            now_ms=self._dependencies.clock.now_ms(),
        )


def _fitting(coins: Sequence[CoinRow], text: str) -> Sequence[CoinRow]:
    """Coins in whose ticker or name a text stands: the ticker itself first, then beginnings, then by rank."""

    def place(coin: CoinRow) -> tuple[bool, bool]:
        symbol, name = coin.symbol.casefold(), (coin.name or "").casefold()
        return symbol != text, not (symbol.startswith(text) or name.startswith(text))

    fits = [coin for coin in coins if text in coin.symbol.casefold() or text in (coin.name or "").casefold()]
    return sorted(fits, key=place)[:MOST_FOUND]
