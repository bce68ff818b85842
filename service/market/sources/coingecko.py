"""CoinGecko: `GET /api/v3/...`, with a free demo key or none.

Source: CoinGecko's API documentation (v3: "Coins List with Market Data", "Coins Categories List with Market Data",
"Coin Historical Chart Data by ID") and recorded samples. Numbers are JSON numbers; an id, a ticker and a name are
always there, anything else may be null.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from html import unescape
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct
from msgspec.json import Decoder

from service.clock import Clock, parse_iso
from service.market.plausibility import is_price
from service.market.plausibility_rules import LARGEST_CAP
from service.upstream.session import Fetched, UpstreamSession

PER_PAGE: Final = 250
"""Rows of a page: the most there can be."""

DAILY_DAYS: Final = 365
"""Days of the longest chart to be had without paying; a point a day, at 00:00 UTC."""

HOURLY_DAYS: Final = 42
"""Days of a chart with a point an hour (CoinGecko gives those from 2 to 90 days): 1,000 hours and some."""

REFRESH_S: Final = 300.0
FILLING_REFRESH_S: Final = 900.0
"""While something has never been read: the calls saved read it sooner."""

KEYED_REFRESH_S: Final = 3_600.0
"""With a key a month has 10,000 calls, some 300 a day: fewer than without one, which answers 5 a minute."""

_CALL: Final = 1
_ROUND_CALLS: Final = 4
"""Two pages of coins, some coins by their ids, and the categories."""

_MARKETS: Final = "/api/v3/coins/markets"
_FINITE: Final = 1e300
_LONGEST_TEXT: Final = 600
_LONGEST_HTML: Final = 8_192
_LONGEST_NAME: Final = 80
_MARKUP: Final = (
    (re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)"), " "),
    (re.compile(r"(?i)</?(?:p|br|li|ul|ol|div|h[1-6]|t[rdh])\b[^<>]*>"), " "),
    (re.compile(r"</?[A-Za-z!][^<>]*>"), ""),
)
"""In this order: what a browser runs and does not show, what it begins a line for, every other tag. Linear but for the
first, which is why no more than 8 KB are read."""

Number: TypeAlias = Annotated[float, Meta(ge=-_FINITE, le=_FINITE)]
"""A finite number."""

T = TypeVar("T")


class MarketRow(Struct, frozen=True):
    """A coin: USD; `total_volume` of 24 hours, spot, on all venues CoinGecko follows; the change in percent."""

    id: str
    symbol: str
    name: str
    current_price: Number | None = None
    market_cap: Number | None = None
    total_volume: Number | None = None
    last_updated: str | None = None


class CategoryRow(Struct, frozen=True):
    """A category: USD, percent; `content` describes it, in HTML at times."""

    id: str
    name: str
    market_cap: Number | None = None
    market_cap_change_24h: Number | None = None
    content: str | None = None
    volume_24h: Number | None = None
    updated_at: str | None = None


class ChartRows(Struct, frozen=True):
    """A coin's past: pairs of epoch milliseconds and USD, oldest first."""

    market_caps: tuple[tuple[Number, Number | None], ...]
    total_volumes: tuple[tuple[Number, Number | None], ...]


MARKETS: Final = Decoder(tuple[MarketRow, ...])
CATEGORIES: Final = Decoder(tuple[CategoryRow, ...])
CHART: Final = Decoder(ChartRows)


class GeckoCoin(Struct, frozen=True):
    """A coin as CoinGecko showed it: ticker in upper case, USD, and when that was so."""

    id: str
    ticker: str
    name: str
    price: float | None
    market_cap: float | None
    volume_usd: float | None
    seen_ms: int


class GeckoCategory(Struct, frozen=True):
    """A category as CoinGecko showed it: USD, `change_24h` percent, and when that was so. The description is text."""

    id: str
    name: str
    description: str | None
    market_cap: float | None
    change_24h: float | None
    volume_24h: float | None
    seen_ms: int


class Cap(Struct, frozen=True):
    """What a coin was worth at a time, USD; `volume_usd` of the 24 hours before, spot."""

    at_ms: int
    market_cap: float | None
    volume_usd: float | None


class CoinGecko:
    """CoinGecko, as this room asks it. Every call weighs one.

    Args:
        session: Open session to it; keeps its limits.
        clock: Nothing is dated after its receipt.
        take: Called before each call, to keep a limit that a session cannot keep; may raise.
    """

    def __init__(
        self, session: UpstreamSession, clock: Clock, take: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._session = session
        self._clock = clock
        self._take = take

    def refresh_s(self, *, filling: bool = False) -> float:
        """How often coins and categories are requested again, in seconds: what the limits allow.

        Args:
            filling: Whether something has never been read.
        """
        if self._session.calls_per_month is not None:
            return KEYED_REFRESH_S
        return FILLING_REFRESH_S if filling else REFRESH_S

    def wait_s(self, calls: int) -> float:
        """Estimate of the seconds until so many calls have been made, beside those for coins and categories."""
        return self._session.wait_s(calls * _CALL, _ROUND_CALLS / self.refresh_s(filling=True))

    async def page(self, number: int, category: str | None = None) -> list[GeckoCoin]:
        """Ask for a page of the coins, the largest market caps first.

        Args:
            number: From 1.
            category: Id of a category, whose coins alone are wanted.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        wanted = {} if category is None else {"category": category}
        return await self._coins(**wanted, order="market_cap_desc", per_page=str(PER_PAGE), page=str(number))

    async def coins(self, ids: Collection[str]) -> list[GeckoCoin]:
        """Ask for certain coins, a page of them at most.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        return await self._coins(ids=",".join(ids), per_page=str(PER_PAGE))

    async def categories(self) -> list[GeckoCategory]:
        """Ask for all categories, the largest first.

        Raises:
            UpstreamError: If there is no answer that can be trusted.
        """
        fetched = await self._get("/api/v3/coins/categories", CATEGORIES, {})
        return [
            GeckoCategory(
                row.id,
                row.name,
                plain_text(row.content or "") or None,
                _worth(row.market_cap),
                row.market_cap_change_24h,
                _volume(row.volume_24h),
                self._seen(row.updated_at, fetched.date_ms),
            )
            for row in fetched.value
        ]

    async def caps(self, coin_id: str, days: Literal[365, 42]) -> list[Cap]:
        """Ask for a coin's market caps and volumes, oldest first: by the day (365), or by the hour (42).

        Raises:
            UpstreamError: If there is no answer that can be trusted; 404 where it does not know the coin.
        """
        query = {"vs_currency": "usd", "days": str(days)}
        fetched = await self._get(f"/api/v3/coins/{coin_id}/market_chart", CHART, query)
        volumes = {int(at_ms): _volume(volume) for at_ms, volume in fetched.value.total_volumes}
        now_ms = self._clock.now_ms()
        points = ((int(at_ms), cap) for at_ms, cap in fetched.value.market_caps)
        caps = {at_ms: Cap(at_ms, _worth(cap), volumes.get(at_ms)) for at_ms, cap in points if 0 < at_ms <= now_ms}
        return [caps[at_ms] for at_ms in sorted(caps)]

    async def _get(self, path: str, decoder: Decoder[T], query: Mapping[str, str]) -> Fetched[T]:
        if self._take is not None:
            await self._take()
        return await self._session.get(path, weight=_CALL, decoder=decoder, query=query)

    async def _coins(self, **wanted: str) -> list[GeckoCoin]:
        fetched = await self._get(_MARKETS, MARKETS, {"vs_currency": "usd", **wanted})
        return [
            GeckoCoin(
                row.id,
                row.symbol.upper(),
                printable(row.name)[:_LONGEST_NAME],
                _price(row.current_price),
                _worth(row.market_cap),
                _volume(row.total_volume),
                self._seen(row.last_updated, fetched.date_ms),
            )
            for row in fetched.value
        ]

    def _seen(self, said: str | None, date_ms: int) -> int:
        """When something was so: as the row says, but never later than the answer, nor than now."""
        now_ms = min(date_ms, self._clock.now_ms())
        try:
            return now_ms if said is None else min(parse_iso(said), now_ms)
        except ValueError:
            return now_ms


def printable(text: str) -> str:
    """An upstream's words without what a terminal or a page would act on: other characters become blanks."""
    return "".join(character if character.isprintable() else " " for character in text)


def _worth(usd: float | None) -> float | None:
    """A market cap; zero is how CoinGecko writes one that it does not know."""
    return usd if usd is not None and 0 < usd <= LARGEST_CAP else None


def _price(usd: float | None) -> float | None:
    return usd if usd is not None and is_price(usd) else None


def _volume(usd: float | None) -> float | None:
    return usd if usd is not None and 0 <= usd <= LARGEST_CAP else None


def plain_text(html: str) -> str:
    """What a browser would show of a piece of HTML, on one line, at most 600 characters, cut after a sentence or word.

    Args:
        html: As an upstream wrote it; anything.
    """
    text = html[:_LONGEST_HTML]
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = " ".join(printable(unescape(text)).split())
    if len(text) <= _LONGEST_TEXT:
        return text
    start = text[: _LONGEST_TEXT - 1]
    sentence = start.rfind(". ")
    if sentence > _LONGEST_TEXT // 2:
        return start[: sentence + 1]
    return start.rsplit(" ", 1)[0].rstrip(",;:") + "…"
