"""Tickers: how a caller's spelling finds a coin, and what to suggest where it finds none."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from service.units import Symbol

MOST_CANDIDATES: Final = 5
_LIKENESS: Final = 0.5


def canonical(venue_symbol: str) -> Symbol:
    """The public ticker of a venue's symbol: `kPEPE` is `KPEPE`."""
    return Symbol(venue_symbol.upper())


def closest(symbol: str, known: Iterable[str]) -> list[str]:
    """The tickers a caller may have meant.

    Args:
        symbol: What was asked for, upper case.
        known: Canonical tickers.

    Returns:
        At most five, the most likely first: those that begin with it, those that hold it, then those like it, same
        first letter first.
    """
    tickers = sorted(known)
    holding = sorted((ticker for ticker in tickers if symbol in ticker), key=lambda ticker: ticker.find(symbol))
    alike = get_close_matches(symbol, tickers, n=MOST_CANDIDATES, cutoff=_LIKENESS)
    alike.sort(key=lambda ticker: ticker[:1] != symbol[:1])
    return list(dict.fromkeys([*holding, *alike]))[:MOST_CANDIDATES]
