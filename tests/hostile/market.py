"""The true market of the hostile suite, and the neutral table that forgeries change before a venue writes it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.market.symbols import canonical
from service.units import apr_pct
from service.upstream.replay.market import RecordedMarket
from service.upstream.replay.recording import Recording, load_recording
from tests.fakes.clock import START_MS
from tests.upstream.conftest import FIXTURES

COINS_USED = (
    "BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "ADA", "AVAX", "LINK", "SUI", "DOT", "LTC", "BCH", "NEAR", "APT",
    "ARB", "OP", "UNI", "AAVE", "CRV", "PENDLE", "ENA", "JUP", "TIA", "TRX", "HYPE", "WIF", "kPEPE", "kBONK", "PUMP",
)  # fmt: skip
"""Of the recorded universe: enough for shares of a table, few enough for hundreds of cases."""

ONLY_FIRST = frozenset({"HYPE", "PUMP"})
"""Coins of those that the second venue does not trade."""

HISTORY_FROM_MS = START_MS // DAY_MS * DAY_MS - 60 * DAY_MS
PAYMENTS_FROM_MS = START_MS // HOUR_MS * HOUR_MS - 8 * DAY_MS
"""Alerts need a week of payments."""


class Row(Struct):
    """A coin as a venue shows it. All numbers are text, as venues write them. `funding` is the fraction an hour."""

    name: str
    price: str
    funding: str
    prev: str
    volume: str
    interest: str
    delisted: bool = False


class Shown(Struct):
    """A whole answer before it is written in a venue's format, and its `Date`."""

    rows: list[Row]
    date_ms: int


@cache
def recording() -> Recording:
    return load_recording(FIXTURES)


@cache
def tape() -> RecordedMarket:
    return RecordedMarket(recording())


PriceOf = Callable[[str, int], float]


@lru_cache(maxsize=200_000)
def recorded_price(coin: str, at_ms: int) -> float:
    """The recorded price of a coin at an instant, USD."""
    price = tape().price(coin, at_ms)
    assert price is not None
    return price


class TrueMarket:
    """What is so.

    Attributes:
        coins: Venue symbols, in the venue's order.
        price: The price of a coin at an instant, USD. Tests of crashes replace it.
    """

    def __init__(self, price: PriceOf = recorded_price, coins: Sequence[str] = ()) -> None:
        self.coins = list(coins) or list(COINS_USED)
        self.price = price
        # Constant rates: no alert fires by itself, so each that fires while something is forged comes from that.
        self._rates = {
            coin: float(row.rate)
            for coin in self.coins
            for row in tape().funding(coin, START_MS, START_MS - 2 * HOUR_MS, START_MS)[-1:]
        }
        self._shown: tuple[PriceOf, int, Shown] | None = None

    def symbols(self) -> list[str]:
        """Tickers."""
        return [canonical(coin) for coin in self.coins]

    def rate(self, coin: str) -> float:
        """Funding, the fraction an hour."""
        return self._rates.get(coin, 0.0000125)

    def apr(self, coin: str) -> float:
        """Funding in percent a year."""
        return apr_pct(self.rate(coin))

    def shown(self, at_ms: int) -> Shown:
        """An honest answer. That of the last instant asked for is kept: several readers ask for the same one."""
        if self._shown is not None and self._shown[:2] == (self.price, at_ms):
            return self._shown[2]
        contexts = recording().contexts
        shown = Shown(
            [
                Row(
                    coin,
                    f"{self.price(coin, at_ms):.10f}",
                    f"{self.rate(coin):.10f}",
                    f"{self.price(coin, at_ms - DAY_MS):.10f}",
                    contexts[coin].day_ntl_vlm if coin in contexts else "5000000.0",
                    contexts[coin].open_interest if coin in contexts else "100000.0",
                )
                for coin in self.coins
            ],
            at_ms,
        )
        self._shown = (self.price, at_ms, shown)
        return shown


def daily(coin: str, at_ms: int, start_ms: int) -> list[dict[str, Any]]:
    """Recorded daily bars as the first venue writes them."""
    return _bars(coin, "1d", at_ms, max(start_ms, HISTORY_FROM_MS))


def hourly(coin: str, at_ms: int, start_ms: int) -> list[dict[str, Any]]:
    """Recorded hourly bars as the first venue writes them."""
    return _bars(coin, "1h", at_ms, start_ms)


def _bars(coin: str, interval: str, at_ms: int, start_ms: int) -> list[dict[str, Any]]:
    return [
        {
            "t": bar.open_ms, "T": bar.close_ms, "s": bar.coin, "i": interval, "o": bar.open, "c": bar.close,
            "h": bar.high, "l": bar.low, "v": bar.volume, "n": bar.trades,
        }
        for bar in tape().candles(coin, interval, at_ms, start_ms, at_ms)
    ]  # fmt: skip


def payments(coin: str, at_ms: int, start_ms: int) -> list[dict[str, Any]]:
    """Recorded payments of funding as the first venue writes them."""
    rows = tape().funding(coin, at_ms, max(start_ms, PAYMENTS_FROM_MS), at_ms)
    return [{"coin": row.coin, "fundingRate": row.rate, "premium": row.premium, "time": row.time_ms} for row in rows]


def write_first(shown: Shown) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Universe and contexts in the first venue's format."""
    universe = [
        {"name": row.name, "szDecimals": 2, "maxLeverage": 10} | ({"isDelisted": True} if row.delisted else {})
        for row in shown.rows
    ]
    contexts = [
        {
            "funding": row.funding, "openInterest": row.interest, "prevDayPx": row.prev, "dayNtlVlm": row.volume,
            "premium": None, "oraclePx": row.price, "markPx": row.price, "midPx": None, "impactPxs": None,
            "dayBaseVlm": "1.0",
        }
        for row in shown.rows
    ]  # fmt: skip
    return universe, contexts


def contract_of(coin: str) -> str:
    """The second venue's symbol of a coin."""
    return f"1000{coin[1:]}USDT" if coin[:1] == "k" and coin[1:].isupper() else f"{coin}USDT"


def write_second(shown: Shown, at_ms: int) -> Mapping[str, list[dict[str, Any]]]:
    """`premiumIndex` and `ticker/24hr` in the second venue's format; funding every eight hours."""
    rows = [row for row in shown.rows if row.name not in ONLY_FIRST]
    return {
        "premiumIndex": [
            {"symbol": contract_of(row.name), "markPrice": row.price, "time": at_ms, "lastFundingRate": _times_8(row)}
            for row in rows
        ],
        "ticker/24hr": [
            {"symbol": contract_of(row.name), "openPrice": row.prev, "quoteVolume": row.volume} for row in rows
        ],
    }


def _times_8(row: Row) -> str:
    try:
        return f"{float(row.funding) * 8:.10f}"
    except ValueError:
        return row.funding


def seconds(at_ms: int) -> int:
    """An instant in whole seconds, as `Date` headers are."""
    return at_ms // SECOND_MS * SECOND_MS
