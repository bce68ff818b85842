"""Decides whether answers of bars and payments are stored: the rules of `series_plausibility`, and what clears them."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from service.clock import SECOND_MS, Clock
from service.market.observed import Bar, History, PaymentRow, Progress, Quote
from service.market.plausibility import agree
from service.market.plausibility_rules import BARS_PERSISTENCE_MS, NEVER_BY_PERSISTENCE, SCALE_BARS, Reason
from service.market.series_plausibility import judge_bars, judge_payments
from service.market.standby import Fallback
from service.market.store import MarketStore
from service.units import INTERVAL_MS, Interval
from service.upstream.failure import UpstreamError

_log: Final = logging.getLogger("verdict.market")


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
        second: The second venue.
    """

    def __init__(
        self, clock: Clock, store: MarketStore, quotes: Callable[[str], Mapping[str, Quote]], second: Fallback
    ) -> None:
        self._clock = clock
        self._store = store
        self._quotes = quotes
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
        reason = judge_bars(history.bars, stored, quote, step_ms, last_closed_ms)
        closed = [bar for bar in history.bars if (coin.last_ms or 0) < bar.open_ms <= last_closed_ms]
        if reason is None or reason in NEVER_BY_PERSISTENCE or venue == self._second.name or not closed:
            return self._note(coin.venue_symbol, venue, interval, reason, closed)
        is_confirmed = await self._confirms(coin.symbol, closed[-1]) if interval == "1d" else None
        is_held = not self._note(coin.venue_symbol, venue, interval, None if is_confirmed else reason, closed)
        if is_confirmed is False:
            self._restart(coin.venue_symbol, venue, interval)
        return not is_held or self._has_persisted(coin.venue_symbol, venue, interval)

    def accepts_payments(self, origin: str, coin: Progress, rows: Sequence[PaymentRow], venue: str) -> bool:
        """Whether an answer of payments may be stored.

        Args:
            origin: The history that they belong to.
            coin: Whose they are.
            rows: The answer.
            venue: Who showed it.
        """
        reason = judge_payments(rows, self._quotes(origin).get(coin.symbol), self._clock.now_ms())
        if self._note(coin.venue_symbol, venue, "payments", reason, rows):
            return True
        return reason not in NEVER_BY_PERSISTENCE and self._has_persisted(coin.venue_symbol, venue, "payments")

    async def _confirms(self, symbol: str, bar: Bar) -> bool | None:
        """Whether the second venue shows a daily bar too; null where it does not tell."""
        try:
            history = await self._second.daily_bars(symbol, bar.open_ms)
        except UpstreamError:  # the session has logged it
            return None
        theirs = next((each for each in history.bars if each.open_ms == bar.open_ms), None) if history else None
        return None if theirs is None else agree(bar.close, theirs.close)

    def _note(
        self, coin: str, venue: str, kind: str, reason: Reason | None, rows: Sequence[Bar] | Sequence[PaymentRow]
    ) -> bool:
        """Remember and log what is held back; says whether nothing is."""
        key = (coin, venue, kind)
        before = self._held.pop(key, None)
        if reason is None:
            return True
        now_s = self._clock.monotonic()
        is_same = before is not None and (before.reason, list(before.rows)) == (reason, list(rows))
        self._held[key] = _Held(reason, rows, before.since_s if before and is_same else now_s)
        if before is None or before.reason is not reason:
            told = {"source": venue, "coin": coin, "field": kind, "reason": str(reason)}
            _log.warning("Quarantined: an answer failed the plausibility check.", extra=told)
        return False

    def _restart(self, coin: str, venue: str, kind: str) -> None:
        """Count the time of an answer from now on: the second venue contradicts it."""
        self._held[coin, venue, kind] = self._held[coin, venue, kind]._replace(since_s=self._clock.monotonic())

    def _has_persisted(self, coin: str, venue: str, kind: str) -> bool:
        held = self._held[coin, venue, kind]
        return self._clock.monotonic() - held.since_s >= BARS_PERSISTENCE_MS / SECOND_MS
