"""The plausibility check of bars and payments: decides whether they continue the history of a coin. Pure.

Bars and payments are stored for ever, so an answer of which one row fails is not stored at all: it is asked for again.
Rules and thresholds are in `plausibility_rules`.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.observed import Bar, PaymentRow, Quote
from service.market.plausibility import Reference, agrees_with_bar, distance, is_price, largest_move, scale_of
from service.market.plausibility_rules import (
    BAR_BODY,
    BAR_BODY_SCALES,
    BAR_GAP,
    BAR_GAP_SCALES,
    BAR_SAME,
    HIGHEST_FUNDING,
    LARGEST_VOLUME,
    LEAST_FROM_BAR,
    LEAST_FUNDING_MOVE,
    MAGNITUDE,
    OLDEST_MS,
    PAYMENT_LATE_MS,
    Reason,
)


def judge_bars(
    shown: Sequence[Bar],
    stored: Sequence[Bar],
    quote: Quote | None,
    step_ms: int,
    last_closed_ms: int,
    *,
    may_pause: bool = False,
) -> Reason | None:
    """Judge an answer of bars of one coin.

    Args:
        shown: What a venue shows, oldest first; it may begin with bars that are stored, and end with the open one.
        stored: The newest stored bars, oldest first; none on a first load.
        quote: The last accepted quote; null if there is none.
        step_ms: Length of a bar.
        last_closed_ms: Bars that opened until this instant are closed.
        may_pause: Whether bars may be missing: the market of the asset closes.

    Returns:
        Why the answer is not stored; null if its closed bars may be.
    """
    if any(_is_impossible(bar) for bar in shown):
        return Reason.BAR_IMPOSSIBLE
    known = {bar.open_ms: bar for bar in stored}
    same = BAR_SAME * math.sqrt(step_ms / DAY_MS)
    if any(_is_changed(bar, known[bar.open_ms], same) for bar in shown if bar.open_ms in known):
        return Reason.BAR_CHANGED
    return _judge_new(shown, stored, quote, step_ms, last_closed_ms, may_pause=may_pause)


def _judge_new(
    shown: Sequence[Bar],
    stored: Sequence[Bar],
    quote: Quote | None,
    step_ms: int,
    last_closed_ms: int,
    *,
    may_pause: bool,
) -> Reason | None:
    """Judge the bars that are not stored yet: that they follow, and that what leaps is held."""
    newest_ms = stored[-1].open_ms if stored else -1
    series = [*stored[-1:], *(bar for bar in shown if bar.open_ms > newest_ms)]
    if not may_pause and any(later.open_ms - earlier.open_ms != step_ms for earlier, later in pairwise(series)):
        return Reason.BAR_MISSING
    closed = [bar for bar in series if bar.open_ms <= last_closed_ms]
    if len(closed) <= len(stored[-1:]):
        return None
    scale = scale_of([bar.close for bar in (*stored, *closed)])
    close_ms = closed[-1].open_ms + step_ms
    price, at_ms = _usable(quote, close_ms)
    if price and not agrees_with_bar(price, Reference(closed[-1].close, close_ms, scale), at_ms):
        return Reason.BAR_OFF_PRICE
    for place, (before, bar) in enumerate(pairwise(series[: len(closed)]), 1):
        after = series[place + 1] if place + 1 < len(series) else None
        if not _is_odd(before, bar, scale):
            continue
        if bar is closed[-1] and price:
            is_held = distance(price, bar.close) <= largest_move(scale, at_ms - close_ms)
        else:
            is_held = after is not None and distance(after.open, bar.close) <= LEAST_FROM_BAR
        if not is_held:
            return Reason.BAR_MOVED
    return None


def judge_payments(shown: Sequence[PaymentRow], quote: Quote | None, now_ms: int) -> Reason | None:
    """Judge an answer of payments of one coin's funding.

    Args:
        shown: What the venue shows, oldest first.
        quote: The last accepted quote; null if there is none.
        now_ms: Wall time, epoch milliseconds.

    Returns:
        Why the answer is not stored; null if it may be.
    """
    for paid_ms, rate, _ in shown:
        off_ms = min(paid_ms % HOUR_MS, -paid_ms % HOUR_MS)
        if abs(rate) > HIGHEST_FUNDING or off_ms > PAYMENT_LATE_MS or paid_ms > now_ms + MINUTE_MS:
            return Reason.PAYMENT_IMPOSSIBLE
    if not shown or quote is None or quote.funding is None or quote.funding_ms is None:
        return None
    paid_ms, rate, _ = shown[-1]
    is_near = abs(quote.funding_ms - paid_ms) <= HOUR_MS
    if is_near and abs(rate - quote.funding) > max(LEAST_FUNDING_MOVE, abs(quote.funding)):
        return Reason.PAYMENT_MOVED
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
    """The price of a quote and its time, if it is near enough to a bar's close to be compared with it."""
    if quote is None or quote.price is None or quote.price_ms is None or abs(quote.price_ms - close_ms) > OLDEST_MS:
        return None, close_ms
    return quote.price, quote.price_ms


def _has_gap(before: Bar, bar: Bar, scale: float) -> bool:
    return distance(bar.open, before.close) > max(BAR_GAP, BAR_GAP_SCALES * scale)


def _is_odd(before: Bar, bar: Bar, scale: float) -> bool:
    return _has_gap(before, bar, scale) or distance(bar.open, bar.close) > max(BAR_BODY, BAR_BODY_SCALES * scale)
