"""The venue as it stood at any instant of the recording: pure functions of the recording and a time."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS
from service.upstream.replay.recording import Asset, Candle, Context, FundingRow, Recording

MOST_CANDLES: Final = 5_000
MOST_FUNDING_ROWS: Final = 500
_PRICE_DIGITS: Final = 5
_PRICE_DECIMALS: Final = 6
_HALF_SPREAD: Final = 0.000_05
_INTEREST_ELASTICITY: Final = 0.25
_RATE_DECIMALS: Final = 10
_USD_DECIMALS: Final = 6


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


class Tape:
    """A recording that can be stopped at any instant; every time in and out is recorded time."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._assets = {asset.name: asset for asset in recording.meta.universe}
        self._opens = {coin: [bar.open_ms for bar in bars] for coin, bars in recording.hours.items()}
        self._paid = {coin: [row.time_ms for row in rows] for coin, rows in recording.funding.items()}
        self._last_volume = {coin: self._volume(coin, recording.frozen_at_ms)[0] for coin in recording.hours}

    def knows(self, coin: str) -> bool:
        """Whether the venue ever listed it."""
        return coin in self._assets

    @property
    def universe(self) -> Sequence[Asset]:
        """Everything listed, delisted rows included, in the venue's order."""
        return self._recording.meta.universe

    def price(self, coin: str, at_ms: int) -> float | None:
        """The price at an instant: within the hour that contains it, else the last close before; null if none."""
        hours, at = self._recording.hours.get(coin, []), bisect_right(self._opens.get(coin, []), at_ms) - 1
        return _walk(_corners(hours[at]), elapsed(hours[at], at_ms)) if at >= 0 else None

    def candles(self, coin: str, interval: str, at_ms: int, start_ms: int, end_ms: int) -> list[Candle]:
        """Bars from the one that contains `start_ms` to that of `end_ms` or now, the last still growing."""
        series = {"1h": self._recording.hours, "1d": self._recording.days}.get(interval, {}).get(coin, [])
        until = min(end_ms, at_ms)
        known = [bar for bar in series if bar.open_ms <= at_ms][-MOST_CANDLES:]
        return [self._as_of(bar, at_ms) for bar in known if bar.close_ms >= start_ms and bar.open_ms <= until]

    def funding(self, coin: str, at_ms: int, start_ms: int, end_ms: int) -> list[FundingRow]:
        """The first payments in a span of time, both ends included, up to a page."""
        times, rows = self._paid.get(coin, []), self._recording.funding.get(coin, [])
        first, last = bisect_left(times, start_ms), bisect_right(times, min(end_ms, at_ms))
        return rows[first:last][:MOST_FUNDING_ROWS]

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
        hours = [self._as_of(hour, at_ms) for hour in self._hours(bar.coin, bar.open_ms, at_ms)]
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

    def _hours(self, coin: str, from_ms: int, at_ms: int) -> list[Candle]:
        opens = self._opens.get(coin, [])
        return self._recording.hours.get(coin, [])[bisect_left(opens, from_ms) : bisect_right(opens, at_ms)]

    def _volume(self, coin: str, at_ms: int) -> tuple[float, float]:
        """Base and USD volume of the 24 hours before an instant."""
        base = notional = 0.0
        for bar in self._hours(coin, at_ms - DAY_MS - DAY_MS // 24, at_ms):
            part = elapsed(bar, at_ms) - elapsed(bar, at_ms - DAY_MS)
            base += float(bar.volume) * part
            notional += float(bar.volume) * part * (float(bar.open) + float(bar.close)) / 2
        return base, notional

    def _running(self, coin: str, at_ms: int) -> tuple[float, float | None]:
        """The running funding rate and premium, on the line from the last payment to the next."""
        rows, at = self._recording.funding.get(coin, []), bisect_right(self._paid.get(coin, []), at_ms) - 1
        if at < 0:
            return 0.0, None
        last, after = rows[at], rows[min(at + 1, len(rows) - 1)]
        part = (at_ms - last.time_ms) / ((after.time_ms - last.time_ms) or 1)
        rate = float(last.rate) + (float(after.rate) - float(last.rate)) * part
        if last.premium is None or after.premium is None:
            return rate, None
        return rate, float(last.premium) + (float(after.premium) - float(last.premium)) * part


def _book(price: float, sz_decimals: int) -> tuple[str, str, str]:
    """Impact bid, impact ask and mid around a price: a basis point apart, or a tick on each side."""
    decimals = price_decimals(price, sz_decimals)
    ticks = 10.0**decimals
    bid = math.floor(price * (1 - _HALF_SPREAD) * ticks) / ticks
    ask = math.ceil(price * (1 + _HALF_SPREAD) * ticks) / ticks
    return decimal_text(bid, decimals), decimal_text(ask, decimals), decimal_text((bid + ask) / 2, decimals + 1)
