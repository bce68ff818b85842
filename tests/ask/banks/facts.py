"""Facts for the banks: values of the data routes, and bars of the store."""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote

from fixtures.coins import CATEGORIES
from service.clock import DAY_MS, iso

Row = SimpleNamespace
"""A payload or bar, with its fields as attributes."""

_BARS: Final = (
    "SELECT open_ms, open, high, low, close, volume FROM candles "
    "WHERE venue_symbol = ? AND interval = ? AND final = 1 AND open_ms >= ? ORDER BY open_ms DESC LIMIT ?"
)


_DT: Final = SimpleNamespace(
    timedelta=dt.timedelta,
    date=SimpleNamespace(fromisoformat=dt.date.fromisoformat),
    datetime=SimpleNamespace(fromisoformat=dt.datetime.fromisoformat),
)
"""What expressions use of `datetime`: nothing that reads the clock."""


class Facts:
    """Evaluates the expressions of a bank.

    Args:
        data: Gives the payload of a data route, by its path and query below `/api/cli/`.
        store: The database of the same service.
        at_ms: The instant of the service.
    """

    def __init__(self, data: Callable[[str], Any], store: Path, at_ms: int) -> None:
        self._data = cache(data)
        self._store = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        self._venue: dict[str, str] = {
            symbol: name
            for name, symbol in self._store.execute("SELECT venue_symbol, symbol FROM market_coins WHERE listed = 1")
        }
        named = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}
        self._names: dict[str, Any] = {
            **named,
            "CATEGORIES": [*CATEGORIES.values(), "Stablecoins"],
            "TODAY": day(at_ms),
        }
        self._names |= {"day": day, "mean": mean, "top": top, "iso": iso, "dt": _DT, "now_ms": at_ms}
        self.coins = self._names["coins"] = self._rows()
        self.evaluate = cache(self._evaluate)

    def _evaluate(self, expression: str) -> Any:
        return eval(expression, dict(self._names))  # noqa: S307 - the expressions are part of this repository

    def get(self, path: str) -> Any:
        """The payload of any data route, by its whole path."""
        return _row(self._data(path.removeprefix("/api/cli/")))

    def risk(self, symbol: str) -> Any:
        return self.get(f"coin/risk/{symbol}")

    def past(self, symbol: str, count: int, unit: str = "d") -> Any:
        return self.get(f"coin/historical/{symbol}?count={count}&unit={unit}")

    def change(self, symbol: str, count: int, unit: str = "d") -> Any:
        return self.past(symbol, count, unit).change_pct

    def signal(self, symbol: str, as_of: str | None = None) -> Any:
        return self.get(f"signal/{symbol}" + (f"?as_of={as_of}" if as_of else ""))

    def regime(self, action: str, symbol: str | None = None) -> Any:
        return self.get(f"regime?action={action}" + (f"&symbol={symbol}" if symbol else ""))

    def health(self) -> Any:
        return self.get("market/health")

    def crossing(self) -> Any:
        return self.get("market/crossing")

    def alerts(self, query: str = "") -> Any:
        return self.get(f"funding/alerts?{query}").events

    def category(self, name: str) -> Any:
        return self.get(f"category/info/{quote(name, safe='')}")

    def category_mood(self, name: str) -> Any:
        return self.get(f"category/sentiment/{quote(name, safe='')}")

    def rwa(self, symbol: str) -> Any:
        return self.get(f"rwa/symbol/{quote(symbol, safe='')}")

    def rwa_assets(self, type: str | None = None) -> Any:  # noqa: A002 - as the route calls it
        return self.get("rwa/assets" + (f"?type={type}" if type else "")).assets

    def walk(self, action: str, query: str = "") -> Any:
        return self.get(f"walkforward?action={action}&{query}")

    def quality(self, symbol: str) -> Any:
        return self.get(f"signal-quality?asset={symbol}")

    def talk(self, query: str) -> Any:
        return self.get(f"transcripts?{query}")

    def wallets(self, query: str) -> Any:
        return self.get(f"wallets?{query}")

    def symbols(self) -> list[str]:
        """All tickers."""
        return sorted(self._venue)

    def bars(self, symbol: str, count: int = 30, unit: str = "d") -> list[Row]:
        """The last closed daily (`d`) or hourly (`h`) bars, oldest first; volume in coins."""
        rows = self._store.execute(_BARS, (self._venue[symbol], f"1{unit}", 0, count)).fetchall()
        return [_bar(*row) for row in reversed(rows)]

    def bar(self, symbol: str, date: str) -> Row:
        """The closed daily bar of a date such as `2026-10-05`."""
        start = int(dt.datetime.fromisoformat(f"{date}T00:00+00:00").timestamp() * 1000)
        rows = self._store.execute(_BARS, (self._venue[symbol], "1d", start, -1)).fetchall()
        return next(found for row in rows if (found := _bar(*row)).ms == start)

    def coin(self, symbol: str) -> Row:
        return next(row for row in self.coins if row.symbol == symbol)

    def where(self, test: Callable[[Row], object]) -> list[Row]:
        """Coins that fulfil a test; a value that is not known fulfils none."""
        return [row for row in self.coins if _fulfils(test, row)]

    def _rows(self) -> list[Row]:
        """Every coin with all that the data routes say of it."""
        members: dict[str, list[str]] = {}
        for name in CATEGORIES.values():
            for row in self.category(name).coins:
                members.setdefault(row.symbol, []).append(name)
        regimes = {row.symbol: row.regime for row in self.regime("confidence").coins}
        table = {row.symbol: row for row in self.get("coins?limit=1000").coins}
        return [self._coin(symbol, table[symbol], regimes.get(symbol), members) for symbol in self.symbols()]

    def _coin(self, symbol: str, row: Any, regime: str | None, members: Mapping[str, list[str]]) -> Row:
        risk, signal = self.risk(symbol), self.signal(symbol)
        same = ("price", "funding_apr", "trend_daily", "trend_weekly", "trend_daily_since", "trend_weekly_since")
        return Row(
            symbol=symbol,
            **{name: getattr(risk, name, None) for name in (*same, "btc_correlation")},
            sentiment=risk.sentiment_stance,
            volume=row.volume_24h_usd,
            market_cap=row.market_cap,
            open_interest=row.open_interest_usd,
            **{name: getattr(row, name) for name in ("change_1h", "change_24h", "change_7d", "change_30d")},
            verdict=signal.verdict,
            score=signal.score,
            confidence=signal.confidence,
            regime=regime,
            categories=members.get(symbol, []),
        )


def _row(value: Any) -> Any:
    if isinstance(value, dict):
        return Row(**{name: _row(each) for name, each in value.items()})
    return [_row(each) for each in value] if isinstance(value, list) else value


def _bar(at_ms: int, *prices: float) -> Row:
    return Row(ms=at_ms, day=day(at_ms), **dict(zip(("open", "high", "low", "close", "volume"), prices, strict=True)))


def _fulfils(test: Callable[[Row], object], row: Row) -> bool:
    try:
        return bool(test(row))
    except (TypeError, StopIteration):
        return False


def day(at_ms: float) -> str:
    """The UTC day of an instant."""
    return iso(int(at_ms) // DAY_MS * DAY_MS)[:10]


def mean(values: Iterable[float]) -> float:
    numbers = [*values]
    return sum(numbers) / len(numbers)


def top(rows: Iterable[Row], key: Callable[[Row], Any], count: int = 1, reverse: bool = True) -> list[str]:
    """Tickers of the rows with the largest key, or the smallest; rows without one are left out."""
    known = [row for row in rows if key(row) is not None]
    sign = -1 if reverse else 1
    return [row.symbol for row in sorted(known, key=lambda row: (sign * key(row), row.symbol))][:count]
