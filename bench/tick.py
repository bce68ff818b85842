"""What a refresh of all quotes costs the event loop: decode, store, load and view of 230 coins, by REST and by feed.

The work is done as the market does it: the real adapter, store and desk. What is measured is the time that the loop's
thread spends on a tick, and how late a second task, which wants to run twice in a millisecond, is at most.
"""

import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.asked import below, short
from service.clock import SystemClock
from service.market.ingest.quotes import QuoteRefresh
from service.market.models import Quote
from service.market.plausibility.quarantine import QUARANTINE, QuarantineReport
from service.market.plausibility.quotes import SecondQuote
from service.market.service import MarketService
from service.market.sources.hyperliquid import Hyperliquid
from service.market.store import MarketStore
from service.storage.database import open_database
from service.storage.documents import DocumentStore
from service.upstream.session import Fetched
from service.upstream.websocket import Frame

TICK_MS = 5.0
"""What issue 3 asks for: event-loop time of a tick of prices and funding."""

COINS = 230
_WARM_UP = 5
_LOOK_S = 0.0005


@dataclass(frozen=True)
class Ticks:
    """What was refreshed and how: loop time of each tick, and the longest block of the loop in each, milliseconds."""

    what: str
    coins: int
    loop_ms: list[float]
    longest_block_ms: list[float]


class _Played:
    """A session that answers at once: what it decodes is what the venue would send."""

    name = "hyperliquid"

    def __init__(self, bodies: list[bytes]) -> None:
        self._bodies = bodies
        self._turn = 0

    async def post_json(self, _path: str, _payload: Any, *, decoder: msgspec.json.Decoder[Any], **_: Any) -> object:
        self._turn += 1
        return Fetched(decoder.decode(self._bodies[self._turn % len(self._bodies)]), SystemClock().now_ms())


class _Agreeing:
    """A second venue that confirms the first prices, and is not asked again."""

    name = "agreeing"

    async def prices(self) -> dict[str, SecondQuote]:
        now_ms = SystemClock().now_ms()
        return {
            f"C{number}": SecondQuote(float(str(row["markPx"])), None, now_ms) for number, row in enumerate(contexts(1))
        }

    async def quotes(self, known: Mapping[str, Quote]) -> list[Quote]:
        raise NotImplementedError

    async def daily_bars(self, symbol: str, start_ms: int) -> None:
        raise NotImplementedError


def contexts(seed: int) -> list[dict[str, object]]:
    """Contexts as the venue writes them; prices move little from one to the next, else they are not believed."""
    dice = random.Random(seed)  # noqa: S311 - prices, not secrets
    return [
        {
            "funding": f"{dice.gauss(1e-5, 2e-5):.10f}",
            "openInterest": f"{(1 + number) * (1 + dice.random() / 1_000):.5f}",
            "prevDayPx": f"{(1 + number) * (1 + dice.random() / 1_000):.4f}",
            "dayNtlVlm": f"{1e8 * (1 + number) * (1 + dice.random() / 1_000):.10f}",
            "premium": f"{dice.gauss(0, 1e-4):.10f}",
            "oraclePx": f"{1 + dice.random() * 100:.4f}",
            "markPx": f"{(1 + number) * (1 + dice.random() / 1_000):.4f}",
            "midPx": f"{1 + dice.random() * 100:.5f}",
            "impactPxs": ["1.0", "1.1"],
            "dayBaseVlm": f"{dice.random() * 1e6:.5f}",
        }
        for number in range(COINS)
    ]


def measure(ticks: int) -> list[Ticks]:
    """Refresh all quotes again and again, by asking and by being told."""
    return asyncio.run(_measure(ticks))


async def _measure(ticks: int) -> list[Ticks]:
    clock = SystemClock()
    names = [{"name": f"C{number}", "szDecimals": 1, "maxLeverage": 10} for number in range(COINS)]
    bodies = [json.dumps([{"universe": names}, contexts(seed)]).encode() for seed in range(4)]
    frames = [msgspec.Raw(json.dumps({"ctxs": [["", contexts(seed)]]}).encode()) for seed in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(Path(folder) / "verdict.db", clock) as database:
            store, desk = MarketStore(database), MarketService(clock)
            report = DocumentStore(database).document(QUARANTINE, QuarantineReport)
            source = Hyperliquid(_Played(bodies), clock)  # type: ignore[arg-type] # answers without a network
            quotes = QuoteRefresh(clock, store, source, lambda: "bench", desk, _Agreeing(), report, lambda: True)
            await store.claim("bench")

            async def asked(_number: int) -> None:
                await quotes.round()
                desk.view()

            async def told(number: int) -> None:
                quotes.on_frame(Frame("allDexsAssetCtxs", frames[number % len(frames)], clock.now_ms()))
                await quotes.feed()
                desk.view()

            return [
                await _repeat("quotes of all coins, asked for", asked, ticks),
                await _repeat("quotes of all coins, pushed", told, ticks),
            ]


async def _repeat(what: str, tick: Callable[[int], Awaitable[None]], ticks: int) -> Ticks:
    """Ticks in pairs: one alone on the loop, for its time there, and one watched, for how long it blocks others."""
    for number in range(_WARM_UP):
        await tick(number)
    loop_ms, blocks_ms = [], []
    gc.collect()
    for number in range(ticks):
        before_s = time.thread_time()
        await tick(number)
        loop_ms.append((time.thread_time() - before_s) * 1e3)
        blocks_ms.append(await _longest_block_ms(tick(number)))
        await asyncio.sleep(0.002)
    return Ticks(what, COINS, loop_ms, blocks_ms)


async def _longest_block_ms(ticking: Awaitable[None]) -> float:
    watched = asyncio.ensure_future(ticking)
    longest_s = 0.0
    while not watched.done():
        left_s = time.perf_counter()
        await asyncio.sleep(_LOOK_S)
        longest_s = max(longest_s, time.perf_counter() - left_s - _LOOK_S)
    await watched
    return longest_s * 1e3


def table(seen: Sequence[Ticks]) -> str:
    rows = [
        "| a tick | coins | event-loop time ms, median (max) | asked for | loop's longest block ms, median (max) |",
        "|---|---|---|---|---|",
    ]
    for ticks in seen:
        loop_ms, blocks_ms = sorted(ticks.loop_ms), sorted(ticks.longest_block_ms)
        middle = len(loop_ms) // 2
        rows.append(
            f"| {ticks.what} | {ticks.coins} | {loop_ms[middle]:.2f} ({loop_ms[-1]:.2f}) | < {TICK_MS:g} ms "
            f"| {blocks_ms[middle]:.2f} ({blocks_ms[-1]:.2f}) |"
        )
    return "\n".join(rows)


def report(ticks: int) -> str:
    """The section of BENCHMARKS.md."""
    seen = measure(ticks)
    told = [below(f"{one.what}, ms", one.loop_ms, TICK_MS) for one in seen]
    return f"""## A refresh of all quotes

From the venue's bytes to the desk: decoded, stored in SQLite, loaded again, seen by the other desks. The thread that
writes works beside the loop; its time is not the loop's. {ticks} times each.

{table(seen)}

{short(*told)}
"""


if __name__ == "__main__":
    print(report(60))
