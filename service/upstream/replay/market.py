"""The venue as it stood at any instant of the recording: pure functions of the recording and a time."""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, LATEST_MS
from service.upstream.replay.recording import MAIN_DEX, Asset, Candle, Context, FundingRow, Packed, Recording

R = TypeVar("R", bound=msgspec.Struct)

MOST_CANDLES: Final = 5_000
MOST_FUNDING_ROWS: Final = 500
_PRICE_DIGITS: Final = 5
_PRICE_DECIMALS: Final = 6
_HALF_SPREAD: Final = 0.000_05
_INTEREST_ELASTICITY: Final = 0.25
_RATE_DECIMALS: Final = 10
_USD_DECIMALS: Final = 6
_STEP_MS: Final = {"1h": HOUR_MS, "1d": DAY_MS}
_EARLIEST_MS: Final = -LATEST_MS


def decimal_text(value: float, decimals: int) -> str:
    """Write a number as the venue does: no exponent, no trailing zeros, at least one decimal (`118000.0`)."""
    text = f"{value:.{max(decimals, 1)}f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def price_decimals(price: float, sz_decimals: int) -> int:
    """Decimals of the venue's prices: five significant digits, 6 less szDecimals decimals, whole numbers always."""
    digits_before = math.floor(math.log10(price)) + 1 if price > 0 else 1
    return max(0, min(_PRICE_DECIMALS - sz_decimals, _PRICE_DIGITS - digits_before))


def price_text(price: float, sz_decimals: int) -> str:
    """A price in the venue's precision."""
    decimals = price_decimals(price, sz_decimals)
    return decimal_text(round(price, decimals), decimals)


def elapsed(candle: Candle, at_ms: int) -> float:
    """The part of a bar that has passed at an instant, 0 to 1; its last millisecond completes it."""
    passed = (at_ms - candle.open_ms + 1) / (candle.close_ms - candle.open_ms + 1)
    return min(1.0, max(0.0, passed))


def _corners(candle: Candle) -> tuple[float, float, float, float]:
    first, second = float(candle.low), float(candle.high)
    start, end = float(candle.open), float(candle.close)
    return (start, first, second, end) if end >= start else (start, second, first, end)


def _walk(corners: Sequence[float], part: float) -> float:
    leg = min(int(part * 3), 2)
    along = part * 3 - leg
    return corners[leg] + (corners[leg + 1] - corners[leg]) * along


def grown(candle: Candle, part: float, sz_decimals: int) -> Candle:
    """The bar as it looks when a part of it has passed."""
    if part >= 1:
        return candle
    corners = _corners(candle)
    now = _walk(corners, part)
    seen = (*corners[: min(int(part * 3), 2) + 1], now)
    return replace(
        candle,
        close=price_text(now, sz_decimals),
        high=price_text(max(seen), sz_decimals),
        low=price_text(min(seen), sz_decimals),
        volume=decimal_text(float(candle.volume) * part, sz_decimals),
        trades=int(candle.trades * part),
    )


class _Line(Generic[R]):
    """Rows in order of time. What lies among the newest is found without unpacking the rest."""

    def __init__(self, rows: Sequence[R], time: Callable[[R], int]) -> None:
        self._rows = rows
        self._time = time

    @cached_property
    def _end(self) -> tuple[Sequence[R], int]:
        """The newest rows, and from which time on they are all there are; unpacked when they are first asked for."""
        newest = self._rows.newest if isinstance(self._rows, Packed) else self._rows
        return newest, _EARLIEST_MS if len(newest) == len(self._rows) else self._time(newest[0])

    def _since(self, at_ms: int) -> Sequence[R]:
        newest, from_ms = self._end
        return newest if at_ms >= from_ms else self._rows

    def between(self, first_ms: int, last_ms: int) -> Sequence[R]:
        """Rows of a span of time, both ends included."""
        rows = self._since(first_ms)
        return rows[bisect_left(rows, first_ms, key=self._time) : bisect_right(rows, last_ms, key=self._time)]

    def around(self, at_ms: int) -> tuple[R, R] | None:
        """The last row that is not later, and the one after it, or itself again if none is; null if all are later."""
        rows = self._since(at_ms)
        after = bisect_right(rows, at_ms, key=self._time)
        return (rows[after - 1], rows[min(after, len(rows) - 1)]) if after else None


def _lines(series: Mapping[str, Sequence[R]], time: Callable[[R], int]) -> defaultdict[str, _Line[R]]:
    return defaultdict(lambda: _Line[R]((), time), {coin: _Line(rows, time) for coin, rows in series.items()})


class RecordedMarket:
    """A recording that can be stopped at any instant; every time in and out is recorded time.

    A coin is any dex's: `BTC`, `xyz:AAPL`.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._assets = {asset.name: asset for meta in recording.universes.values() for asset in meta.universe}
        self._hours = _lines(recording.hours, _opened)
        self._days = _lines(recording.days, _opened)
        self._paid = _lines(recording.funding, _payment)
        self._last_volume = {coin: self._volume(coin, recording.frozen_at_ms)[0] for coin in recording.hours}

    def knows(self, coin: str) -> bool:
        """Whether the venue ever listed it."""
        return coin in self._assets

    def asset(self, coin: str) -> Asset:
        """A coin's row of its universe.

        Raises:
            KeyError: If the venue never listed it.
        """
        return self._assets[coin]

    @property
    def universe(self) -> Sequence[Asset]:
        """Everything listed by the main dex."""
        return self.universe_of(MAIN_DEX)

    def universe_of(self, dex: str) -> Sequence[Asset]:
        """Everything listed by a dex, delisted rows included, in the venue's order.

        Raises:
            KeyError: If there is no such dex.
        """
        return self._recording.universes[dex].universe

    def price(self, coin: str, at_ms: int) -> float | None:
        """The price at an instant: within the hour that contains it, else the last close before; null if none."""
        found = self._hours[coin].around(at_ms)
        return _walk(_corners(found[0]), elapsed(found[0], at_ms)) if found else None

    def candles(self, coin: str, interval: str, at_ms: int, start_ms: int, end_ms: int) -> list[Candle]:
        """Bars from the one that contains `start_ms` to that of `end_ms` or now, the last still growing."""
        if interval not in _STEP_MS:
            return []
        line = self._hours[coin] if interval == "1h" else self._days[coin]
        known = line.between(start_ms - _STEP_MS[interval] + 1, at_ms)[-MOST_CANDLES:]
        return [self._as_of(bar, at_ms) for bar in known if bar.open_ms <= end_ms]

    def funding(self, coin: str, at_ms: int, start_ms: int, end_ms: int) -> Sequence[FundingRow]:
        """The first payments in a span of time, both ends included, up to a page."""
        return self._paid[coin].between(start_ms, min(end_ms, at_ms))[:MOST_FUNDING_ROWS]

    def context(self, asset: Asset, at_ms: int) -> Context:
        """A coin's context; a delisted coin's, or one without bars, is as it was recorded."""
        recorded, price = self._recording.contexts[asset.name], self.price(asset.name, at_ms)
        if price is None or asset.is_delisted:
            return recorded
        sz, coin = asset.sz_decimals, asset.name
        base, notional = self._volume(coin, at_ms)
        rate, premium = self._running(coin, at_ms)
        scale = (base / self._last_volume[coin]) ** _INTEREST_ELASTICITY if base and self._last_volume[coin] else 1.0
        bid, ask, mid = _book(price, sz)
        return Context(
            funding=decimal_text(rate, _RATE_DECIMALS),
            open_interest=decimal_text(float(recorded.open_interest) * scale, sz),
            prev_day_px=price_text(self.price(coin, at_ms - DAY_MS) or price, sz),
            day_ntl_vlm=decimal_text(notional, _USD_DECIMALS),
            premium=None if premium is None else decimal_text(premium, _RATE_DECIMALS),
            oracle_px=price_text(price / (1 + (premium or 0.0)), sz),
            mark_px=price_text(price, sz),
            mid_px=mid,
            impact_pxs=(bid, ask),
            day_base_vlm=decimal_text(base, sz),
        )

    def mid(self, asset: Asset, at_ms: int) -> str | None:
        """The mid price, null where a coin is not traded."""
        price = None if asset.is_delisted else self.price(asset.name, at_ms)
        return None if price is None else _book(price, asset.sz_decimals)[2]

    def _as_of(self, bar: Candle, at_ms: int) -> Candle:
        sz, part = self._assets[bar.coin].sz_decimals, elapsed(bar, at_ms)
        if part >= 1 or bar.interval == "1h":
            return grown(bar, part, sz)
        hours = [self._as_of(hour, at_ms) for hour in self._hours[bar.coin].between(bar.open_ms, at_ms)]
        if not hours:
            return grown(bar, part, sz)
        return replace(
            bar,
            open=hours[0].open,
            close=hours[-1].close,
            high=max((hour.high for hour in hours), key=float),
            low=min((hour.low for hour in hours), key=float),
            volume=decimal_text(math.fsum(float(hour.volume) for hour in hours), sz),
            trades=sum(hour.trades for hour in hours),
        )

    def _volume(self, coin: str, at_ms: int) -> tuple[float, float]:
        """Base and USD volume of the 24 hours before an instant."""
        base = notional = 0.0
        for bar in self._hours[coin].between(at_ms - DAY_MS - HOUR_MS, at_ms):
            part = elapsed(bar, at_ms) - elapsed(bar, at_ms - DAY_MS)
            base += float(bar.volume) * part
            notional += float(bar.volume) * part * (float(bar.open) + float(bar.close)) / 2
        return base, notional

    def _running(self, coin: str, at_ms: int) -> tuple[float, float | None]:
        """The running funding rate and premium, on the line from the last payment to the next."""
        found = self._paid[coin].around(at_ms)
        if found is None:
            return 0.0, None
        last, after = found
        part = (at_ms - last.time_ms) / ((after.time_ms - last.time_ms) or 1)
        rate = float(last.rate) + (float(after.rate) - float(last.rate)) * part
        if last.premium is None or after.premium is None:
            return rate, None
        return rate, float(last.premium) + (float(after.premium) - float(last.premium)) * part


def _opened(candle: Candle) -> int:
    return candle.open_ms


def _payment(row: FundingRow) -> int:
    return row.time_ms


def _book(price: float, sz_decimals: int) -> tuple[str, str, str]:
    """Impact bid, impact ask and mid around a price: a basis point apart, or a tick on each side."""
    decimals = price_decimals(price, sz_decimals)
    ticks = 10.0**decimals
    bid = math.floor(price * (1 - _HALF_SPREAD) * ticks) / ticks
    ask = math.ceil(price * (1 + _HALF_SPREAD) * ticks) / ticks
    return decimal_text(bid, decimals), decimal_text(ask, decimals), decimal_text((bid + ask) / 2, decimals + 1)
