"""CoinGecko, replayed; mounted under `/coingecko`.

A coin follows a coin of the recorded venue: its price is that one's index price times a factor, its market cap price
times supply, its volume the venue's times a factor. So CoinGecko, as it should, agrees with the venue about the coins
they share, and disagrees about those that only share a ticker. A coin that follows no ticker stands still.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso
from service.upstream.replay.history import ReplayContext

COINS_FILE: Final = "coingecko/coins.json"
CATEGORIES_FILE: Final = "coingecko/categories.json"
TOKENS_FILE: Final = "coingecko/tokens.json"
MOST_DAYS: Final = 365
_API: Final = "/api/v3"
_MOST_HOURLY_DAYS: Final = 90
_LARGEST_PAGE: Final = 250
_INSTANTS: Final = 4
_SHARES: Final = 10
_DIGITS: Final = 6
_PERCENT_DECIMALS: Final = 5
_UNPROCESSABLE: Final = 422
_NOT_FOUND: Final = 404
_UNAUTHORIZED: Final = 401

T = TypeVar("T")


class FixtureCoin(msgspec.Struct, frozen=True, kw_only=True):
    """A coin of the fixture set.

    Attributes:
        id: CoinGecko's.
        symbol: Ticker in small letters.
        name: What people call it.
        supply: Whole coins in circulation; null where it is not known.
        follows: The venue's ticker whose tape it follows, if it follows one.
        price: Of the followed coin's price; USD where it follows none; null where it is not traded.
        volume: Of the followed coin's 24-hour volume; USD where it follows none.
    """

    id: str
    symbol: str
    name: str
    supply: float | None
    follows: str | None
    price: float | None
    volume: float


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """A category of the fixture set: id, name, description (HTML, or none), ids of its coins."""

    id: str
    name: str
    content: str | None
    coins: tuple[str, ...]


class RecordedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A coin of the fixture set that has contracts: address by CoinGecko's id of the chain."""

    id: str
    symbol: str
    name: str
    platforms: dict[str, str]


class _Figures(msgspec.Struct, frozen=True):
    """A coin at an instant: USD; volume of the 24 hours before."""

    price: float | None
    cap: float | None
    volume: float


_UNKNOWN: Final = _Figures(None, None, 0.0)


def routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, by paths below the mount point."""
    gecko = _Gecko(context)
    return [
        web.get(f"{_API}/coins/markets", gecko.markets),
        web.get(f"{_API}/coins/categories", gecko.categories),
        web.get(f"{_API}/coins/list", gecko.tokens),
        web.get(f"{_API}/global", gecko.overview),
        web.get(f"{_API}/coins/{{id}}/market_chart", gecko.chart),
    ]


class _Gecko:
    """All coins as of the last whole minute: CoinGecko, too, tells everybody the same for a minute."""

    def __init__(self, context: ReplayContext) -> None:
        self._stage = context
        self._at = lru_cache(maxsize=_INSTANTS)(self._look)

    @cached_property
    def _coins(self) -> dict[str, FixtureCoin]:
        return {coin.id: coin for coin in self._read(COINS_FILE, list[FixtureCoin])}

    @cached_property
    def _categories(self) -> dict[str, Category]:
        return {category.id: category for category in self._read(CATEGORIES_FILE, list[Category])}

    def _read(self, path: str, kind: type[list[T]]) -> list[T]:
        content = self._stage.files.get(path)
        return [] if content is None else msgspec.json.decode(content, type=kind)

    async def markets(self, request: web.Request) -> web.Response:
        """`GET /coins/markets`."""
        query = request.query
        if "vs_currency" not in query:
            return _json({"error": "Missing parameter vs_currency"}, _UNPROCESSABLE)
        size, page = _whole(query.get("per_page", "100")), _whole(query.get("page", "1"))
        if not (1 <= size <= _LARGEST_PAGE and page >= 1):
            return _json({"error": "invalid per_page or page"}, _UNPROCESSABLE)
        minute_ms, shift_ms = self._minute()
        now, before = self._at(minute_ms), self._at(minute_ms - DAY_MS)
        wanted = list(now)
        if "category" in query:
            category = self._categories.get(query["category"])
            if category is None:
                return _json({"error": "category not found"}, _NOT_FOUND)
            wanted = [coin_id for coin_id in now if coin_id in category.coins]
        if "ids" in query:
            asked = set(query["ids"].split(","))
            wanted = [coin_id for coin_id in wanted if coin_id in asked]
        ranks = {coin_id: place for place, coin_id in enumerate(now, 1)}
        updated_ms = minute_ms + shift_ms
        return _json(
            [
                _market_row(self._coins[coin_id], now[coin_id], before[coin_id], ranks[coin_id], updated_ms)
                for coin_id in wanted[(page - 1) * size : page * size]
            ]
        )

    async def categories(self, _: web.Request) -> web.Response:
        """`GET /coins/categories`."""
        minute_ms, shift_ms = self._minute()
        now, before = self._at(minute_ms), self._at(minute_ms - DAY_MS)
        rows = [_category_row(category, now, before, minute_ms + shift_ms) for category in self._categories.values()]
        return _json(sorted(rows, key=lambda row: -(row["market_cap"] or 0.0)))

    async def tokens(self, request: web.Request) -> web.Response:
        """`GET /coins/list`: with `include_platform=true` also the contracts."""
        tokens = {token.id: token for token in self._read(TOKENS_FILE, list[RecordedToken])}
        names = {coin.id: (coin.symbol, coin.name) for coin in self._coins.values()}
        names |= {token.id: (token.symbol, token.name) for token in tokens.values()}
        rows: list[dict[str, Any]] = [
            {"id": coin_id, "symbol": symbol, "name": name} for coin_id, (symbol, name) in names.items()
        ]
        if request.query.get("include_platform") == "true":
            rows = [row | {"platforms": tokens[row["id"]].platforms if row["id"] in tokens else {}} for row in rows]
        return _json(rows)

    async def overview(self, _: web.Request) -> web.Response:
        """`GET /global`: over all recorded coins."""
        minute_ms, shift_ms = self._minute()
        now, before = self._at(minute_ms), self._at(minute_ms - DAY_MS)
        total = _sum(figures.cap for figures in now.values())
        largest = list(now.items())[:_SHARES]
        return _json(
            {
                "data": {
                    "active_cryptocurrencies": len(now),
                    "total_market_cap": {"usd": total},
                    "total_volume": {"usd": _sum(figures.volume for figures in now.values())},
                    "market_cap_percentage": {
                        self._coins[coin_id].symbol: (figures.cap or 0.0) / total * 100 for coin_id, figures in largest
                    },
                    "market_cap_change_percentage_24h_usd": _change(
                        total, _sum(figures.cap for figures in before.values())
                    ),
                    "updated_at": (minute_ms + shift_ms) // SECOND_MS,
                }
            }
        )

    async def chart(self, request: web.Request) -> web.Response:
        """`GET /coins/{id}/market_chart`: a point an hour up to 90 days, a point a day above, and one for now."""
        coin = self._coins.get(request.match_info["id"])
        if coin is None:
            return _json({"error": "coin not found"}, _NOT_FOUND)
        days = _whole(request.query.get("days", ""))
        if "vs_currency" not in request.query or days < 1:
            return _json({"error": "Missing parameter vs_currency or days"}, _UNPROCESSABLE)
        if days > MOST_DAYS:
            said = "Your request exceeds the allowed time range. Public API users are limited to the past 365 days."
            return _json({"error": {"status": {"error_code": 10012, "error_message": said}}}, _UNAUTHORIZED)
        now_ms, shift_ms = self._minute()
        step_ms = HOUR_MS if days <= _MOST_HOURLY_DAYS else DAY_MS
        start_ms = now_ms - days * DAY_MS
        points = list(self._points(coin, step_ms, start_ms, now_ms))
        now = self._at(now_ms)[coin.id]
        points.append((now_ms, now.price, now.volume))
        return _json(
            {
                "prices": [(at_ms + shift_ms, price) for at_ms, price, _ in points],
                "market_caps": [(at_ms + shift_ms, _cap(coin, price)) for at_ms, price, _ in points],
                "total_volumes": [(at_ms + shift_ms, volume) for at_ms, _, volume in points],
            }
        )

    def _minute(self) -> tuple[int, int]:
        now_ms, shift_ms = self._stage.now()
        return now_ms // MINUTE_MS * MINUTE_MS, shift_ms

    def _look(self, at_ms: int) -> dict[str, _Figures]:
        """All coins at an instant of recorded time, the largest market cap first."""
        figures = {coin.id: self._figures(coin, at_ms) for coin in self._coins.values()}
        return dict(sorted(figures.items(), key=lambda pair: -(pair[1].cap or 0.0)))

    def _figures(self, coin: FixtureCoin, at_ms: int) -> _Figures:
        price, volume = coin.price, coin.volume
        if coin.follows is not None and price is not None:
            if not self._stage.tape.knows(coin.follows):
                return _UNKNOWN
            context = self._stage.tape.context(self._stage.tape.asset(coin.follows), at_ms)
            price, volume = price * float(context.oracle_px), volume * float(context.day_ntl_vlm)
        price = None if price is None else _rounded(price)
        return _Figures(price, _cap(coin, price), float(round(volume)))

    def _points(
        self, coin: FixtureCoin, step_ms: int, start_ms: int, now_ms: int
    ) -> Iterator[tuple[int, float | None, float]]:
        """Price and volume, where its bars close, of what a coin follows: when, USD, USD of the 24 hours before."""
        first_ms = -(-start_ms // step_ms) * step_ms
        if coin.follows is None or coin.price is None:
            for at_ms in range(first_ms, now_ms, step_ms):
                yield at_ms, coin.price, coin.volume
            return
        interval = "1h" if step_ms == HOUR_MS else "1d"
        traded: list[float] = []
        for bar in self._stage.tape.candles(coin.follows, interval, now_ms, first_ms - DAY_MS, now_ms):
            traded.append(float(bar.volume) * float(bar.close))
            if first_ms <= bar.close_ms + 1 < now_ms:
                volume = coin.volume * math.fsum(traded[-DAY_MS // step_ms :])
                yield bar.close_ms + 1, _rounded(coin.price * float(bar.close)), float(round(volume))


def _market_row(coin: FixtureCoin, now: _Figures, before: _Figures, rank: int, updated_ms: int) -> dict[str, Any]:
    return {
        "id": coin.id,
        "symbol": coin.symbol,
        "name": coin.name,
        "image": None,
        "current_price": now.price,
        "market_cap": now.cap or 0,
        "market_cap_rank": rank if now.cap else None,
        "fully_diluted_valuation": now.cap,
        "total_volume": now.volume,
        "price_change_percentage_24h": _change(now.price, before.price),
        "market_cap_change_percentage_24h": _change(now.cap, before.cap),
        "circulating_supply": coin.supply or 0,
        "total_supply": coin.supply,
        "max_supply": None,
        "roi": None,
        "last_updated": iso(updated_ms),
    }


def _category_row(
    category: Category, now: Mapping[str, _Figures], before: Mapping[str, _Figures], updated_ms: int
) -> dict[str, Any]:
    coins = [coin_id for coin_id in now if coin_id in category.coins]
    cap = _sum(now[coin_id].cap for coin_id in coins) or None
    return {
        "id": category.id,
        "name": category.name,
        "market_cap": cap,
        "market_cap_change_24h": _change(cap, _sum(before[coin_id].cap for coin_id in coins)),
        "content": category.content,
        "top_3_coins_id": coins[:3],
        "top_3_coins": [],
        "volume_24h": _sum(now[coin_id].volume for coin_id in coins),
        "updated_at": iso(updated_ms),
    }


def _sum(values: Iterable[float | None]) -> float:
    return math.fsum(value for value in values if value is not None)


def _change(now: float | None, before: float | None) -> float | None:
    return None if now is None or not before else round((now / before - 1) * 100, _PERCENT_DECIMALS)


def _rounded(price: float) -> float:
    """To six digits, as CoinGecko shows the prices of small coins."""
    return round(price, _DIGITS - 1 - math.floor(math.log10(price)))


def _cap(coin: FixtureCoin, price: float | None) -> float | None:
    return None if price is None or coin.supply is None else float(round(price * coin.supply))


def _whole(text: str) -> int:
    """A whole number of at most nine digits, 0 where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(body), content_type="application/json")
