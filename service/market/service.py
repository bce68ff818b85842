"""Answers about the market from memory. An answer is encoded once and reused while it is valid."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.market.coin_state import RiskAssessment, assess_risk, view_coin
from service.market.freshness import NEVER_MS, QUOTE, Freshness
from service.market.loading import LoadProgress, raise_unavailable, raise_unconfirmed
from service.market.models import MAJORS, VENUE, CoinChart, CoinView, MarketSnapshot, MarketState, Quote, VenueCoin
from service.market.past_prices import NO_PAST_PRICES, PastPrices
from service.market.symbols import CoinDirectory, CoinListing
from service.units import Symbol
from service.wire.envelope import Answer, encode
from service.wire.market import RiskContext
from service.wire.sentiment import NO_MOOD, Mood


def _no_mood(_: str) -> Mood:
    return NO_MOOD


class _Entry:
    """One coin and its cached answer.

    The answer is valid from `since_ms` (inclusive) to `until_ms` (exclusive), and null where there is no value to show.
    `bare` is the risk context without sentiment, for other packages.
    """

    __slots__ = ("answer", "bare", "chart", "mood", "quote", "since_ms", "until_ms")

    def __init__(self, quote: Quote, chart: CoinChart) -> None:
        self.quote = quote
        self.chart = chart
        self.bare: RiskAssessment | None = None
        self.mood: Mood | None = None
        self.answer: Answer | None = None
        self.since_ms = self.until_ms = 0


class MarketService:
    """Answers questions about coins from the last snapshot.

    Args:
        clock: Judges ages.

    Attributes:
        directory: All coins of the venue, and the spellings that find them.
    """

    def __init__(self, clock: Clock) -> None:
        self.directory = CoinDirectory()
        self._clock = clock
        self._state = MarketState(origin="", revision=0)
        self._entries: dict[str, _Entry] = {}
        self._listed: tuple[list[str], Sequence[VenueCoin]] = ([], [])
        self._titles: Mapping[str, str] = {}
        self._past = NO_PAST_PRICES
        self._view: Mapping[str, CoinView] = MappingProxyType({})
        self._view_span = (NEVER_MS, NEVER_MS)

    @property
    def state(self) -> MarketState:
        """State of the snapshot: its dataset, its revision, and how the last quote refresh ended."""
        return self._state

    def show(self, snapshot: MarketSnapshot) -> None:
        """Replace the snapshot. Past prices of another dataset are dropped."""
        if snapshot.state.origin != self._state.origin:
            self._past = NO_PAST_PRICES
        self._state = snapshot.state
        self._entries = {quote.symbol: _Entry(quote, chart) for quote, chart in snapshot.coins}
        self._view_span = (NEVER_MS, NEVER_MS)
        listed = ([quote.venue_symbol for quote, _ in snapshot.coins], snapshot.delisted)
        if listed != self._listed:
            self._listed = listed
            self._list()

    def set_past_prices(self, past: PastPrices) -> None:
        """Measure changes from these prices."""
        self._past = past
        self._view_span = (NEVER_MS, NEVER_MS)

    def set_coin_names(self, titles: Mapping[str, str]) -> None:
        """Also suggest coins by these names.

        Args:
            titles: Common name by ticker.
        """
        if titles != self._titles:
            self._titles = titles
            self._list()

    def _list(self) -> None:
        rows = [
            CoinListing(entry.quote.venue_symbol, symbol, self._titles.get(symbol))
            for symbol, entry in self._entries.items()
        ]
        gone = [CoinListing(coin.venue_symbol, coin.symbol, listed=False) for coin in self._listed[1]]
        self.directory = CoinDirectory([*rows, *gone])

    def find(self, text: str) -> Symbol:
        """Find the coin that a spelling means.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; as `risk` if no coins are known at all.
        """
        self.require_coins(text)
        return self.directory.resolve(text)

    def require_coins(self, text: str) -> None:
        """Check that coins are known.

        Raises:
            ServiceError: As `risk`, if none is.
        """
        if not self._entries:
            self._raise_no_data(text)

    def quotes(self, origin: str) -> Mapping[str, Quote]:
        """The last quotes by ticker; empty if they belong to another dataset."""
        if self._state.origin != origin:
            return {}
        return {symbol: entry.quote for symbol, entry in self._entries.items()}

    def view(self) -> Mapping[str, CoinView]:
        """Current values of every listed coin by ticker; values past their limit are null.

        Returns:
            The same object while nothing changes.
        """
        now_ms = self._clock.now_ms()
        since_ms, until_ms = self._view_span
        if not since_ms <= now_ms < until_ms:
            viewed = {
                symbol: view_coin(entry.quote, entry.chart, self._past, now_ms)
                for symbol, entry in self._entries.items()
            }
            self._view = MappingProxyType({symbol: seen.coin for symbol, seen in viewed.items()})
            self._view_span = (
                max((seen.since_ms for seen in viewed.values()), default=-NEVER_MS),
                min((seen.until_ms for seen in viewed.values()), default=NEVER_MS),
            )
        return self._view

    def risk(self, symbol: str, mood_of: Callable[[str], Mood] = _no_mood) -> Answer:
        """The risk context of a coin.

        Args:
            symbol: Ticker in any case.
            mood_of: Sentiment of a canonical ticker; returns the same object while it does not change.

        Returns:
            The encoded payload, and the older observation time of price and funding.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with the closest tickers; `UPSTREAM_4XX` or `UPSTREAM_5XX` if an upstream
                failed and there is neither price nor funding; `UNAVAILABLE` before the first data, and while no value
                of the coin is confirmed.
        """
        entry = self._entries.get(symbol) or self._entries[self.find(symbol)]
        now_ms, mood = self._clock.now_ms(), mood_of(entry.quote.symbol)
        if entry.mood is not mood or not entry.since_ms <= now_ms < entry.until_ms:
            risk = assess_risk(entry.quote, entry.chart, self._state, mood, now_ms)
            entry.mood, entry.since_ms, entry.until_ms = mood, risk.since_ms, risk.until_ms
            entry.answer = None if risk.context is None else Answer(Raw(encode(risk.context)), risk.as_of_ms)
        if entry.answer is None:
            self._raise_no_data(entry.quote.symbol)
        return entry.answer

    def assess(self, symbol: str) -> tuple[RiskContext, int]:
        """The risk context of a coin without sentiment, for other packages.

        Args:
            symbol: Canonical ticker.

        Returns:
            The risk context, the same object while nothing changes, and the older observation time of price and
            funding.

        Raises:
            ServiceError: As `risk`.
        """
        entry = self._entries.get(symbol) or self._entries[self.find(symbol)]
        now_ms, risk = self._clock.now_ms(), entry.bare
        if risk is None or not risk.since_ms <= now_ms < risk.until_ms:
            risk = entry.bare = assess_risk(entry.quote, entry.chart, self._state, NO_MOOD, now_ms)
        if risk.context is None:
            self._raise_no_data(symbol)
        return risk.context, risk.as_of_ms

    def load_progress(self) -> LoadProgress:
        """Number of coins whose daily history is known."""
        return LoadProgress(
            sum(entry.chart.through_ms is not None for entry in self._entries.values()), len(self._entries)
        )

    def readiness(self) -> Mapping[str, object]:
        """Details for `/readyz`: coins, age of the prices in seconds, history, last failure.

        `ready` is true once prices are known and the history of BTC and ETH was loaded or tried. `venue` provided the
        newest prices, null if none did. `failing` means that the first venue does not answer.
        """
        state, entries = self._state, self._entries
        charted = [symbol for symbol, entry in entries.items() if entry.chart.through_ms is not None]
        age_s = None if state.quotes_ms is None else max(0, self._clock.now_ms() - state.quotes_ms) // SECOND_MS
        tried = state.history_ms is not None or all(major in charted for major in MAJORS if major in entries)
        return {
            "ready": bool(entries) and tried,
            "coins": len(entries),
            "prices_age_seconds": age_s,
            "venue": state.venue,
            "history": {"known": len(charted), "total": len(entries)},
            "failing": state.failure is not None,
        }

    def _raise_no_data(self, symbol: str) -> NoReturn:
        """Raise why there is no data: the upstream failed, nothing is confirmed, or the first data are due."""
        state = self._state
        is_recent = QUOTE.judge(state.quotes_ms, self._clock.now_ms()) is not Freshness.GONE
        if state.failure is None and is_recent:
            raise_unconfirmed(VENUE, symbol)
        raise_unavailable(VENUE, state.failure, f"prices of {symbol}" if state.failure else "prices")
