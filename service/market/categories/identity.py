"""Which of CoinGecko's coins is the venue's: many share a ticker, so the price has to agree too. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from service.market.observed import CoinView
from service.market.sources.coingecko import GeckoCoin
from service.market.symbols import unit_of

AGREEING: Final = 0.10
"""Two prices of the same coin differ by less, as a part of the venue's."""

EQUAL: Final = 0.02
"""Nearly always by less than this: perpetual and cash seldom part by more than 0.01. Namesakes seldom come so near."""

PARTED: Final = 0.30
"""By more than this the prices of one coin never differ, however fast it moves between two looks."""


def wanted_tickers(coins: Iterable[CoinView]) -> frozenset[str]:
    """CoinGecko's tickers, upper case, of the venue's coins: `PEPE` of `kPEPE`."""
    return frozenset(unit_of(coin.venue_symbol)[0] for coin in coins)


def identify(
    coins: Iterable[CoinView],
    seen: Sequence[GeckoCoin],
    known: Mapping[str, GeckoCoin],
) -> dict[str, GeckoCoin]:
    """Tell which of CoinGecko's coins each of the venue's is.

    Same ticker, and a price within 10 % of the venue's, thousands counted; those within 2 % before others; of several
    (what wraps a coin has its price) the one with the largest market cap. Who was known keeps its place while its price
    stays within 30 %, so that a jump between two looks unmaps nothing. Only one within 2 % can take it: a namesake that
    drifts past does not.

    Args:
        coins: The venue's, as they stand now.
        seen: What CoinGecko has just shown; it need not be everything.
        known: Ticker of the venue → the coin it was, as last seen.

    Returns:
        Ticker of the venue → the coin it is. Who is not among them is nobody CoinGecko knows, or nobody we can tell.
    """
    by_ticker: dict[str, list[GeckoCoin]] = {}
    for row in seen:
        by_ticker.setdefault(row.ticker, []).append(row)
    found: dict[str, GeckoCoin] = {}
    for coin in coins:
        ticker, units = unit_of(coin.venue_symbol)
        chosen = _choose(coin.price, units, by_ticker.get(ticker, []), known.get(coin.symbol))
        if chosen is not None:
            found[coin.symbol] = chosen
    return found


def _choose(price: float | None, units: int, seen: Sequence[GeckoCoin], known: GeckoCoin | None) -> GeckoCoin | None:
    shown = next((row for row in seen if known is not None and row.id == known.id), None)
    held = shown or known
    if price is None:
        return held
    if shown is not None and shown.price is not None and _apart(price, units, shown) > PARTED:
        held = None
    claims = [row for row in seen if _apart(price, units, row) <= EQUAL]
    if held is None:
        claims = claims or [row for row in seen if _apart(price, units, row) <= AGREEING]
    elif shown is None:
        claims.append(held)
    return max(claims, key=lambda row: row.market_cap or 0.0, default=held)


def _apart(price: float, units: int, row: GeckoCoin) -> float:
    """How far CoinGecko's price is from the venue's, as a part of the latter; unknown prices are as far as can be."""
    return 1.0 if row.price is None else abs(row.price * units / price - 1)
