"""Checks which coins the first venue's answers list. No I/O, no clock.

A coin counts as known once a price of it was accepted: unconfirmed coins may be forged.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from service.market.models import Quote, Quotes
from service.market.plausibility.quotes import CoinBaseline, SecondQuote, agree, judge_universe, usable
from service.market.plausibility.rules import (
    DELISTING_MS,
    LARGEST_GAP_MS,
    MISSING_COINS,
    MISSING_SHARE,
    PERSISTENCE_MS,
    PERSISTENCE_TIMES,
    RejectReason,
)


class UniverseCheck:
    """Judges which coins answers name, and admits new ones."""

    def __init__(self) -> None:
        self._newcomers: dict[str, int] = {}
        self._reason: RejectReason | None = None
        self._about: AbstractSet[str] = frozenset()
        self._since_ms = self._seen_ms = self._times = 0

    def judge(self, found: Quotes, known: Mapping[str, Quote]) -> RejectReason | None:
        """Why a whole answer is rejected; null if it is accepted.

        Args:
            found: The answer.
            known: The last quotes by ticker.
        """
        confirmed = {quote.venue_symbol for quote in known.values() if quote.price is not None}
        shown = {quote.venue_symbol for quote in found.quotes}
        return self.judge_names(shown, frozenset(found.delisted or ()), confirmed, found.observed_ms)

    def judge_names(
        self, shown: AbstractSet[str], flagged: AbstractSet[str], listed: AbstractSet[str], at_ms: int
    ) -> RejectReason | None:
        """Why an answer with these coins is rejected; null if it is accepted.

        An answer that lacks many coins is accepted once every answer lacked only those for 150 s; one that flags many
        coins as delisted once every answer flagged only those for an hour. Their flags count from then on.

        Args:
            shown: Venue symbols named as traded.
            flagged: Venue symbols named as delisted.
            listed: Known listed coins.
            at_ms: Time of the answer.
        """
        reason = judge_universe(shown, flagged, listed)
        is_missing = reason is RejectReason.COINS_MISSING
        about = listed - shown - flagged if is_missing else flagged
        is_same = reason is self._reason and about <= self._about and 0 <= at_ms - self._seen_ms <= LARGEST_GAP_MS
        if not is_same:
            self._since_ms, self._times = at_ms, 0
        self._reason, self._about, self._seen_ms, self._times = reason, about, at_ms, self._times + 1
        wait_ms = PERSISTENCE_MS if is_missing else DELISTING_MS
        has_persisted = at_ms - self._since_ms >= wait_ms and self._times >= PERSISTENCE_TIMES
        return None if has_persisted else reason

    def newcomers(self, found: Quotes, known: Mapping[str, Quote]) -> frozenset[str]:
        """Tickers in an answer that are not listed; empty while nothing is known."""
        return frozenset(quote.symbol for quote in found.quotes if quote.symbol not in known) if known else frozenset()

    def admit(self, found: Quotes, known: Mapping[str, Quote], second: Mapping[str, SecondQuote]) -> list[Quote]:
        """Quotes of coins that are listed, or become listed now.

        Two answers in a row must name a new coin. Many new coins without confirmation by the second venue must be
        named for 150 s. Before anything is confirmed, all are listed at once.

        Args:
            found: The answer, accepted or not.
            known: The last quotes by ticker.
            second: The second venue's values by ticker.
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
    """Whether a quote's coin is listed under the same name."""
    listed = known.get(quote.symbol)
    return listed is not None and listed.venue_symbol == quote.venue_symbol


def _agrees(quote: Quote, second: SecondQuote | None, at_ms: int) -> bool:
    second = usable(CoinBaseline(second=second), at_ms).second
    return second is not None and quote.price is not None and agree(quote.price, second.price)
