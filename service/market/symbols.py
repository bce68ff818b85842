"""Tickers: finds the coin that a spelling means, and suggests others where there is none."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from service.errors import ServiceError
from service.market.plausibility.rules import TICKER_LENGTH
from service.units import Symbol

MOST_CANDIDATES: Final = 5
_LIKENESS: Final = 0.5
_THOUSAND: Final = 1_000
_DIGITS: Final = 12
_TICKER: Final = re.compile(rf"(?:[a-z0-9]{{1,{TICKER_LENGTH}}}:)?k?[A-Z0-9]{{1,{TICKER_LENGTH}}}", re.ASCII)

RENAMED: Final[Mapping[str, str]] = MappingProxyType({"XBT": "BTC"})
"""Other tickers of exactly the same asset and unit: ISO 4217 style for Bitcoin."""

SUCCEEDED: Final[Mapping[str, str]] = MappingProxyType({"MATIC": "POL", "RNDR": "RENDER", "FTM": "S", "MKR": "SKY"})
"""Successor tokens that holders received. They are other assets, so they are suggested, never substituted."""


class CoinListing(Struct, frozen=True):
    """A row of the venue's universe: its own symbol, our ticker, the common name, whether it is traded."""

    venue_symbol: str
    symbol: str
    title: str | None = None
    listed: bool = True


def canonical(venue_symbol: str) -> Symbol:
    """Public ticker of a venue symbol: `kPEPE` is `PEPE`, `xyz:AAPL` is `AAPL`."""
    return unit_of(venue_symbol)[0]


def is_ticker(venue_symbol: str) -> bool:
    """Whether a venue symbol is a valid ticker after its known prefixes: a dex (`xyz:AAPL`), `k` (`kPEPE`)."""
    return _TICKER.fullmatch(venue_symbol) is not None


def unit_of(venue_symbol: str) -> tuple[Symbol, int]:
    """Public ticker of a venue symbol, and how many coins its prices are of.

    A lower-case `k` before a ticker means a thousand: `kPEPE` is `("PEPE", 1000)`, `KAS` is `("KAS", 1)`.
    """
    name = venue_symbol.rpartition(":")[2]
    base = name[1:]
    is_thousand = name.startswith("k") and bool(base) and base == base.upper()
    return (Symbol(base), _THOUSAND) if is_thousand else (Symbol(name.upper()), 1)


def per_coin(price: float, units: int) -> float:
    """Price of one coin.

    The quotient is cut to 12 significant digits, so that 0.0123 / 1,000 is 0.0000123.

    Args:
        price: Price of `units` coins, USD.
        units: Coins that the venue trades as one.
    """
    return price if units == 1 else float(f"{price / units:.{_DIGITS}g}")


def closest(symbol: str, known: Iterable[str]) -> list[str]:
    """Tickers that a caller may have meant.

    Args:
        symbol: The unknown ticker, upper case.
        known: Canonical tickers.

    Returns:
        At most five, the most likely first: tickers that begin with it, that contain it, then similar ones, same first
        letter first.
    """
    tickers = sorted(known)
    holding = sorted((ticker for ticker in tickers if symbol in ticker), key=lambda ticker: ticker.find(symbol))
    alike = get_close_matches(symbol, tickers, n=MOST_CANDIDATES, cutoff=_LIKENESS)
    alike.sort(key=lambda ticker: ticker[:1] != symbol[:1])
    return list(dict.fromkeys([*holding, *alike]))[:MOST_CANDIDATES]


def _spellings(row: CoinListing) -> Iterator[str]:
    """The ticker, and those of a thousand of the coin if the venue trades it so, upper case."""
    yield row.symbol
    base, units = unit_of(row.venue_symbol)
    if units > 1:
        yield from (row.venue_symbol.upper(), f"{units}{base}")


class CoinDirectory:
    """All coins of the venue, and the only resolver from a spelling to a coin. Immutable.

    A ticker finds its coin in any case, in the venue's spelling (`kPEPE`, `1000PEPE`), and under another ticker of the
    same asset (`XBT`). Names only suggest.

    Args:
        listings: The venue's universe in its order. A ticker that two coins share belongs to the first traded one.

    Attributes:
        names: Case-folded common name → ticker, for names of exactly one traded coin.
    """

    def __init__(self, listings: Iterable[CoinListing] = ()) -> None:
        rows = list(listings)
        self._listed: dict[str, CoinListing] = {}
        for row in rows:
            if row.listed:
                self._listed.setdefault(row.symbol, row)
        # Listed coins are looked up first, so these maps may contain them too.
        self._delisted = {text: Symbol(row.symbol) for row in rows if not row.listed for text in _spellings(row)}
        self._aliases = dict(self._renamed(rows))
        self.names: Mapping[str, Symbol] = MappingProxyType(dict(self._named()))

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Symbol]:
        """Traded tickers in the venue's order."""
        return map(Symbol, self._listed)

    def listing(self, symbol: Symbol) -> CoinListing:
        """Listing of a resolved ticker.

        Raises:
            KeyError: If it is not traded.
        """
        return self._listed[symbol]

    def delisted(self, text: str) -> Symbol | None:
        """The delisted coin that a spelling means, in any case; null: none."""
        return self._delisted.get(text.strip().upper())

    def resolve(self, text: str) -> Symbol:
        """Find the traded coin that a spelling means.

        Args:
            text: A ticker in any case or spelling; surrounding blanks are ignored.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with `{"candidates": [...]}`, at most five, maybe none. The message states
                whether the coin was delisted.
        """
        symbol = self.spelled(text)
        if symbol is None:
            raise self._unknown(text.strip().upper())
        return symbol

    def spelled(self, text: str) -> Symbol | None:
        """The traded coin that a spelling means, as `resolve`; null: none."""
        ticker = text.strip().upper()
        if ticker in self._listed:
            return Symbol(ticker)
        return Symbol(self._aliases[ticker]) if ticker in self._aliases else None

    def candidates(self, text: str) -> list[str]:
        """At most five traded tickers that a spelling may mean, the most likely first."""
        ticker = text.strip().upper()
        sure = [SUCCEEDED.get(ticker), self.names.get(text.strip().casefold())]
        known = [symbol for symbol in sure if symbol in self._listed]
        return list(dict.fromkeys([*known, *closest(ticker, self._listed)]))[:MOST_CANDIDATES]

    def _unknown(self, ticker: str) -> ServiceError:
        candidates = self.candidates(ticker)
        verb = "is" if len(candidates) == 1 else "are"
        hint = f" The closest {verb} {', '.join(candidates)}." if candidates else ""
        if ticker in self._delisted and SUCCEEDED.get(ticker) in self._listed:
            message = f"{ticker} was delisted. Its holders received {SUCCEEDED[ticker]}."
        elif ticker in self._delisted:
            message = f"{ticker} was delisted and is no longer traded.{hint}"
        else:
            message = f"No coin {ticker!r} is listed.{hint}"
        return ServiceError("UNKNOWN_SYMBOL", message, details={"candidates": candidates})

    def _renamed(self, rows: Iterable[CoinListing]) -> Iterator[tuple[str, str]]:
        for alias, symbol in RENAMED.items():
            if symbol in self._listed:
                yield alias, symbol
        for row in rows:
            if row.symbol in self._listed:
                yield from ((text, row.symbol) for text in _spellings(row))

    def _named(self) -> Iterator[tuple[str, Symbol]]:
        owners: dict[str, set[str]] = {}
        for row in self._listed.values():
            if row.title:
                owners.setdefault(row.title.strip().casefold(), set()).add(row.symbol)
        for name, symbols in owners.items():
            if len(symbols) == 1:
                yield name, Symbol(*symbols)
