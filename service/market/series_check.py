"""Decides whether answers of bars and payments are stored: the rules of `series_plausibility`, and what clears them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from service.clock import SECOND_MS, Clock
from service.market.observed import Bar, History, PaymentRow, Progress, Quote
from service.market.plausibility import agree
from service.market.plausibility_rules import BARS_PERSISTENCE_MS, NEVER_BY_PERSISTENCE, SCALE_BARS, Reason
from service.market.quarantine import Quarantine
from service.market.series_plausibility import judge_bars, judge_payments
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.units import INTERVAL_MS, Interval
from service.upstream.failure import UpstreamError


class _Held(NamedTuple):
    """An answer that is held back: its reason, its rows, and since when on the monotonic clock."""

    reason: Reason
    rows: Sequence[Bar] | Sequence[PaymentRow]
    since_s: float


class SeriesCheck:
    """Judges answers before they are stored.

    An answer that fails is stored after all where the second venue shows the same daily bar, or where it has stayed
    the same for an hour and the second venue does not contradict it.

    Args:
        clock: How long an answer has stayed the same.
        store: The bars that answers must continue.
        quotes: The last accepted quotes of a history, by ticker.
        quarantine: Where it is told what is held back.
        second: The second venue; null where nothing confirms a bar: of real-world assets, whose markets close.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        quotes: Callable[[str], Mapping[str, Quote]],
        quarantine: Quarantine,
        second: Fallback | None = None,
    ) -> None:
        self._clock = clock
        self._store = store
        self._quotes = quotes
        self._quarantine = quarantine
        self._second = second
        self._held: dict[tuple[str, str, str], _Held] = {}

    async def accepts_bars(
        self, origin: str, coin: Progress, interval: Interval, history: History, last_closed_ms: int, *, venue: str
    ) -> bool:
        """Whether the closed bars of an answer may be stored.

        Args:
            origin: The history that they belong to.
            coin: Whose they are.
            interval: Length of a bar.
            history: The answer.
            last_closed_ms: Bars that opened until this instant are closed.
            venue: Who showed it.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        step_ms = INTERVAL_MS[interval]
        stored: Sequence[Bar] = ()
        if coin.last_ms is not None:
            stored = await self._store.bars(coin.venue_symbol, interval, coin.last_ms - SCALE_BARS * step_ms)
        quote = self._quotes(origin).get(coin.symbol) if coin.listed else None
        reason = judge_bars(history.bars, stored, quote, step_ms, last_closed_ms, may_pause=self._second is None)
        closed = [bar for bar in history.bars if (coin.last_ms or 0) < bar.open_ms <= last_closed_ms]
        key, is_of_first = (venue, coin.symbol, f"bars-{interval}"), self._second is None or venue != self._second.name
        if reason is None or reason in NEVER_BY_PERSISTENCE or not is_of_first or not closed:
            return self._note(key, reason, closed)
        is_confirmed = await self._confirms(coin.symbol, closed[-1]) if interval == "1d" else None
        if self._note(key, None if is_confirmed else reason, closed):
            return True
        if is_confirmed is False:
            self._restart(key)
        return self._has_persisted(key)

    def accepts_payments(self, origin: str, coin: Progress, rows: Sequence[PaymentRow], venue: str) -> bool:
        """Whether an answer of payments may be stored.

        Args:
            origin: The history that they belong to.
            coin: Whose they are.
            rows: The answer.
            venue: Who showed it.
        """
        reason = judge_payments(rows, self._quotes(origin).get(coin.symbol), self._clock.now_ms())
        key = (venue, coin.symbol, "payments")
        return self._note(key, reason, rows) or (reason not in NEVER_BY_PERSISTENCE and self._has_persisted(key))

    async def _confirms(self, symbol: str, bar: Bar) -> bool | None:
        """Whether the second venue shows a daily bar too; null where it does not tell."""
        if self._second is None:
            return None
        try:
            history = await self._second.daily_bars(symbol, bar.open_ms)
        except UpstreamError:  # the session has logged it
            return None
        theirs = next((each for each in history.bars if each.open_ms == bar.open_ms), None) if history else None
        return None if theirs is None else agree(bar.close, theirs.close)

    def _note(
        self, key: tuple[str, str, str], reason: Reason | None, rows: Sequence[Bar] | Sequence[PaymentRow]
    ) -> bool:
        """Remember and tell what is held back; says whether nothing is."""
        before = self._held.pop(key, None)
        if reason is None:
            self._quarantine.release(*key[1:])
            return True
        now_s = self._clock.monotonic()
        is_same = before is not None and (before.reason, list(before.rows)) == (reason, list(rows))
        self._held[key] = _Held(reason, rows, before.since_s if before and is_same else now_s)
        self._quarantine.hold(*key, reason, self._clock.now_ms())
        return False

    def _restart(self, key: tuple[str, str, str]) -> None:
        """Count the time of an answer from now on: the second venue contradicts it."""
        self._held[key] = self._held[key]._replace(since_s=self._clock.monotonic())

    def _has_persisted(self, key: tuple[str, str, str]) -> bool:
        """Whether an answer has stayed the same for long enough to be stored; it is then no longer held back."""
        has_persisted = self._clock.monotonic() - self._held[key].since_s >= BARS_PERSISTENCE_MS / SECOND_MS
        if has_persisted:
            self._quarantine.release(*key[1:])
        return has_persisted
