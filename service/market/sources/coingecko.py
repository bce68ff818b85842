"""CoinGecko: `GET /api/v3/...`, with a free demo key or none.

Source: CoinGecko's API documentation (v3: "Coins List with Market Data", "Coins Categories List with Market Data",
"Coin Historical Chart Data by ID") and recorded samples. Numbers are JSON numbers. An id, a ticker and a name are
always present, anything else may be null.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from html import unescape
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct
from msgspec.json import Decoder

from service.clock import SECOND_MS, Clock, parse_iso
from service.market.plausibility.quotes import is_price
from service.market.plausibility.rules import LARGEST_CAP
from service.upstream.session import Fetched, UpstreamSession

PER_PAGE: Final = 250
"""Maximum rows of a page."""

DAILY_DAYS: Final = 365
"""Days of the longest free chart; one point a day, at 00:00 UTC."""

HOURLY_DAYS: Final = 42
"""Days of a chart with one point an hour (available for 2 to 90 days): just over 1,000 hours."""

REFRESH_S: Final = 300.0
FILLING_REFRESH_S: Final = 900.0
"""Used while some data has never been read, which the saved calls then read sooner."""

KEYED_REFRESH_S: Final = 3_600.0
"""A key has 10,000 calls a month, some 300 a day: fewer than without one, at 5 a minute."""

_CALL: Final = 1
_ROUND_CALLS: Final = 5
"""Two pages of coins, some coins by their ids, the categories, and the totals."""

_MARKETS: Final = "/api/v3/coins/markets"
_FINITE: Final = 1e300
_WHOLE: Final = 100.0
_LONGEST_TEXT: Final = 600
_LONGEST_HTML: Final = 8_192
_LONGEST_NAME: Final = 80
_MARKUP: Final = (
    (re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)"), " "),
    (re.compile(r"(?i)</?(?:p|br|li|ul|ol|div|h[1-6]|t[rdh])\b[^<>]*>"), " "),
    (re.compile(r"</?[A-Za-z!][^<>]*>"), ""),
)
"""Applied in order: scripts and styles, tags that begin a line, all other tags. All but the first are linear, so at
most 8 KB are read.
"""

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


class PlatformRow(Struct, frozen=True):
    """A coin and its contracts: CoinGecko's id of a chain → address, which may be empty."""

    id: str
    symbol: str
    name: str
    platforms: dict[str, str | None] = {}


class OverviewRow(Struct, frozen=True):
    """All coins together, by currency or ticker in small letters: USD, USD, percent; `updated_at` in seconds."""

    total_market_cap: dict[str, Number]
    total_volume: dict[str, Number]
    market_cap_percentage: dict[str, Number]
    updated_at: int
    market_cap_change_percentage_24h_usd: Number | None = None


class OverviewBody(Struct, frozen=True):
    """The answer of `/global`."""

    data: OverviewRow


MARKETS: Final = Decoder(tuple[MarketRow, ...])
CATEGORIES: Final = Decoder(tuple[CategoryRow, ...])
CHART: Final = Decoder(ChartRows)
PLATFORMS: Final = Decoder(tuple[PlatformRow, ...])
OVERVIEW: Final = Decoder(OverviewBody)


class GeckoCoin(Struct, frozen=True):
    """A coin as CoinGecko showed it: ticker in upper case, USD, and the time."""

    id: str
    ticker: str
    name: str
    price: float | None
    market_cap: float | None
    volume_usd: float | None
    seen_ms: int


class GeckoCategory(Struct, frozen=True):
    """A category as CoinGecko showed it: USD, `change_24h` in percent, and the time. The description is plain text."""

    id: str
    name: str
    description: str | None
    market_cap: float | None
    change_24h: float | None
    volume_24h: float | None
    seen_ms: int


class PastCap(Struct, frozen=True):
    """Market cap of a coin at a time, USD; `volume_usd` is spot volume of the 24 hours before."""

    at_ms: int
    market_cap: float | None
    volume_usd: float | None


class GeckoToken(Struct, frozen=True, array_like=True):
    """A coin with contracts: id, ticker in upper case, name, and its address by CoinGecko's id of the chain."""

    id: str
    ticker: str
    name: str
    contracts: dict[str, str]


class GeckoOverview(Struct, frozen=True):
    """All coins that CoinGecko tracks, at a time: USD, percent; `shares` by lower-case ticker, percent."""

    market_cap: float
    change_24h: float | None
    volume_usd: float | None
    shares: dict[str, float]
    seen_ms: int


class CoinGecko:
    """Requests to CoinGecko. Every call weighs one.

    Args:
        session: Open session; keeps its limits.
        clock: Nothing is dated after its receipt.
        take: Called before each call to keep a limit that the session does not know; may raise.
    """

    def __init__(
        self, session: UpstreamSession, clock: Clock, take: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._session = session
        self._clock = clock
        self._take = take

    def refresh_s(self, *, first_load: bool = False) -> float:
        """How often coins and categories are requested again, in seconds: what the limits allow.

        Args:
            first_load: Whether some data has never been read.
        """
        if self._session.calls_per_month is not None:
            return KEYED_REFRESH_S
        return FILLING_REFRESH_S if first_load else REFRESH_S

    def wait_s(self, calls: int) -> float:
        """Estimated seconds until this many calls are made, besides those for coins and categories."""
        return self._session.wait_s(calls * _CALL, _ROUND_CALLS / self.refresh_s(first_load=True))

    async def page(self, number: int, category: str | None = None) -> list[GeckoCoin]:
        """A page of coins, the largest market caps first.

        Args:
            number: From 1.
            category: Id of a category, to list only its coins.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        wanted = {} if category is None else {"category": category}
        return await self._coins(**wanted, order="market_cap_desc", per_page=str(PER_PAGE), page=str(number))

    async def coins(self, ids: Collection[str]) -> list[GeckoCoin]:
        """Certain coins, at most a page of them.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        return await self._coins(ids=",".join(ids), per_page=str(PER_PAGE))

    async def tokens(self) -> list[GeckoToken]:
        """Every coin that has a contract on some chain.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        fetched = await self._get("/api/v3/coins/list", PLATFORMS, {"include_platform": "true"})
        found = []
        for row in fetched.value:
            contracts = {chain: address for chain, address in row.platforms.items() if chain and address}
            if contracts:
                found.append(GeckoToken(row.id, row.symbol.upper(), printable(row.name)[:_LONGEST_NAME], contracts))
        return found

    async def overview(self) -> GeckoOverview | None:
        """All coins together; null where the answer has no plausible total.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        fetched = await self._get("/api/v3/global", OVERVIEW, {})
        row = fetched.value.data
        total = _market_cap(row.total_market_cap.get("usd"))
        if total is None:
            return None
        return GeckoOverview(
            total,
            row.market_cap_change_percentage_24h_usd,
            _volume(row.total_volume.get("usd")),
            {ticker: share for ticker, share in row.market_cap_percentage.items() if 0 < share <= _WHOLE},
            min(row.updated_at * SECOND_MS, fetched.date_ms, self._clock.now_ms()),
        )

    async def categories(self) -> list[GeckoCategory]:
        """All categories, the largest first.

        Raises:
            UpstreamError: If there is no valid answer.
        """
        fetched = await self._get("/api/v3/coins/categories", CATEGORIES, {})
        return [
            GeckoCategory(
                row.id,
                row.name,
                plain_text(row.content or "") or None,
                _market_cap(row.market_cap),
                row.market_cap_change_24h,
                _volume(row.volume_24h),
                self._seen(row.updated_at, fetched.date_ms),
            )
            for row in fetched.value
        ]

    async def caps(self, coin_id: str, days: Literal[365, 42]) -> list[PastCap]:
        """A coin's market caps and volumes, oldest first: daily (365) or hourly (42).

        Raises:
            UpstreamError: If there is no valid answer; 404 if the coin is unknown.
        """
        query = {"vs_currency": "usd", "days": str(days)}
        fetched = await self._get(f"/api/v3/coins/{coin_id}/market_chart", CHART, query)
        volumes = {int(at_ms): _volume(volume) for at_ms, volume in fetched.value.total_volumes}
        now_ms = self._clock.now_ms()
        points = ((int(at_ms), cap) for at_ms, cap in fetched.value.market_caps)
        caps = {
            at_ms: PastCap(at_ms, _market_cap(cap), volumes.get(at_ms)) for at_ms, cap in points if 0 < at_ms <= now_ms
        }
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
                _market_cap(row.market_cap),
                _volume(row.total_volume),
                self._seen(row.last_updated, fetched.date_ms),
            )
            for row in fetched.value
        ]

    def _seen(self, said: str | None, date_ms: int) -> int:
        """Time of a row, but never later than the answer or the present."""
        now_ms = min(date_ms, self._clock.now_ms())
        try:
            return now_ms if said is None else min(parse_iso(said), now_ms)
        except ValueError:
            return now_ms


def printable(text: str) -> str:
    """Text with non-printable characters replaced by blanks, so that no terminal or page acts on them."""
    return "".join(character if character.isprintable() else " " for character in text)


def _market_cap(usd: float | None) -> float | None:
    """A market cap; CoinGecko writes zero for an unknown one."""
    return usd if usd is not None and 0 < usd <= LARGEST_CAP else None


def _price(usd: float | None) -> float | None:
    return usd if usd is not None and is_price(usd) else None


def _volume(usd: float | None) -> float | None:
    return usd if usd is not None and 0 <= usd <= LARGEST_CAP else None


def plain_text(html: str) -> str:
    """Plain text of a piece of HTML on one line, at most 600 characters, cut after a sentence or word.

    Args:
        html: From an upstream, untrusted.
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
