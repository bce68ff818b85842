"""Tickers: how a caller's spelling finds a coin, and what to suggest where it finds none."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from service.errors import ServiceError
from service.market.plausibility_rules import TICKER_LENGTH
from service.units import Symbol

MOST_CANDIDATES: Final = 5
THOUSAND: Final = 1_000
_LIKENESS: Final = 0.5
_TICKER: Final = re.compile(rf"(?:[a-z0-9]{{1,{TICKER_LENGTH}}}:)?k?[A-Z0-9]{{1,{TICKER_LENGTH}}}", re.ASCII)

RENAMED: Final[Mapping[str, str]] = MappingProxyType({"XBT": "BTC"})
"""Another ticker of the very same asset, unit for unit: ISO 4217 style for Bitcoin."""

SUCCEEDED: Final[Mapping[str, str]] = MappingProxyType({"MATIC": "POL", "RNDR": "RENDER", "FTM": "S", "MKR": "SKY"})
"""What holders of an old token were given: another asset with another ticker, so it is suggested and never taken."""


class Listing(Struct, frozen=True):
    """A row of the venue's universe: its own spelling, our ticker, what people call it, whether it is traded."""

    venue_symbol: str
    symbol: str
    title: str | None = None
    listed: bool = True


def canonical(venue_symbol: str) -> Symbol:
    """The public ticker of a venue's symbol: `kPEPE` is `KPEPE`."""
    return Symbol(venue_symbol.upper())


def is_ticker(venue_symbol: str) -> bool:
    """Whether a venue's symbol is a ticker after its known prefixes: the name of a dex (`xyz:AAPL`), `k` (`kPEPE`)."""
    return _TICKER.fullmatch(venue_symbol) is not None


def unit_of(venue_symbol: str) -> tuple[str, int]:
    """What one unit of a venue's symbol is: a coin's own ticker, and how many of that coin.

    A small `k` before a ticker means a thousand of it: `kPEPE` is `("PEPE", 1000)`, `KAS` is `("KAS", 1)`.
    """
    base = venue_symbol[1:]
    thousands = venue_symbol.startswith("k") and bool(base) and base == base.upper()
    return (base, THOUSAND) if thousands else (venue_symbol.upper(), 1)


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


class Directory:
    """Every coin of the venue, and the one way from a caller's spelling to a coin. Immutable.

    A ticker finds its coin in any case, in the venue's spelling (`kPEPE`), and under another ticker that means exactly
    the same unit (`1000PEPE`, `XBT`). A ticker of which the coin is only a multiple (`PEPE` for `KPEPE`) does not: a
    price would be wrong a thousandfold. Names find nothing here, they only suggest; `names` is for who reads sentences.

    Args:
        listings: The venue's universe in its order. A ticker that two coins would share stays with the first that is
            traded.

    Attributes:
        names: What people call a coin, folded → ticker; only names that belong to one traded coin alone.
    """

    def __init__(self, listings: Iterable[Listing] = ()) -> None:
        rows = list(listings)
        self._listed: dict[str, Listing] = {}
        for row in rows:
            if row.listed:
                self._listed.setdefault(row.symbol, row)
        # What is listed is looked for first, so none of these need leave it out.
        self._delisted = frozenset(row.symbol for row in rows if not row.listed)
        self._aliases = dict(self._renamed())
        self._parts = {
            base: symbol
            for base, units, symbol in ((*unit_of(row.venue_symbol), row.symbol) for row in self._listed.values())
            if units > 1
        }
        self.names: Mapping[str, Symbol] = MappingProxyType(dict(self._named()))

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Symbol]:
        """Traded tickers in the venue's order."""
        return map(Symbol, self._listed)

    def listing(self, symbol: Symbol) -> Listing:
        """What the venue and we call a resolved ticker.

        Raises:
            KeyError: If it is not traded.
        """
        return self._listed[symbol]

    def was_listed(self, text: str) -> bool:
        """Whether a ticker, in any case, is one of a coin that was delisted since."""
        return text.strip().upper() in self._delisted

    def resolve(self, text: str) -> Symbol:
        """Find the traded coin a spelling means.

        Args:
            text: A ticker in any case or spelling; surrounding blanks do not matter.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with `{"candidates": [...]}`, at most five, which may be none. The message
                says so where the coin was delisted, and what the unit is where the venue trades thousands of it.
        """
        ticker = text.strip().upper()
        if ticker in self._listed:
            return Symbol(ticker)
        if ticker in self._aliases:
            return Symbol(self._aliases[ticker])
        raise self._unknown(ticker)

    def candidates(self, text: str) -> list[str]:
        """At most five traded tickers that a spelling may have meant, the most likely first."""
        ticker = text.strip().upper()
        sure = [self._parts.get(ticker), SUCCEEDED.get(ticker), self.names.get(text.strip().casefold())]
        known = [symbol for symbol in sure if symbol in self._listed]
        return list(dict.fromkeys([*known, *closest(ticker, self._listed)]))[:MOST_CANDIDATES]

    def _unknown(self, ticker: str) -> ServiceError:
        candidates = self.candidates(ticker)
        verb = "is" if len(candidates) == 1 else "are"
        hint = f"; the closest {verb} {', '.join(candidates)}" if candidates else ""
        if ticker in self._delisted and SUCCEEDED.get(ticker) in self._listed:
            said = f"{ticker} was delisted and is no longer traded; its holders were given {SUCCEEDED[ticker]}"
        elif ticker in self._delisted:
            said = f"{ticker} was delisted and is no longer traded{hint}"
        elif ticker in self._parts:
            many = self._parts[ticker]
            said = f"no coin {ticker!r} is listed: {many} is, and one {many} is 1000 {ticker}"
        else:
            said = f"no coin {ticker!r} is listed{hint}"
        return ServiceError("UNKNOWN_SYMBOL", said, details={"candidates": candidates})

    def _renamed(self) -> Iterator[tuple[str, str]]:
        for alias, symbol in RENAMED.items():
            if symbol in self._listed:
                yield alias, symbol
        for row in self._listed.values():
            base, units = unit_of(row.venue_symbol)
            if units > 1:
                yield f"{units}{base}", row.symbol

    def _named(self) -> Iterator[tuple[str, Symbol]]:
        owners: dict[str, set[str]] = {}
        for row in self._listed.values():
            if row.title:
                owners.setdefault(row.title.strip().casefold(), set()).add(row.symbol)
        for name, symbols in owners.items():
            if len(symbols) == 1:
                yield name, Symbol(*symbols)
