"""The plausibility check of bars and payments: decides whether they continue the history of a coin.

Bars and payments are stored permanently. Of an answer with bars that fail, only the bars before them are stored, and
the rest is requested again. Payments are stored all or not at all. `rules` has the thresholds.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Clock
from service.market.fallback import SecondVenueApi
from service.market.funding import on_schedule, scheduled
from service.market.models import FUNDING_HOURS, Bar, BarBatch, PaymentRow, Quote, SeriesProgress, StampedPayment
from service.market.plausibility.quarantine import Quarantine
from service.market.plausibility.quotes import (
    BarReference,
    agree,
    agrees_with_bar,
    distance,
    is_price,
    largest_move,
    scale_of,
)
from service.market.plausibility.references import BarReferences
from service.market.plausibility.rules import (
    BAR_BODY,
    BAR_BODY_SCALES,
    BAR_GAP,
    BAR_GAP_SCALES,
    BAR_SAME,
    BARS_PERSISTENCE_MS,
    FAILING_SHARE,
    HIGHEST_FUNDING,
    LARGEST_VOLUME,
    LEAST_FROM_BAR,
    LEAST_FUNDING_MOVE,
    MAGNITUDE,
    NEVER_BY_PERSISTENCE,
    OLDEST_MS,
    SCALE_BARS,
    RejectReason,
)
from service.market.store import MarketStore
from service.units import INTERVAL_MS, Interval
from service.upstream.failures import UpstreamError


class BarsJudgement(NamedTuple):
    """What may be stored of an answer of bars.

    Attributes:
        reason: Why not all of it may be; null if all may.
        storable: Bars that may be stored: all that were shown, or those before the first that fails.
        failing: Open times of the bars that fail or are missing; empty where the whole answer fails.
        reference: The newest closed bar that passes, although bars before it may not be stored; null if there is none.
    """

    reason: RejectReason | None
    storable: Sequence[Bar] = ()
    failing: Collection[int] = ()
    reference: BarReference | None = None


def judge_bars(
    shown: Sequence[Bar],
    stored: Sequence[Bar],
    quote: Quote | None,
    step_ms: int,
    last_closed_ms: int,
    *,
    may_pause: bool = False,
) -> BarsJudgement:
    """Judge an answer of bars of one coin.

    A few bars that fail do not reject the others, if those are plausible without them.

    Args:
        shown: What a venue shows, oldest first; it may begin with bars that are stored, and end with the open one.
        stored: The newest stored bars, oldest first; none on a first load.
        quote: The last accepted quote; null if there is none.
        step_ms: Length of a bar.
        last_closed_ms: Bars that opened until this instant are closed.
        may_pause: Whether bars may be missing: the market of the asset closes.
    """
    # The open bar is never final. An impossible one says nothing about the closed bars.
    shown = [bar for bar in shown if bar.open_ms <= last_closed_ms or not _is_impossible(bar)]
    reason, found = _find_failing(shown, stored, quote, step_ms, last_closed_ms, may_pause=may_pause)
    if reason is None:
        return BarsJudgement(None, shown)
    newest_ms = stored[-1].open_ms if stored else -1
    following = [bar for bar in (*stored[-1:], *shown) if bar.open_ms >= newest_ms]
    most = max(1, FAILING_SHARE * sum(bar.open_ms <= last_closed_ms for bar in following))
    failing: AbstractSet[int] = set()
    if not may_pause:
        if (following[-1].open_ms - following[0].open_ms) // step_ms - len(following) >= most:
            return BarsJudgement(reason)
        failing = _missing(following, step_ms)
    found = failing if reason is RejectReason.BAR_MISSING else found
    rest: Sequence[Bar] = shown
    cause: RejectReason | None = reason
    while cause is not None:
        failing = failing | found
        if not found or len(failing) > most or min(failing) <= newest_ms:
            return BarsJudgement(reason)
        rest = [bar for bar in shown if bar.open_ms not in failing]
        cause, found = _find_failing(rest, stored, quote, step_ms, last_closed_ms, may_pause=True)
    closes = [bar for bar in (*stored, *rest) if bar.open_ms <= last_closed_ms]
    scale = scale_of([bar.close for bar in closes])
    reference = BarReference(closes[-1].close, closes[-1].open_ms + step_ms, scale) if closes else None
    return BarsJudgement(reason, [bar for bar in shown if bar.open_ms < min(failing)], failing, reference)


def _find_failing(
    shown: Sequence[Bar],
    stored: Sequence[Bar],
    quote: Quote | None,
    step_ms: int,
    last_closed_ms: int,
    *,
    may_pause: bool,
) -> tuple[RejectReason | None, AbstractSet[int]]:
    """The first rule that fails, and open times of the bars that fail it; none if they are missing, or if all fail."""
    if impossible := {bar.open_ms for bar in shown if _is_impossible(bar)}:
        return RejectReason.BAR_IMPOSSIBLE, impossible
    known = {bar.open_ms: bar for bar in stored}
    same = BAR_SAME * math.sqrt(step_ms / DAY_MS)
    if any(_is_changed(bar, known[bar.open_ms], same) for bar in shown if bar.open_ms in known):
        return RejectReason.BAR_CHANGED, set()
    newest_ms = stored[-1].open_ms if stored else -1
    series = [*stored[-1:], *(bar for bar in shown if bar.open_ms > newest_ms)]
    if not may_pause and any(later.open_ms - earlier.open_ms != step_ms for earlier, later in pairwise(series)):
        return RejectReason.BAR_MISSING, set()
    closed = [bar for bar in series if bar.open_ms <= last_closed_ms]
    moved: set[int] = set()
    if len(closed) <= len(stored[-1:]):
        return None, moved
    scale = scale_of([bar.close for bar in (*stored, *closed)])
    close_ms = closed[-1].open_ms + step_ms
    price, at_ms = _usable(quote, close_ms)
    if price and not agrees_with_bar(price, BarReference(closed[-1].close, close_ms, scale), at_ms):
        has_leapt = len(closed) > 1 and _is_odd(closed[-2], closed[-1], scale)  # otherwise all bars are off
        return RejectReason.BAR_OFF_PRICE, {closed[-1].open_ms} if has_leapt else set()
    for place, (before, bar) in enumerate(pairwise(series[: len(closed)]), 1):
        if bar is closed[-1] and price:
            is_held = distance(price, bar.close) <= largest_move(scale, at_ms - close_ms)
        else:
            is_held = place + 1 < len(series) and distance(series[place + 1].open, bar.close) <= LEAST_FROM_BAR
        if not is_held and _is_odd(before, bar, scale):
            moved = {bar.open_ms}
            break
    return (RejectReason.BAR_MOVED, moved) if moved else (None, moved)


def _missing(series: Sequence[Bar], step_ms: int) -> set[int]:
    """Open times of the bars that are missing between others."""
    return {
        open_ms
        for earlier, later in pairwise(series)
        for open_ms in range(earlier.open_ms + step_ms, later.open_ms, step_ms)
    }


def judge_payments(shown: Sequence[StampedPayment], quote: Quote | None, now_ms: int) -> RejectReason | None:
    """Judge the payments on the schedule in an answer about one coin's funding.

    Args:
        shown: The payments, oldest first.
        quote: The last accepted quote; null if there is none.
        now_ms: Wall time, epoch milliseconds.

    Returns:
        Why the answer is not stored; null if it may be.
    """
    for paid_ms, rate in shown:
        if abs(rate) > HIGHEST_FUNDING * FUNDING_HOURS or paid_ms > now_ms + MINUTE_MS:
            return RejectReason.PAYMENT_IMPOSSIBLE
    if not shown or quote is None or quote.funding is None or quote.funding_ms is None:
        return None
    paid_ms, rate = shown[-1][0], shown[-1][1] / FUNDING_HOURS
    is_near = abs(quote.funding_ms - paid_ms) <= HOUR_MS
    if is_near and abs(rate - quote.funding) > max(LEAST_FUNDING_MOVE, abs(quote.funding)):
        return RejectReason.PAYMENT_MOVED
    return None


def _is_impossible(bar: Bar) -> bool:
    prices = (bar.open, bar.high, bar.low, bar.close)
    if not all(map(is_price, prices)) or not 0 <= bar.volume * bar.close <= LARGEST_VOLUME:
        return True
    ends = (bar.open, bar.close)
    wick = max(distance(bar.high, max(ends)), distance(bar.low, min(ends)))
    return max(wick, distance(*ends)) > MAGNITUDE


def _is_changed(bar: Bar, stored: Bar, same: float) -> bool:
    return max(distance(bar.open, stored.open), distance(bar.close, stored.close)) > same


def _usable(quote: Quote | None, close_ms: int) -> tuple[float | None, int]:
    """Price of a quote and its time, if near enough to a bar's close to compare with."""
    if quote is None or quote.price is None or quote.price_ms is None or abs(quote.price_ms - close_ms) > OLDEST_MS:
        return None, close_ms
    return quote.price, quote.price_ms


def _has_gap(before: Bar, bar: Bar, scale: float) -> bool:
    return distance(bar.open, before.close) > max(BAR_GAP, BAR_GAP_SCALES * scale)


def _is_odd(before: Bar, bar: Bar, scale: float) -> bool:
    return _has_gap(before, bar, scale) or distance(bar.open, bar.close) > max(BAR_BODY, BAR_BODY_SCALES * scale)


def _held_back(shown: Sequence[Bar], judged: BarsJudgement, newest_ms: int, last_closed_ms: int) -> list[Bar]:
    """New closed bars that may not be stored; all new ones where all may."""
    from_ms = min(judged.failing, default=0)
    return [bar for bar in shown if newest_ms < bar.open_ms <= last_closed_ms and bar.open_ms >= from_ms]


class _Held(NamedTuple):
    """An answer that is held back: reason, rows, and since when (monotonic clock)."""

    reason: RejectReason
    rows: Sequence[Bar] | Sequence[StampedPayment]
    since_s: float


class SeriesCheck:
    """Judges answers before they are stored.

    An answer that fails is stored after all if the second venue shows the same daily bar, or if it stays the same for
    an hour and the second venue does not contradict it.

    Args:
        clock: Monotonic time.
        store: Bars that answers must continue.
        quotes: The last accepted quotes of a dataset, by ticker.
        quarantine: Receives what is held back.
        second: The second venue; null for real-world assets, whose markets close.
        references: Receives the newest plausible close of a coin whose bars are held back.
    """

    def __init__(
        self,
        clock: Clock,
        store: MarketStore,
        quotes: Callable[[str], Mapping[str, Quote]],
        quarantine: Quarantine,
        second: SecondVenueApi | None = None,
        references: BarReferences | None = None,
    ) -> None:
        self._clock = clock
        self._store = store
        self._quotes = quotes
        self._quarantine = quarantine
        self._second = second
        self._references = references
        self._held: dict[tuple[str, str, str], _Held] = {}

    async def judge_bars(
        self,
        origin: str,
        coin: SeriesProgress,
        interval: Interval,
        history: BarBatch,
        last_closed_ms: int,
        *,
        venue: str,
    ) -> BarsJudgement:
        """Judge an answer of bars, and record what is held back of it.

        Args:
            origin: Their dataset.
            coin: Their coin.
            interval: Length of a bar.
            history: The answer.
            last_closed_ms: Bars that opened at or before this instant are closed.
            venue: Source of the answer.

        Returns:
            What may be stored. Its reason is null if that is all.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        step_ms = INTERVAL_MS[interval]
        stored: Sequence[Bar] = ()
        if coin.last_ms is not None:
            stored = await self._store.bars(coin.venue_symbol, interval, coin.last_ms - SCALE_BARS * step_ms)
        quote = self._quotes(origin).get(coin.symbol) if coin.listed else None
        judged = judge_bars(history.bars, stored, quote, step_ms, last_closed_ms, may_pause=self._second is None)
        held = _held_back(history.bars, judged, (coin.last_ms or 0), last_closed_ms)
        is_cleared = await self._is_cleared(coin.symbol, interval, judged, held, venue)
        if interval == "1d" and self._references is not None:
            self._references.note(coin.symbol, None if is_cleared else judged.reference)
        return BarsJudgement(None, history.bars) if is_cleared else judged

    async def _is_cleared(
        self, symbol: str, interval: Interval, judged: BarsJudgement, held: Sequence[Bar], venue: str
    ) -> bool:
        """Whether nothing of an answer is held back: it passed, the second venue confirms it, or it persisted."""
        key, is_of_first = (venue, symbol, f"bars-{interval}"), self._second is None or venue != self._second.name
        reason = judged.reason
        if reason is None or reason in NEVER_BY_PERSISTENCE or not is_of_first or not held:
            return self._note(key, reason, held)
        is_confirmed = await self._confirms(symbol, judged.failing, held) if interval == "1d" else None
        if self._note(key, None if is_confirmed else reason, held):
            return True
        if is_confirmed is False:
            self._restart(key)
        return self._has_persisted(key)

    def storable_payments(
        self, origin: str, coin: SeriesProgress, rows: Sequence[StampedPayment], venue: str
    ) -> list[PaymentRow] | None:
        """What may be stored of an answer of payments, oldest first; null if the answer is held back.

        Payments beside the schedule are left out and recorded as held back: the hours that they miss are gaps.

        Args:
            origin: Their dataset.
            coin: Their coin.
            rows: The answer.
            venue: Source of the answer.
        """
        timely = [row for row in rows if scheduled(row[0], FUNDING_HOURS) is not None]
        reason = judge_payments(timely, self._quotes(origin).get(coin.symbol), self._clock.now_ms())
        key = (venue, coin.symbol, "payments")
        if reason is None and len(timely) < len(rows):
            self._held.pop(key, None)
            self._quarantine.hold(*key, RejectReason.PAYMENT_IMPOSSIBLE, self._clock.now_ms())
        elif not self._note(key, reason, rows) and (reason in NEVER_BY_PERSISTENCE or not self._has_persisted(key)):
            return None
        return on_schedule(timely, FUNDING_HOURS)

    async def _confirms(self, symbol: str, failing: Collection[int], held: Sequence[Bar]) -> bool | None:
        """Whether the second venue shows the daily bars that fail too, and lacks those that are missing.

        Null if unknown. Without bars that fail, the newest one that is held back is compared.
        """
        if self._second is None:
            return None
        days = failing or {held[-1].open_ms}
        try:
            history = await self._second.daily_bars(symbol, min(days))
        except UpstreamError:  # logged by the session
            return None
        if history is None or not history.bars:
            return None
        shown, theirs = ({bar.open_ms: bar for bar in bars} for bars in (held, history.bars))
        if any(day in theirs and not (day in shown and agree(shown[day].close, theirs[day].close)) for day in days):
            return False
        return True if all(day in theirs or day not in shown for day in days) else None

    def _note(
        self, key: tuple[str, str, str], reason: RejectReason | None, rows: Sequence[Bar] | Sequence[StampedPayment]
    ) -> bool:
        """Record what is held back; returns whether nothing is."""
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
        """Restart the time of an answer: the second venue contradicts it."""
        self._held[key] = self._held[key]._replace(since_s=self._clock.monotonic())

    def _has_persisted(self, key: tuple[str, str, str]) -> bool:
        """Whether an answer stayed the same long enough to be stored; it is then released."""
        has_persisted = self._clock.monotonic() - self._held[key].since_s >= BARS_PERSISTENCE_MS / SECOND_MS
        if has_persisted:
            self._quarantine.release(*key[1:])
        return has_persisted
