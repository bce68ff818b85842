"""The room's front: answers from memory, encoded once for as long as they hold."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.market.filling import Filling
from service.market.freshness import NEVER_MS, QUOTE, Freshness
from service.market.observed import MAJORS, VENUE, Chart, Coin, CoinView, Quote, Snapshot, State
from service.market.risk import Risk, assess_risk
from service.market.silence import nothing_to_say, refuse_until_confirmed
from service.market.symbols import Directory, Listing
from service.market.view import view_coin
from service.units import Symbol
from service.wire.envelope import Answer, encode
from service.wire.market import RiskContext
from service.wire.sentiment import NO_MOOD, Mood

"""The time of a round: so soon a price may be confirmed."""


def _moodless(_: str) -> Mood:
    return NO_MOOD


class _Entry:
    """One coin, and its answer while that holds: from `since_ms` until `until_ms`, null where nothing can be said.

    `bare` is what other rooms are told of it: without a mood, and with a time of its own.
    """

    __slots__ = ("answer", "bare", "chart", "mood", "quote", "since_ms", "until_ms")

    def __init__(self, quote: Quote, chart: Chart) -> None:
        self.quote = quote
        self.chart = chart
        self.bare: Risk | None = None
        self.mood: Mood | None = None
        self.answer: Answer | None = None
        self.since_ms = self.until_ms = 0


class MarketDesk:
    """Answers what is asked of the market, from the last snapshot it was shown.

    Args:
        clock: Ages are judged by it.

    Attributes:
        directory: Every coin of the venue, and which spelling finds it.
    """

    def __init__(self, clock: Clock) -> None:
        self.directory = Directory()
        self._clock = clock
        self._state = State(origin="", revision=0)
        self._entries: dict[str, _Entry] = {}
        self._listed: tuple[list[str], Sequence[Coin]] = ([], [])
        self._titles: Mapping[str, str] = {}
        self._view: Mapping[str, CoinView] = MappingProxyType({})
        self._view_span = (NEVER_MS, NEVER_MS)

    @property
    def state(self) -> State:
        """Of the snapshot answered from: its history, its revision, how the last refresh of quotes went."""
        return self._state

    def show(self, snapshot: Snapshot) -> None:
        """Answer from this snapshot from now on."""
        self._state = snapshot.state
        self._entries = {quote.symbol: _Entry(quote, chart) for quote, chart in snapshot.coins}
        self._view_span = (NEVER_MS, NEVER_MS)
        listed = ([quote.venue_symbol for quote, _ in snapshot.coins], snapshot.delisted)
        if listed != self._listed:
            self._listed = listed
            self._list()

    def entitle(self, titles: Mapping[str, str]) -> None:
        """Suggest coins by these names too.

        Args:
            titles: What people call a coin, by ticker.
        """
        if titles != self._titles:
            self._titles = titles
            self._list()

    def _list(self) -> None:
        rows = [
            Listing(entry.quote.venue_symbol, symbol, self._titles.get(symbol))
            for symbol, entry in self._entries.items()
        ]
        gone = [Listing(coin.venue_symbol, coin.symbol, listed=False) for coin in self._listed[1]]
        self.directory = Directory([*rows, *gone])

    def find(self, text: str) -> Symbol:
        """Find the coin that a spelling means.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; where no coin is known at all, as `risk` says it.
        """
        if not self._entries:
            self._give_up(text)
        return self.directory.resolve(text)

    def quotes(self, origin: str) -> Mapping[str, Quote]:
        """The last quotes by ticker, where those are of this history; else nothing."""
        if self._state.origin != origin:
            return {}
        return {symbol: entry.quote for symbol, entry in self._entries.items()}

    def view(self) -> Mapping[str, CoinView]:
        """Every listed coin as it stands now, by ticker; what is past its limit is null.

        Returns:
            The same object for as long as nothing in it changes.
        """
        now_ms = self._clock.now_ms()
        since_ms, until_ms = self._view_span
        if not since_ms <= now_ms < until_ms:
            viewed = {symbol: view_coin(entry.quote, entry.chart, now_ms) for symbol, entry in self._entries.items()}
            self._view = MappingProxyType({symbol: seen.coin for symbol, seen in viewed.items()})
            self._view_span = (
                max((seen.since_ms for seen in viewed.values()), default=-NEVER_MS),
                min((seen.until_ms for seen in viewed.values()), default=NEVER_MS),
            )
        return self._view

    def risk(self, symbol: str, mood_of: Callable[[str], Mood] = _moodless) -> Answer:
        """Bundle the risk context of a coin.

        Args:
            symbol: Ticker in any case.
            mood_of: Tells the sentiment of a canonical ticker; the same object while it stays the same.

        Returns:
            The encoded payload, and the observation time of the older of price and funding.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with the closest tickers; `UPSTREAM_4XX` or `UPSTREAM_5XX` where an upstream
                failed and neither price nor funding is left to say; `UNAVAILABLE` before the first data, and
                while nothing of the coin is confirmed.
        """
        entry = self._entries.get(symbol) or self._entries[self.find(symbol)]
        now_ms, mood = self._clock.now_ms(), mood_of(entry.quote.symbol)
        if entry.mood is not mood or not entry.since_ms <= now_ms < entry.until_ms:
            risk = assess_risk(entry.quote, entry.chart, self._state, mood, now_ms)
            entry.mood, entry.since_ms, entry.until_ms = mood, risk.since_ms, risk.until_ms
            entry.answer = None if risk.context is None else Answer(Raw(encode(risk.context)), risk.as_of_ms)
        if entry.answer is None:
            self._give_up(entry.quote.symbol)
        return entry.answer

    def assess(self, symbol: str) -> tuple[RiskContext, int]:
        """Assess a coin for another room, which has sentiment of its own.

        Args:
            symbol: Canonical ticker.

        Returns:
            The risk context without a mood, the same object for as long as nothing in it changes, and the observation
            time of the older of price and funding.

        Raises:
            ServiceError: As `risk`.
        """
        entry = self._entries.get(symbol) or self._entries[self.find(symbol)]
        now_ms, risk = self._clock.now_ms(), entry.bare
        if risk is None or not risk.since_ms <= now_ms < risk.until_ms:
            risk = entry.bare = assess_risk(entry.quote, entry.chart, self._state, NO_MOOD, now_ms)
        if risk.context is None:
            self._give_up(symbol)
        return risk.context, risk.as_of_ms

    def filling(self) -> Filling:
        """Of how many coins the daily history is known."""
        return Filling(sum(entry.chart.through_ms is not None for entry in self._entries.values()), len(self._entries))

    def readiness(self) -> Mapping[str, object]:
        """What can be said of the room's readiness: coins, age of the prices in seconds, history, last failure.

        `ready` once prices are known and BTC's and ETH's history has been had, or tried for. `venue` told the newest
        prices, null where nobody did; `failing` says that the first venue does not answer.
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

    def _give_up(self, symbol: str) -> NoReturn:
        """Say why nothing can be said: the upstream failed, nothing is confirmed, or the first data are due."""
        state = self._state
        is_recent = QUOTE.judge(state.quotes_ms, self._clock.now_ms()) is not Freshness.GONE
        if state.failure is None and is_recent:
            refuse_until_confirmed(VENUE, symbol)
        nothing_to_say(VENUE, state.failure, f"prices of {symbol}" if state.failure else "prices")
