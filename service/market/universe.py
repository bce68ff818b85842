"""Which coins the first venue's answers list. No I/O, no clock.

A coin counts as known once a price of it was accepted: what was never confirmed may have been forged.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from service.market.observed import Quote, Quotes
from service.market.plausibility import Known, Second, agree, judge_universe, usable
from service.market.plausibility_rules import (
    DELISTING_MS,
    LARGEST_GAP_MS,
    MISSING_COINS,
    MISSING_SHARE,
    PERSISTENCE_MS,
    PERSISTENCE_TIMES,
    Reason,
)


class Universe:
    """Judges which coins answers name, and admits new ones."""

    def __init__(self) -> None:
        self._newcomers: dict[str, int] = {}
        self._reason: Reason | None = None
        self._about: AbstractSet[str] = frozenset()
        self._since_ms = self._seen_ms = self._times = 0

    def judge(self, found: Quotes, known: Mapping[str, Quote]) -> Reason | None:
        """Why a whole answer is not accepted; null if it is.

        Args:
            found: The answer.
            known: The last quotes by ticker.
        """
        confirmed = {quote.venue_symbol for quote in known.values() if quote.price is not None}
        shown = {quote.venue_symbol for quote in found.quotes}
        return self.judge_names(shown, frozenset(found.delisted or ()), confirmed, found.observed_ms)

    def judge_names(
        self, shown: AbstractSet[str], flagged: AbstractSet[str], listed: AbstractSet[str], at_ms: int
    ) -> Reason | None:
        """Why an answer is not accepted that names these coins; null if it is.

        An answer that lacks many coins is accepted once every answer has lacked only those for 150 s, one that calls
        many coins delisted once every answer has flagged only those for an hour. Their flags count from then on.

        Args:
            shown: Venue symbols that it names as traded.
            flagged: Those that it names as delisted.
            listed: Those that are listed.
            at_ms: When the venue showed it.
        """
        reason = judge_universe(shown, flagged, listed)
        is_missing = reason is Reason.COINS_MISSING
        about = listed - shown - flagged if is_missing else flagged
        is_same = reason is self._reason and about <= self._about and 0 <= at_ms - self._seen_ms <= LARGEST_GAP_MS
        if not is_same:
            self._since_ms, self._times = at_ms, 0
        self._reason, self._about, self._seen_ms, self._times = reason, about, at_ms, self._times + 1
        wait_ms = PERSISTENCE_MS if is_missing else DELISTING_MS
        has_persisted = at_ms - self._since_ms >= wait_ms and self._times >= PERSISTENCE_TIMES
        return None if has_persisted else reason

    def newcomers(self, found: Quotes, known: Mapping[str, Quote]) -> frozenset[str]:
        """Tickers that an answer names beside those that are listed; none where nothing is known."""
        return frozenset(quote.symbol for quote in found.quotes if quote.symbol not in known) if known else frozenset()

    def admit(self, found: Quotes, known: Mapping[str, Quote], second: Mapping[str, Second]) -> list[Quote]:
        """Those quotes of an answer whose coins are listed, or are to be from now on.

        Two answers in a row must name a new coin. Where many are new whose prices the second venue does not confirm,
        answers must name these for 150 s. Where nothing was confirmed yet, all are listed at once.

        Args:
            found: The answer, accepted or not.
            known: The last quotes by ticker.
            second: What the second venue shows, by ticker.
        """
        at_ms, before = found.observed_ms, self._newcomers
        fresh = [quote for quote in found.quotes if quote.symbol not in known]
        self._newcomers = {quote.venue_symbol: before.get(quote.venue_symbol, at_ms) for quote in fresh}
        listed = [quote for quote in found.quotes if is_listed(quote, known)]
        if all(quote.price is None for quote in known.values()):
            return listed + fresh
        unsure = {quote.venue_symbol for quote in fresh if not _agrees(quote, second.get(quote.symbol), at_ms)}
        are_many = len(unsure) > max(MISSING_COINS, MISSING_SHARE * (len(found.quotes) - len(unsure)))
        wait_ms = PERSISTENCE_MS if are_many else 0
        return listed + [
            quote
            for quote in fresh
            if quote.venue_symbol in before
            and (quote.venue_symbol not in unsure or at_ms - before[quote.venue_symbol] >= wait_ms)
        ]


def is_listed(quote: Quote, known: Mapping[str, Quote]) -> bool:
    """Whether a quote is of a coin that is listed under the same name."""
    listed = known.get(quote.symbol)
    return listed is not None and listed.venue_symbol == quote.venue_symbol


def _agrees(quote: Quote, second: Second | None, at_ms: int) -> bool:
    second = usable(Known(second=second), at_ms).second
    return second is not None and quote.price is not None and agree(quote.price, second.price)
