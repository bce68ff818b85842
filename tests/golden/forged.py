"""What is served while an upstream sends forged answers, and after it is honest again."""

import copy
import gzip
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final, NamedTuple

import aiohttp
from aiohttp import web

from tests.fakes import asgi
from tests.fakes.handful import cut
from tests.golden.answers import Answer, normalised
from tests.golden.asking import Request, ask
from tests.golden.idle import FROZEN_MS, HandClock, run
from tests.golden.start import Running, live_upstreams, service
from tests.upstream.faults import answer, cut_short, gzip_bomb, html, redirect, reset, too_many

_DAY_MS: Final = 86_400_000
_HOUR_S: Final = 3_600
_BEGIN_MS: Final = FROZEN_MS - 15 * _DAY_MS
"""The recording ends after the last case, which begins many days later."""

_TOUCHED: Final = "BTC"
_UNTOUCHED: Final = "SOL"
_HONEST: Final = "X-Honest"

Forge = Callable[[web.Request, bytes], Awaitable[web.StreamResponse]]
"""A request and the honest body → what is sent instead."""

Change = Callable[[Any], Any]
"""The honest answer, decoded → what is sent instead; null: what was handed in, changed in place."""


class Steps(NamedTuple):
    """Seconds that pass at once, one after the other: honest before, forged, honest again.

    Attributes:
        until_s: Time begins with a jump to half a minute before a multiple of this, if it is not 0.
        forged: While answers are forged.
        honest: Afterwards.
    """

    until_s: int
    forged: Sequence[float]
    honest: Sequence[float]


_NOW: Final = Steps(0, (15, 15, 15), (15, 30))
_MINUTES: Final = Steps(0, (60, 60), (60, 60))
_GECKO: Final = Steps(0, (300, 15, 300), (300, 300))
_NEWS: Final = Steps(0, (585, 15, 15), (600, 15))
_HOUR: Final = Steps(_HOUR_S, (45, 15, 1_800), (900, 900))
_DAY: Final = Steps(86_400, (45, 15, 60), (900, 60))


class Case(NamedTuple):
    """A forgery.

    Attributes:
        name: What is forged.
        asked: Whose answers: what `_name_of` says of the request.
        forge: How.
        steps: When.
        route: Below `/api/cli/`, that serves what is forged.
    """

    name: str
    asked: str
    forge: Forge
    steps: Steps = _NOW
    route: str = "coin/risk/BTC"


def _changed(change: Change) -> Forge:
    async def forge(_: web.Request, honest: bytes) -> web.StreamResponse:
        given = json.loads(honest)
        made = change(given)
        return web.json_response(given if made is None else made)

    return forge


def _sent(status: int = 200, body: bytes = b"", **headers: str) -> Forge:
    return _fault(answer(status, body, **headers))


def _fault(fault: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Forge:
    async def forge(request: web.Request, _: bytes) -> web.StreamResponse:
        return await fault(request)

    return forge


def _bytes(change: Callable[[bytes], bytes], **headers: str) -> Forge:
    """Change the honest body as it is written."""

    async def forge(_: web.Request, honest: bytes) -> web.StreamResponse:
        told = {"Content-Type": "application/json", **{name.replace("_", "-"): said for name, said in headers.items()}}
        return web.Response(body=change(honest), headers=told)

    return forge


def _dated(days: float) -> Forge:
    """The honest answer with its `Date` so many days from the one of the recording's last day."""
    return _bytes(bytes, Date=formatdate(FROZEN_MS / 1_000 + days * 86_400, usegmt=True))


# --- Hyperliquid's universe and contexts


def _at(given: Any, coin: str) -> int:
    return next(place for place, row in enumerate(given[0]["universe"]) if row["name"] == coin)


def _context(**fields: Any) -> Change:
    """Set fields of BTC's context; a function gets the value there was."""

    def change(given: Any) -> None:
        row = given[1][_at(given, _TOUCHED)]
        for name, value in fields.items():
            row[name] = value(row[name]) if callable(value) else value

    return change


def _price(value: Any) -> Change:
    return _context(markPx=value, oraclePx=value, midPx=value)


def _times(factor: float) -> Callable[[str], str]:
    return lambda text: str(float(text) * factor)


def _every(**fields: Any) -> Change:
    """Set fields of every context."""

    def change(given: Any) -> None:
        for row in given[1]:
            for name, value in fields.items():
                row[name] = value(row[name]) if callable(value) else value

    return change


def _without(field: str) -> Change:
    return lambda given: given[1][_at(given, _TOUCHED)].pop(field) and None


def _swapped(given: Any) -> None:
    one, other = _at(given, "BTC"), _at(given, "ETH")
    given[1][one], given[1][other] = given[1][other], given[1][one]


def _only(keep: Callable[[int], bool]) -> Change:
    """Keep some of the coins."""

    def change(given: Any) -> Any:
        kept = [place for place in range(len(given[1])) if keep(place)]
        universe = [given[0]["universe"][place] for place in kept]
        return [{**given[0], "universe": universe}, [given[1][place] for place in kept]]

    return change


def _added(name: str, price: str | None = None) -> Change:
    """One more row, a copy of BTC's."""

    def change(given: Any) -> None:
        place = _at(given, _TOUCHED)
        given[0]["universe"].append({**given[0]["universe"][place], "name": name})
        row = copy.deepcopy(given[1][place])
        given[1].append(row if price is None else {**row, "markPx": price, "oraclePx": price, "midPx": price})

    return change


def _delisted(given: Any) -> None:
    given[0]["universe"][_at(given, _TOUCHED)]["isDelisted"] = True


_UNIVERSE: Final[Mapping[str, Forge]] = {
    **{
        f"BTC's price {name}": _changed(_price(value))
        for name, value in {
            "times ten": _times(10),
            "divided by ten": _times(0.1),
            "up by a fifth": _times(1.2),
            "up by two in a hundred": _times(1.02),
            "zero": "0",
            "negative": "-1",
            "NaN as text": "NaN",
            "1e400": "1e400",
            "null": None,
            "a number instead of text": 118_000.5,
            "a list": [],
        }.items()
    },
    "BTC's price NaN as a number": _changed(_price(float("nan"))),
    "BTC's mark far from its oracle": _changed(_context(markPx=_times(1.5))),
    "BTC's mark missing": _changed(_without("markPx")),
    "BTC's funding missing": _changed(_without("funding")),
    "all prices times ten": _changed(_every(markPx=_times(10), oraclePx=_times(10), midPx=_times(10))),
    "BTC's and ETH's rows swapped": _changed(_swapped),
    "rows shifted by one": _changed(lambda given: [given[0], [*given[1][1:], given[1][0]]]),
    "one row too few": _changed(lambda given: [given[0], given[1][:-1]]),
    "BTC twice": _changed(_added("BTC", "1")),
    "an unknown coin": _changed(_added("FORGED")),
    "a ticker of control characters": _changed(_added("BT\u0000C\n")),
    "no coins": _changed(_only(lambda _: False)),
    "one coin alone": _changed(_only(lambda place: place == 0)),
    "half of the coins": _changed(_only(lambda place: place % 2 == 0)),
    "BTC delisted": _changed(_delisted),
    "funding 50 % an hour": _changed(_every(funding="0.5")),
    "BTC's funding null": _changed(_context(funding=None)),
    "BTC's volume times a thousand": _changed(_context(dayNtlVlm=_times(1_000))),
    "BTC's open interest negative": _changed(_context(openInterest="-5")),
    "BTC's previous price times ten": _changed(_context(prevDayPx=_times(10))),
}

_SENT: Final[Mapping[str, Forge]] = {
    "a Date long ago": _dated(-365),
    "a Date in the future": _dated(3_650),
    "truncated JSON": _bytes(lambda honest: honest[: len(honest) // 2]),
    "HTML": _fault(html),
    "an empty body": _sent(),
    "an error object at 200": _sent(200, b'{"error":"rate limited"}', Content_Type="application/json"),
    "status 400": _sent(400, b"bad request"),
    "status 403": _sent(403, b"forbidden"),
    "status 429 for 20 s": _fault(too_many("20")),
    "status 429 without a time": _sent(429, b"slow down"),
    "status 500": _sent(500, b"boom"),
    "status 503": _sent(503, b"maintenance", Retry_After="10"),
    "a redirect": _fault(redirect("http://127.0.0.1:1/")),
    "five megabytes": _sent(200, b" " * 5_000_000),
    "a gzip bomb": _fault(gzip_bomb),
    "gzip cut short": _bytes(lambda honest: gzip.compress(honest, mtime=0)[:-9], Content_Encoding="gzip"),
    "100,000 lists in one another": _sent(200, b"[" * 100_000 + b"]" * 100_000),
    "a key twice": _bytes(lambda honest: re.sub(rb'("markPx":\s*"[^"]*")', rb'\1,"markPx":"1"', honest, count=1)),
    "the wrong content type": _bytes(bytes, Content_Type="image/png"),
    "a connection reset": _fault(reset),
    "a body closed early": _fault(cut_short),
}


# --- candles and funding


def _bars(change: Callable[[list[Any]], Any]) -> Change:
    """Change the bars of an answer that has some."""
    return lambda given: change(given) if given else None


def _last(**fields: Any) -> Change:
    def change(bars: list[Any]) -> None:
        for name, value in fields.items():
            bars[-1][name] = value(bars[-1][name]) if callable(value) else value
        bars[0] |= {name: bars[-1][name] for name in fields}

    return _bars(change)


def _all(**fields: Any) -> Change:
    """Set fields of every row; a function gets the value there was."""

    def change(rows: list[Any]) -> None:
        for row in rows:
            for name, value in fields.items():
                row[name] = value(row[name]) if callable(value) else value

    return _bars(change)


def _later(ms: int) -> Callable[[int], int]:
    return lambda at_ms: at_ms + ms


_OHLC: Final[Mapping[str, Any]] = dict.fromkeys("ohlc", _times(10))
_SERIES: Final[Mapping[str, Change]] = {
    "high below low": _all(h="1", l="2"),
    "close outside of the range": _all(c=_times(3)),
    "zero": _all(**dict.fromkeys("ohlc", "0")),
    "times ten": _all(**_OHLC),
    "with gaps": lambda bars: bars[::2],
    "twice each": lambda bars: [bar for bar in bars for _ in range(2)],
    "newest first": lambda bars: bars[::-1],
    "of the future": _all(t=_later(30 * _DAY_MS), T=_later(30 * _DAY_MS)),
    "of another coin": _all(s="FORGED"),
}
_HISTORY: Final = "coin/historical/BTC?count=2&unit="
_PAID: Final[Mapping[str, Change]] = {
    "50 % an hour": _all(fundingRate="0.5"),
    "of the future": _all(time=_later(_DAY_MS)),
    "as text": _all(fundingRate="much"),
}

# --- other upstreams


def _rows(**fields: Any) -> Change:
    """Set fields of every object of a list, or of one object."""

    def change(given: Any) -> None:
        for row in given if isinstance(given, list) else [given]:
            for name, value in fields.items():
                if name in row:
                    row[name] = value(row[name]) if callable(value) else value

    return change


def _ten(value: float | None) -> float | None:
    return None if value is None else value * 10


def _index(**fields: Any) -> Change:
    return lambda given: given["data"][0].update(fields)


_GECKO_ROWS: Final[Mapping[str, Change]] = {
    "market caps times ten": _rows(market_cap=_ten),
    "market caps null": _rows(market_cap=None),
    "market caps negative": _rows(market_cap=-1.0),
    "ids of others": _rows(id="forged"),
    "no coins": lambda _: [],
}
_INDEX: Final[Mapping[str, Change]] = {
    "150": _index(value="150"),
    "-1": _index(value="-1"),
    "a word": _index(value="greedy"),
    "dated in the future": _index(timestamp="4102444800", value="1"),
}


def _feed(pattern: bytes, made: bytes) -> Forge:
    return _bytes(lambda honest: re.sub(pattern, made, honest), Content_Type="application/rss+xml")


_FEEDS: Final[Mapping[str, Forge]] = {
    "bad XML": _feed(rb"</channel>", b""),
    "a DOCTYPE": _feed(rb"<rss", b'<!DOCTYPE rss [<!ENTITY e "forged">]><rss'),
    "dates of 2099": _feed(rb"<pubDate>[^<]*", b"<pubDate>Thu, 01 Jan 2099 00:00:00 +0000"),
    "no dates": _feed(rb"<pubDate>[^<]*</pubDate>", b""),
    "control characters": _feed(rb"<title>", b"<title>\x01\x1b[31mBTC&#0;"),
}
_CHAIN: Final[Mapping[str, tuple[str, Change]]] = {
    "logs without topics": ("eth_getLogs", lambda given: given.update(result=[{"data": "0x"}])),
    "logs of another block": ("eth_getLogs", lambda given: _rows(blockNumber="0x1")(given["result"])),
    "logs that are text": ("eth_getLogs", lambda given: given.update(result="0x")),
    "a block far ahead": (
        "eth_getBlockByNumber",
        lambda given: given["result"].update(number="0xffffffff"),
    ),
    "an error object": ("eth_getBlockByNumber", lambda _: {"jsonrpc": "2.0", "id": 1, "error": {"code": -32_000}}),
}

CASES: Final[Sequence[Case]] = (
    *(Case(name, "metaAndAssetCtxs", forge) for name, forge in {**_UNIVERSE, **_SENT}.items()),
    Case("assets' prices times ten", "xyz:metaAndAssetCtxs", _changed(_every(markPx=_times(10), oraclePx=_times(10))),
         route="rwa/symbol/GOLD"),
    Case("premiumIndex times ten", "premiumIndex", _changed(_rows(markPrice=_times(10), indexPrice=_times(10))),
         _MINUTES),
    Case("ticker times ten", "ticker/24hr", _changed(_rows(lastPrice=_times(10))), _MINUTES),
    Case("premiumIndex an error", "premiumIndex", _sent(200, b'{"code":-1003,"msg":"banned"}'), _MINUTES),
    *(Case(f"logs: {name}" if asked == "eth_getLogs" else name, asked, _changed(change), _MINUTES, "wallets")
      for name, (asked, change) in _CHAIN.items()),
    *(Case(f"CoinGecko: {name}", "coins/markets", _changed(change), _GECKO, f"{_HISTORY}d")
      for name, change in _GECKO_ROWS.items()),
    Case("CoinGecko: categories that are text", "coins/categories", _changed(lambda _: ["forged"]), _GECKO,
         "category/info/Meme"),
    *(Case(f"feeds: {name}", "rss", forge, _NEWS, "sentiment?action=health") for name, forge in _FEEDS.items()),
    *(Case(f"Fear & Greed {name}", "fng", _changed(change), Steps(0, (_HOUR_S, 15), (_HOUR_S, 15)),
           "sentiment?action=health") for name, change in _INDEX.items()),
    *(Case(f"payments {name}", "fundingHistory", _changed(change), _HOUR, "funding/alerts?limit=1")
      for name, change in _PAID.items()),
    *(Case(f"hours {name}", "candleSnapshot:1h", _changed(change), _HOUR, f"{_HISTORY}h")
      for name, change in _SERIES.items()),
    Case("exchangeInfo without contracts", "exchangeInfo", _changed(lambda given: given.update(symbols=[])),
         Steps(0, (_HOUR_S, 60), (_HOUR_S, 60))),
    *(Case(f"days {name}", "candleSnapshot:1d", _changed(change), _DAY, f"{_HISTORY}d")
      for name, change in _SERIES.items()),
    Case("klines times ten", "klines", _changed(lambda rows: [[row[0], *map(_times(10), row[1:5]), *row[5:]]
                                                             for row in rows]), _DAY, f"{_HISTORY}d"),
)  # fmt: skip
"""In this order; time goes on from one to the next."""


class Door:
    """Stands before every upstream, and forges what a case says.

    Attributes:
        case: What is forged; null: nothing.
        forged: Answers that were forged.
    """

    def __init__(self, clock: HandClock) -> None:
        self.case: Case | None = None
        self.forged = 0
        self._clock = clock

    async def __call__(self, request: web.Request) -> web.StreamResponse | None:
        if request.path == "/ws":
            return self._told(web.Response(status=503))
        if (
            self.case is None
            or _HONEST in request.headers
            or _name_of(request, await request.read()) != self.case.asked
        ):
            return None
        self.forged += 1
        return self._told(await self.case.forge(request, await _honest(request)))

    def _told(self, response: web.StreamResponse) -> web.StreamResponse:
        if not response.prepared:
            response.headers.setdefault("Date", formatdate(self._clock.at_ms // 1_000, usegmt=True))
        return response


def _name_of(request: web.Request, body: bytes) -> str:
    """What is asked for: a type of Hyperliquid's or a method of the node's, or the end of the path."""
    if request.method == "POST":
        asked = json.loads(body)
        if "method" in asked:
            return str(asked["method"])
        inner = asked.get("req", {})
        dex = "xyz:" if asked.get("dex") == "xyz" or str(inner.get("coin", "")).startswith("xyz:") else ""
        return dex + ":".join(filter(None, (asked["type"], inner.get("interval"))))
    words = request.path.strip("/").split("/")
    return "/".join(words[-2:]) if words[-2] in {"coins", "ticker"} else words[-1]


async def _honest(request: web.Request) -> bytes:
    """What the recording answers to a request."""
    headers = {_HONEST: "1", "Content-Type": request.headers.get("Content-Type", "application/json")}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(request.method, request.url, data=await request.read()) as response,
    ):
        return await response.read()


def record_forged(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record what is served of forged answers, case by case."""

    async def work(clock: HandClock) -> Mapping[str, Sequence[Answer]]:
        door = Door(clock)
        async with (
            live_upstreams(cut(folder / "fixtures"), clock, door) as settings,
            service(folder / "data", clock, **settings) as running,
        ):
            tokens = {"pro": await running.key("pro", "pro")}
            for _ in range(8):
                await clock.jump(15)
            return {"forged": [await _trace(running, door, case, tokens) for case in CASES]}

    return run(work, _BEGIN_MS, frozen=False)


async def _trace(running: Running, door: Door, case: Case, tokens: Mapping[str, str]) -> Answer:
    clock = running.clock
    if case.steps.until_s:
        left_s = case.steps.until_s - clock.at_ms / 1_000 % case.steps.until_s
        for seconds in (max(left_s - 60, 0), 15, 15):
            await clock.jump(seconds)
    counted = await _counted(running)
    lines = []
    for phase, steps in (("forged", case.steps.forged), ("honest", case.steps.honest)):
        door.case, door.forged = (case, 0) if phase == "forged" else (None, 0)
        for seconds in steps:
            await clock.jump(seconds)
        now = await _counted(running)
        seen = {
            "phase": phase,
            "forged": door.forged,
            **await _seen(running, case, tokens),
            "counted": {name: now[name] - counted.get(name, 0) for name in now if now[name] != counted.get(name, 0)},
        }
        counted = now
        lines.append(json.dumps(seen, ensure_ascii=True, separators=(",", ":")))
    return Answer(f"{case.asked} · {case.name}", normalised("\n".join(lines)))


async def _seen(running: Running, case: Case, tokens: Mapping[str, str]) -> Mapping[str, Any]:
    """What an observer sees: readiness, two coins, the route concerned."""
    ready = (await ask(running, Request("", "GET", "/readyz"), tokens)).json
    market, coins = ready["market"], {}
    for coin in (_TOUCHED, _UNTOUCHED):
        reply = await ask(running, Request("pro", "GET", f"/api/cli/coin/risk/{coin}"), tokens)
        coins[coin] = _of_risk(reply.json) if reply.status == 200 else reply.status
    route = await ask(running, Request("pro", "GET", f"/api/cli/{case.route}"), tokens)
    held = {name: ready[name]["quarantined"] for name in ("market", "rwa") if ready[name]["quarantined"]["values"]}
    return {
        "at": running.clock.at_ms,
        "ready": ready["ready"],
        "venue": market["venue"],
        "coins": market["coins"],
        "age": market["prices_age_seconds"],
        "failing": {name: ready[name]["failing"] for name in ready if _is_failing(ready[name])},
        "quarantined": held,
        **coins,
        case.route: route.status if case.route.startswith("coin/risk") else [route.status, route.json],
    }


def _is_failing(section: Any) -> bool:
    return isinstance(section, dict) and bool(section.get("failing"))


def _of_risk(told: Any) -> Sequence[Any]:
    data = told["data"]
    return [data["price"], data["funding_apr"], data["_stale_fields"], told["meta"]["as_of"]]


async def _counted(running: Running) -> Mapping[str, float]:
    """Counters of values that were held back and of failed requests."""
    text = (await asgi.ask(running.metrics, "/metrics")).body.decode()
    found = re.findall(r"(?m)^verdict_((?:quarantined|upstream_failures)_total\{.*\}) (\S+)$", text)
    return {name: float(value) for name, value in found}
