"""What is served while an upstream sends forged answers, and after it is honest again."""

import copy
import json
import re
from collections import Counter
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
from tests.golden.idle import FROZEN_MS, ManualClock, run
from tests.golden.start import Running, live_upstreams, service
from tests.upstream.faults import answer, cut_short, gzip_bomb, html, reset, too_many

_DAY_MS: Final = 86_400_000
_HOUR_S: Final = 3_600
_BEGIN_MS: Final = FROZEN_MS - 15 * _DAY_MS
"""The recording ends after the last case, which begins many days later."""

_TOUCHED: Final = "BTC"
_OTHERS: Final = {"BTC": "SOL"}
"""Touched coin → the untouched one that is recorded too; BTC for all others."""
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


_NOW: Final = Steps(0, (15, 30), (15, 30))
_MINUTES: Final = Steps(0, (30, 60), (30, 60))
_NEWS: Final = Steps(0, (600, 15), (600, 15))
_HOUR: Final = Steps(_HOUR_S, (45, _HOUR_S), (900, 2_700))
_DOWN: Final = Steps(0, (60, 60, 60), (60, 60))
_DAY: Final = Steps(86_400, (45, 900, 15), (900, 60))
"""The second venue is asked for bars that are a quarter of an hour late."""


class Case(NamedTuple):
    """A forgery.

    Attributes:
        name: What is forged.
        asked: Whose answers: what `_name_of` says of the request.
        forge: How.
        route: Below `/api/cli/`, that serves what is forged.
        coin: That is touched.
    """

    name: str
    asked: str
    forge: Forge
    route: str = ""
    coin: str = _TOUCHED


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
        sent = {"Content-Type": "application/json", **{name.replace("_", "-"): said for name, said in headers.items()}}
        return web.Response(body=change(honest), headers=sent)

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


def _times(factor: float) -> Callable[[str | None], str | None]:
    return lambda text: None if text is None else str(float(text) * factor)


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
            "up by a fifth": _times(1.2),
            "up by two in a hundred": _times(1.02),
            "zero": "0",
            "negative": "-1",
            "null": None,
            "a number instead of text": 118_000.5,
        }.items()
    },
    "BTC's price NaN as a number": _changed(_price(float("nan"))),
    "BTC's mark far from its oracle": _changed(_context(markPx=_times(1.5))),
    "BTC's and ETH's rows swapped": _changed(_swapped),
    "rows shifted by one": _changed(lambda given: [given[0], [*given[1][1:], given[1][0]]]),
    "one row too few": _changed(lambda given: [given[0], given[1][:-1]]),
    "BTC twice": _changed(_added("BTC", "1")),
    "an unknown coin": _changed(_added("FORGED")),
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
    "an error object at 200": _sent(200, b'{"error":"rate limited"}', Content_Type="application/json"),
    "status 429 for 20 s": _fault(too_many("20")),
    "status 500": _sent(500, b"boom"),
    "status 503": _sent(503, b"maintenance", Retry_After="10"),
    "five megabytes": _sent(200, b" " * 5_000_000),
    "a gzip bomb": _fault(gzip_bomb),
    "100,000 lists in one another": _sent(200, b"[" * 100_000 + b"]" * 100_000),
    "a key twice": _bytes(lambda honest: re.sub(rb'("markPx":\s*"[^"]*")', rb'\1,"markPx":"1"', honest, count=1)),
    "a connection reset": _fault(reset),
    "a body closed early": _fault(cut_short),
}


# --- series: each coin's are forged in another way at the same time


def _each(**fields: Any) -> Change:
    """Set fields of every row that has them; a function gets the value there was."""

    def change(rows: Any) -> None:
        for row in rows if isinstance(rows, list) else [rows]:
            for name in row.keys() & fields.keys():
                row[name] = fields[name](row[name]) if callable(fields[name]) else fields[name]

    return change


def _later(ms: int) -> Callable[[int], int]:
    return lambda at_ms: at_ms + ms


_BARS: Final[Sequence[tuple[str, str, Change]]] = (
    ("BTC", "times ten", _each(**dict.fromkeys("ohlc", _times(10)))),
    ("ETH", "high below low", _each(h="1", l="2")),
    ("SOL", "close outside of the range", _each(c=_times(3))),
    ("DOGE", "zero", _each(**dict.fromkeys("ohlc", "0"))),
    ("HYPE", "with gaps", lambda bars: bars[::2]),
    ("XMR", "of the future", _each(t=_later(30 * _DAY_MS), T=_later(30 * _DAY_MS))),
    ("kPEPE", "of another coin", _each(s="FORGED")),
)
_MORE_BARS: Final[Sequence[tuple[str, str, Change]]] = (
    ("ETH", "twice each", lambda bars: [bar for bar in bars for _ in range(2)]),
    ("SOL", "newest first", lambda bars: bars[::-1]),
    ("XMR", "an empty list", lambda _: []),
)
_PAID: Final[Sequence[tuple[str, str, Change]]] = (
    ("BTC", "50 % an hour", _each(fundingRate="0.5")),
    ("DOGE", "of the future", _each(time=_later(_DAY_MS))),
    ("HYPE", "as text", _each(fundingRate="much")),
    ("kPEPE", "0.1 % an hour", _each(fundingRate="0.001")),
)
_DAYS: Final = "coin/historical/{coin}?count=1&unit=d"
_HOURS: Final = "coin/historical/{coin}?count=1&unit=h"


def _series(kind: str, forgeries: Sequence[tuple[str, str, Change]], route: str) -> list[Case]:
    return [
        Case(name, f"{kind}:{coin}", _changed(change), route.format(coin=coin), coin)
        for coin, name, change in forgeries
    ]


# --- other upstreams

_WETH: Final = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
_WATCHED: Final = "98b159301cdf2b197a7f9f39d9924b3a83a0952c"
_TRANSFER: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_WORD: Final = "0x" + "0" * 24


def _transfer(**fields: Any) -> Mapping[str, Any]:
    """An event that moves a token to a watched wallet, in block 1 unless fields say else."""
    return {
        "address": _WETH.lower(),
        "topics": [_TRANSFER, _WORD + "1" * 40, _WORD + _WATCHED],
        "data": f"0x{10**20:064x}",
        "blockNumber": "0x1",
        "transactionHash": "0x" + "1" * 64,
        "transactionIndex": "0x0",
        "blockHash": "0x" + "2" * 64,
        "logIndex": "0x0",
        "removed": False,
        **fields,
    }


def _node(name: str, method: str, change: Change) -> Case:
    """A node's answers, their results changed."""
    forge = _changed(lambda given: {**given, "result": change(given["result"])})
    return Case(name, method, forge, f"wallets?action=movements&contract={_WETH}&limit=1")


def _gecko(name: str, change: Change) -> Case:
    return Case(name, "coins/markets", _changed(change), _DAYS.format(coin=_TOUCHED))


def _greed(name: str, **fields: Any) -> Case:
    return Case(name, "fng", _changed(lambda given: given["data"][0].update(fields)), "sentiment?action=health")


def _feed(name: str, pattern: bytes, made: bytes) -> Case:
    forge = _bytes(lambda honest: re.sub(pattern, made, honest), Content_Type="application/rss+xml")
    return Case(name, "rss", forge, "sentiment?action=health")


_BESIDE: Final = frozenset({"BTC's volume times a thousand", "BTC's open interest negative"})
_DEAR: Final = _changed(_each(markPrice=_times(10), indexPrice=_times(10)))
_NO_RESULT: Final = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}'

GROUPS: Final[Sequence[tuple[Steps, Sequence[Case]]]] = (
    *((_NOW, [Case(name, "metaAndAssetCtxs", forge, _DAYS.format(coin=_TOUCHED) if name in _BESIDE else "")])
      for name, forge in {**_UNIVERSE, **_SENT}.items()),
    (_NOW, [Case("assets' prices times ten", "xyz:metaAndAssetCtxs",
                 _changed(_every(markPx=_times(10), oraclePx=_times(10), midPx=_times(10))), "rwa/symbol/GOLD")]),
    (_MINUTES, [Case("prices times ten", "premiumIndex", _DEAR),
                _node("no topics", "eth_getLogs", lambda logs: [*logs, _transfer(topics=[])])]),
    (_MINUTES, [Case("prices times ten", "ticker/24hr", _changed(_each(lastPrice=_times(10)))),
                _node("an event of block 1", "eth_getLogs", lambda logs: [*logs, _transfer()])]),
    (_MINUTES, [Case("an error object at 200", "premiumIndex", _sent(200, b'{"code":-1003,"msg":"banned"}')),
                _node("text", "eth_getLogs", lambda _: "0x")]),
    (_MINUTES, [_node("a number far ahead", "eth_getBlockByNumber",
                      lambda block: block and {**block, "number": "0xffffffff"})]),
    (_MINUTES, [Case("an error object", "eth_getBlockByNumber", _sent(200, _NO_RESULT), "wallets?limit=1")]),
    (_NEWS, [_gecko("market caps times ten", _each(market_cap=lambda cap: cap and cap * 10)),
             _feed("bad XML", rb"</channel>", b"")]),
    (_NEWS, [_gecko("market caps null", _each(market_cap=None)),
             _feed("a DOCTYPE", rb"<rss", b'<!DOCTYPE rss [<!ENTITY e "forged">]><rss')]),
    (_NEWS, [_gecko("market caps negative", _each(market_cap=-1.0)),
             _feed("dates of 2099", rb"<pubDate>[^<]*", b"<pubDate>Thu, 01 Jan 2099 00:00:00 +0000")]),
    (_NEWS, [_gecko("ids of others", _each(id="forged")), _feed("no dates", rb"<pubDate>[^<]*</pubDate>", b"")]),
    (_NEWS, [_gecko("an empty list", lambda _: []), _feed("control characters", rb"<title>", b"<title>\x01BTC&#0;")]),
    (_NEWS, [Case("text", "coins/categories", _changed(lambda _: ["forged"]), "category/info/Meme")]),
    (_HOUR, [*_series("candleSnapshot:1h", _BARS, _HOURS), _greed("150", value="150")]),
    (_HOUR, [*_series("candleSnapshot:1h", _MORE_BARS, _HOURS), *_series("fundingHistory", _PAID, _HOURS),
             _greed("-1", value="-1")]),
    (_HOUR, [Case("no contracts", "exchangeInfo", _changed(lambda given: {**given, "symbols": []})),
             _greed("a word", value="greedy")]),
    (_HOUR, [_greed("of the future", timestamp="4102444800", value="1")]),
    (_DAY, [*_series("candleSnapshot:1d", _BARS[1:], _DAYS),
            Case("status 500, and Binance forged", "candleSnapshot:1d:BTC", _sent(500)),
            Case("bars times ten, and Hyperliquid down", "klines:BTCUSDT",
                 _changed(lambda rows: [[row[0], *map(_times(10), row[1:5]), *row[5:]] for row in rows]),
                 _DAYS.format(coin=_TOUCHED))]),
    (_DOWN, [Case("prices times ten, and Hyperliquid down", "premiumIndex", _DEAR),
             Case("status 500, and Binance forged", "metaAndAssetCtxs", _sent(500))]),
)  # fmt: skip
"""Cases that are forged at the same time, in this order; time goes on from one to the next.

What was held back of a venue that stood in was still reported a day later, so that comes last.
"""


class Door:
    """Stands before every upstream, and forges what a case says.

    Attributes:
        cases: What is forged, by what is asked for.
        forged: How many answers were.
        failed: Why one could not be.
    """

    def __init__(self, clock: ManualClock) -> None:
        self.cases: Mapping[str, Case] = {}
        self.forged: Counter[str] = Counter()
        self.failed: Exception | None = None
        self._clock = clock

    async def __call__(self, request: web.Request) -> web.StreamResponse | None:
        if request.path == "/ws":
            return self._with_date(web.Response(status=503))
        case = None if _HONEST in request.headers else self.cases.get(_name_of(request, await request.read()))
        if case is None:
            return None
        self.forged[case.asked] += 1
        try:
            return self._with_date(await case.forge(request, await _honest(request)))
        except Exception as failed:
            self.failed = failed
            raise

    def _with_date(self, response: web.StreamResponse) -> web.StreamResponse:
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
        parts = (asked["type"], inner.get("interval"), inner.get("coin") or asked.get("coin"))
        return dex + ":".join(part for part in parts if part)
    words = request.path.strip("/").split("/")
    name = "/".join(words[-2:]) if words[-2] in {"coins", "ticker"} else words[-1]
    return f"{name}:{request.query['symbol']}" if name == "klines" else name


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

    async def work(clock: ManualClock) -> Mapping[str, Sequence[Answer]]:
        door = Door(clock)
        async with (
            live_upstreams(cut(folder / "fixtures"), clock, door) as settings,
            service(folder / "data", clock, **settings) as running,
        ):
            tokens = {"pro": await running.key("pro", "pro")}
            for _ in range(8):
                await clock.jump(15)
            counted: dict[str, float] = {}
            traces = [await _traces(running, door, steps, cases, tokens, counted) for steps, cases in GROUPS]
            return {"forged": [trace for group in traces for trace in group]}

    return run(work, _BEGIN_MS, frozen=False)


async def _traces(
    running: Running,
    door: Door,
    steps: Steps,
    cases: Sequence[Case],
    tokens: Mapping[str, str],
    counted: dict[str, float],
) -> Sequence[Answer]:
    clock = running.clock
    if steps.until_s:
        left_s = steps.until_s - clock.at_ms / 1_000 % steps.until_s
        for seconds in (max(left_s - 60, 0), 15, 15):
            await clock.jump(seconds)
    if steps.until_s or not counted:
        counted.update(await _counted(running))
    lines: list[list[str]] = [[] for _ in cases]
    for forged, phase in ((True, steps.forged), (False, steps.honest)):
        door.cases, door.forged = {case.asked: case for case in cases if forged}, Counter()
        for seconds in phase:
            await clock.jump(seconds)
        if door.failed is not None:
            raise door.failed
        now = await _counted(running)
        changed = {name: count - counted.get(name, 0) for name, count in now.items() if count != counted.get(name, 0)}
        counted.update(now)
        ready = _of_ready((await ask(running, Request("", "GET", "/readyz"), tokens)).json)
        for case, written in zip(cases, lines, strict=True):
            served = await _served(running, case, tokens)
            seen = {"forged": door.forged[case.asked], "at_ms": clock.at_ms, **ready, "counted": changed, **served}
            written.append(json.dumps(seen, separators=(",", ":")))
    return [
        Answer(f"{case.asked} · {case.name}", normalised("\n".join(written)))
        for case, written in zip(cases, lines, strict=True)
    ]


def _of_ready(ready: Any) -> Mapping[str, Any]:
    market = ready["market"]
    held = {name: ready[name]["quarantined"] for name in ("market", "rwa")}
    return {
        "ready": ready["ready"],
        "venue": market["venue"],
        "coins": market["coins"],
        "age": market["prices_age_seconds"],
        "failing": [name for name, part in ready.items() if isinstance(part, dict) and part.get("failing")],
        "node": ready["wallets"].get("serving"),
        "quarantined": {name: part for name, part in held.items() if part["values"]},
    }


async def _served(running: Running, case: Case, tokens: Mapping[str, str]) -> Mapping[str, Any]:
    """What is served of the touched coin, of another one, and by the route concerned."""
    seen: dict[str, Any] = {}
    for coin in (case.coin, _OTHERS.get(case.coin, _TOUCHED)):
        reply = await ask(running, Request("pro", "GET", f"/api/cli/coin/risk/{coin}"), tokens)
        seen[coin] = _of_risk(reply.json) if reply.status == 200 else reply.status
    if case.route:
        reply = await ask(running, Request("pro", "GET", f"/api/cli/{case.route}"), tokens)
        envelope = reply.json
        data = envelope.get("data", envelope)
        if "series" in data:
            data = {"series": data["series"], "now": data["now"]}
        seen[case.route] = [reply.status, data, envelope.get("meta", {}).get("as_of")]
    return seen


def _of_risk(envelope: Any) -> Sequence[Any]:
    data = envelope["data"]
    return [data["price"], data["funding_apr"], data["_stale_fields"], envelope["meta"]["as_of"]]


async def _counted(running: Running) -> Mapping[str, float]:
    """Counters of values that were held back and of failed requests."""
    text = (await asgi.ask(running.metrics, "/metrics")).body.decode()
    found = re.findall(r"(?m)^verdict_((?:quarantined|upstream_failures)_total\{.*\}) (\S+)$", text)
    return {name: float(value) for name, value in found}
