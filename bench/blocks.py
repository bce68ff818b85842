"""What blocks the event loop of the whole service: a minute like any other, and the minute after midnight.

The service runs in this process over 230 coins and 24 assets, live, as it would: its database on disk, its feed open.
The upstreams are a replay in another process, so that what is measured is ours alone; both clocks are ahead by the same
time, so that midnight comes when it is wanted. Every callback of the loop is timed: by the processor time of the loop's
thread, which other processes do not disturb, and by the wall, which says how long others waited.
"""

import asyncio
import gc
import tempfile
from asyncio import events
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final
from unittest.mock import patch

import msgspec

from bench.coins import recording, upstreams
from service.clock import DAY_MS, SECOND_MS, SystemClock, midnight_after
from service.settings import Settings
from service.upstream.replay.server import WEIGHT_PER_MINUTE
from service.wiring import upstreams as venues
from service.wiring.build import build
from service.wiring.process import _COLLECT_AFTER
from tests.fakes.serving import live_at

COINS: Final = 230
_BEFORE_MIDNIGHT_S: Final = 240
_LONGEST_S: Final = 0.002
"""Shorter callbacks are not told by name."""


class AheadClock(SystemClock):
    """The system's clock, ahead of it."""

    def __init__(self, ahead_ms: int) -> None:
        self._ahead_ms = ahead_ms

    def now_ms(self) -> int:
        """Wall time."""
        return super().now_ms() + self._ahead_ms


@dataclass
class Blocks:
    """What ran on the loop in a span of time.

    Attributes:
        what: The span.
        seconds: How long it was.
        cpu_s: Processor time of the loop's thread.
        longest: The longest callbacks by name: processor time and wall, seconds.
    """

    what: str
    seconds: float = 0.0
    cpu_s: float = 0.0
    calls: int = 0
    longest: dict[str, tuple[float, float]] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    collected_s: float = 0.0
    _began_s: float = 0.0

    def collect(self, phase: str, _info: dict[str, int]) -> None:
        """Note how long the garbage collector held everything."""
        if phase == "start":
            self._began_s = perf_counter()
        else:
            self.collected_s = max(self.collected_s, perf_counter() - self._began_s)


def name_of(callback: Any) -> str:
    """What a callback goes on with: the innermost coroutine of ours that its task waits in, else the callback."""
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return str(getattr(callback, "__qualname__", type(callback).__name__))
    inner: Any = task.get_coro()
    found = [inner.__qualname__]
    while (inner := getattr(inner, "cr_await", None)) is not None and hasattr(inner, "cr_code"):
        if "/service/" in inner.cr_code.co_filename:
            found.append(inner.__qualname__)
    return " > ".join(dict.fromkeys(found[-3:]))


@contextmanager
def watching(blocks: Blocks) -> Iterator[None]:
    """Time every callback of the loop."""
    run = events.Handle._run  # noqa: SLF001 - where every callback goes through

    def timed(handle: Any) -> None:
        name = name_of(handle._callback)  # noqa: SLF001 - the same
        cpu_s, wall_s = thread_time(), perf_counter()
        run(handle)
        cpu_s, wall_s = thread_time() - cpu_s, perf_counter() - wall_s
        blocks.cpu_s += cpu_s
        blocks.calls += 1
        if cpu_s > _LONGEST_S:
            blocks.times[name] += 1
            blocks.longest[name] = max(blocks.longest.get(name, (0.0, 0.0)), (cpu_s, wall_s))

    began_s = perf_counter()
    gc.callbacks.append(blocks.collect)
    with patch.object(events.Handle, "_run", timed):
        yield
    gc.callbacks.remove(blocks.collect)
    blocks.seconds = perf_counter() - began_s


async def measure(data_dir: Path, url: str, clock: AheadClock, seconds: float) -> list[Blocks]:
    start, steady, midnight = Blocks("first start"), Blocks("steady"), Blocks("around midnight")
    settings = msgspec.convert({"data_dir": str(data_dir), **live_at(url)}, Settings, strict=False, dec_hook=_path)
    weights = dict.fromkeys(venues.PUBLISHED, WEIGHT_PER_MINUTE)
    with patch.object(venues, "PUBLISHED", weights):
        async with build(settings, clock) as service:
            with watching(start):
                while not service.health.ready:  # noqa: ASYNC110 - the same
                    await asyncio.sleep(0.05)
                # As a serving process does once it is ready.
                gc.collect()
                gc.freeze()
                gc.set_threshold(*_COLLECT_AFTER)
                while not complete(service.health):  # noqa: ASYNC110 - what is waited for is of many kinds
                    await asyncio.sleep(0.2)
            await asyncio.sleep(5)
            with watching(steady):
                await asyncio.sleep(seconds)
            await asyncio.sleep(max(0.0, (midnight_after(clock.now_ms()) - clock.now_ms()) / SECOND_MS - 5))
            with watching(midnight):
                await asyncio.sleep(seconds)
    return [start, steady, midnight]


def complete(health: Any) -> bool:
    """Whether every series is there."""
    market, rwa = (health._checks[room]() for room in ("market", "rwa"))  # noqa: SLF001 - as `/readyz` says it
    series = (market["history"], market["hourly"], market["funding"], rwa["history"])
    return all(0 < each["total"] == each["known"] for each in series)


def _path(_kind: type, value: object) -> Path:
    return Path(str(value))


def written(seen: list[Blocks]) -> str:
    rows = [
        "| span | s | callbacks | loop busy, % | longest collection, ms | longest callbacks, CPU (wall) ms, times |",
        "|---|---|---|---|---|---|",
    ]
    for blocks in seen:
        ranked = sorted(blocks.longest.items(), key=lambda each: -each[1][0])[:12]
        told = "; ".join(
            f"{name} {cpu_s * 1e3:.1f} ({wall_s * 1e3:.1f}), {blocks.times[name]}x" for name, (cpu_s, wall_s) in ranked
        )
        busy = 100 * blocks.cpu_s / blocks.seconds
        span = f"| {blocks.what} | {blocks.seconds:.0f} | {blocks.calls} | {busy:.1f} "
        rows.append(f"{span}| {blocks.collected_s * 1e3:.1f} | {told} |")
    return "\n".join(rows)


def main(seconds: float = 60.0) -> None:
    now_ms = SystemClock().now_ms()
    ahead_ms = midnight_after(now_ms) - now_ms - _BEFORE_MIDNIGHT_S * SECOND_MS
    assert 0 <= ahead_ms + _BEFORE_MIDNIGHT_S * SECOND_MS <= DAY_MS
    with tempfile.TemporaryDirectory() as folder:
        fixtures = recording(Path(folder) / "fixtures", COINS)
        with upstreams(fixtures, AheadClock(ahead_ms)) as url:
            seen = asyncio.run(measure(Path(folder) / "data", url, AheadClock(ahead_ms), seconds))
    print(written(seen))


if __name__ == "__main__":
    main()
