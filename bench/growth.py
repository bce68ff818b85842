"""What grows with coins, with users, and with the calls that were ever counted.

A bare server is measured beside each, so that what the machine does meanwhile is not taken for growth.
"""

import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

from bench.coins import LIVE, recording, upstreams
from bench.effort import Effort
from bench.filling import Filling, key_of
from bench.footprint import STILL, Running, Start, live_settings, started
from bench.load import Load, drive, drive_each
from bench.serving import HOST, create_key, environment, request, serving, spread
from service.clock import SystemClock

COINS: Final = (10, 100, 1_000)
USERS: Final = (1, 100_000, 1_000_000)
EVENTS: Final = 10_000_000
_IN_TURN: Final = 50_000
"""Users that call in turn, of those there are: a list of requests that fits into memory."""

_IDLE_S: Final = 10.0
"""Long enough for a refresh of everything that is refreshed within seconds."""


@dataclass
class Grown:
    """A size, and what was seen at it.

    Attributes:
        what: How much there is of what.
        start: Of the process, on the folder as it is.
        ready_mb: Resident when ready, and after the loads.
        alone: One call at a time, of one user: how long a decision takes.
        bare, same, each: With many connections: the bare server, one user's calls, another user's with each call.
    """

    what: str
    start: Start
    ready_mb: float
    stored_mb: float = 0.0
    loaded_mb: float = 0.0
    idle_cpu: float = 0.0
    fetched_s: float = 0.0
    alone: list[Load] = field(default_factory=list)
    bare: list[Load] = field(default_factory=list)
    same: list[Load] = field(default_factory=list)
    each: list[Load] = field(default_factory=list)


@contextmanager
def yardstick() -> Iterator[int]:
    with serving(["-m", "bench.bare"], {}) as server:
        yield server.port


def load(grown: Grown, running: Running, bare: int, tokens: Sequence[str], effort: Effort) -> int:
    """Interleave loads, the first round thrown away as warm-up; how many calls were answered, that one's too."""
    asked, in_turn = request(tokens[0]), cycle([request(token) for token in tokens])
    answers = 0
    for number in range(effort.rounds + 1):
        loads = {
            "bare": drive(HOST, bare, asked, connections=effort.connections, seconds=effort.seconds),
            "alone": drive(HOST, running.port, asked, connections=1, seconds=effort.seconds),
            "same": drive(HOST, running.port, asked, connections=effort.connections, seconds=effort.seconds),
            "each": drive_each(HOST, running.port, in_turn, connections=effort.connections, seconds=effort.seconds),
        }
        for name, one in loads.items():
            assert one.not_ok == 0, f"{grown.what}: {one.not_ok} answers were not 200"
            answers += one.answers if name != "bare" else 0
            if number:
                getattr(grown, name).append(one)
    grown.loaded_mb = running.memory_mb()
    return answers


def of_store(folder: Path, filling: Filling, users: int, what: str, bare: int, effort: Effort) -> Grown:
    """Start the service on a store of so many users, and load it."""
    dice = random.Random(users)  # noqa: S311 - any users
    tokens = [key_of(1 + dice.randrange(users)) for _ in range(min(users, _IN_TURN))]
    stored_mb, before = filling.size() / 1e6, filling.counted()
    with started(folder, {}, STILL) as running:
        grown = Grown(what, running.start(), running.memory_mb(), stored_mb)
        answers = load(grown, running, bare, tokens, effort)
    counted = filling.counted() - before
    cut_off = (effort.rounds + 1) * (2 * effort.connections + 1)
    assert answers <= counted <= answers + cut_off, f"{what}: counted {counted} of {answers} calls"
    return grown


def stores(folder: Path, bare: int, users: Sequence[int], events: int, effort: Effort) -> tuple[list[Grown], float]:
    """One store that grows; how long it takes to compare its counters with its events in the end, seconds."""
    with started(folder, {}, STILL) as running:
        running.until("/readyz")
    filling, seen, last = Filling(folder / "data"), [], 0
    for number in users:
        filling.users(last + 1, number)
        last = number
        seen.append(of_store(folder, filling, number, f"{number:,} users", bare, effort))
    filling.events(events, last)
    began_s = time.monotonic()
    wrong = filling.wrong()
    audited_s = time.monotonic() - began_s
    assert not wrong, wrong[0]
    seen.append(of_store(folder, filling, last, f"{last:,} users, {events:,} calls more", bare, effort))
    return seen, audited_s


def of_coins(folder: Path, coins: int, bare: int, effort: Effort) -> Grown:
    """Start the service on so many coins, and load it once it has fetched everything."""
    fixtures = recording(folder / f"fixtures-{coins}", coins)
    home = folder / f"coins-{coins}"
    with upstreams(fixtures, SystemClock()) as url:
        settings = live_settings(url)
        with started(home, settings, LIVE) as running:
            token = create_key(environment(home) | settings, "pro")
            grown = Grown(f"{coins:,} coins", running.start(), running.memory_mb())
            began_s = time.monotonic()
            known = running.fetch_all()
            grown.fetched_s = time.monotonic() - began_s
            assert known >= coins, f"{known} coins instead of {coins}"
            before_s = running.cpu_s()
            time.sleep(_IDLE_S)
            grown.idle_cpu = (running.cpu_s() - before_s) / _IDLE_S
            load(grown, running, bare, [token], effort)
    grown.stored_mb = Filling(home / "data").size() / 1e6
    return grown


def ratios(loads: Sequence[Load], bare: Sequence[Load]) -> str:
    return spread([load.per_second / base.per_second for load, base in zip(loads, bare, strict=True)], 3)


def store_table(seen: Sequence[Grown]) -> str:
    rows = [
        "| store | MB | `/healthz` s | `/readyz` s | ready MB | loaded | one alone, p50 ms | one user | all | p99 ms |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {one.what} | {one.stored_mb:.1f} | {one.start.live_s:.2f} | {one.start.ready_s:.2f} | {one.ready_mb:.0f} "
        f"| {one.loaded_mb:.0f} | {spread([load.p50_ms for load in one.alone], 3)} | {ratios(one.same, one.bare)} "
        f"| {ratios(one.each, one.bare)} | {spread([load.p99_ms for load in one.each], 2)} |"
        for one in seen
    ]
    return "\n".join(rows)


def coin_table(seen: Sequence[Grown]) -> str:
    rows = [
        "| live | MB | `/healthz` s | `/readyz` s | all | ready MB | loaded | idle % | alone, p50 ms | ratio | p99 |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {one.what} | {one.stored_mb:.1f} | {one.start.live_s:.2f} | {one.start.ready_s:.2f} | {one.fetched_s:.1f} "
        f"| {one.ready_mb:.0f} | {one.loaded_mb:.0f} | {100 * one.idle_cpu:.1f} "
        f"| {spread([load.p50_ms for load in one.alone], 3)} | {ratios(one.same, one.bare)} "
        f"| {spread([load.p99_ms for load in one.same], 2)} |"
        for one in seen
    ]
    return "\n".join(rows)


def measure(
    coins: Sequence[int], users: Sequence[int], events: int, effort: Effort
) -> tuple[list[Grown], list[Grown], float]:
    """All sizes, one after the other: by coins, by the store, and how long its audit takes."""
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with yardstick() as bare:
            by_store, audited_s = stores(folder / "store", bare, users, events, effort)
            by_coins = [of_coins(folder, number, bare, effort) for number in coins]
    finally:
        shutil.rmtree(folder)
    return by_coins, by_store, audited_s


def report(effort: Effort) -> str:
    """The section of BENCHMARKS.md."""
    few = Effort(min(effort.rounds, 3), effort.seconds, effort.connections)
    by_coins, by_store, audited_s = measure(COINS, USERS, EVENTS, few)
    return f"""## What grows

{few.rounds} rounds each, a bare server beside each. By coins: live, the upstreams another process; all series of all of
them fetched. By users and calls: one store that grows, on the fixtures; {_IN_TURN:,} users call in turn. One call alone
is one connection with one request under way: what the decision takes, its commit included. Ratios are to bare: of one
user's calls, and where each call is another user's. Idle: of a processor, over {_IDLE_S:g} s without a call.

{coin_table(by_coins)}

{store_table(by_store)}

To compare every counter with the events it counts takes {audited_s:.1f} s with the last of these, beside the service.
"""
