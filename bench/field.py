"""One call beside the field: what serves it, what it may cost, and what people use in place of this service.

Those that count calls are asked afterwards how many they have counted: all that were answered, and no more than were
asked.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import connect
from typing import Final

from bench import nginx, openbb
from bench.asked import at_least, below, short
from bench.durable import TOKEN, counted
from bench.effort import Effort
from bench.load import Load, drive
from bench.serving import HOST, PATH, Contender, create_key, exchange, request, service, serving, spread

FREE_PATH: Final = "/api/cli/manifest"
TIER_PATH: Final = "/api/cli/billing/tier"
BARE, OURS = "bare uvicorn ASGI", "verdict, all gates, durable metering"
FREE, TIER = "verdict, a free route, a free user", "verdict, what is left to a free user"
FASTAPI, LITESTAR = "FastAPI + SQLAlchemy + pydantic", "Litestar + SQLAlchemy + msgspec"
SLOWAPI = "FastAPI + slowapi, in memory"
RATIO, GOAL, P99_MS = 0.65, 1.0, 2.0
"""What issue 9 asks for, and hopes for, of bare uvicorn; and of the slowest in a hundred, with 64 connections."""

_LEAST_BYTES: Final = 300
"""Head and body: less is not an answer such as the others'."""


@dataclass(frozen=True)
class Entry:
    """A contender, and how many calls it says that it has counted, if it counts."""

    contender: Contender
    count: Callable[[], int] | None = None


@contextmanager
def bare(_folder: Path) -> Iterator[list[Entry]]:
    with serving(["-m", "bench.bare"], {}) as server:
        yield [Entry(Contender(BARE, server.port, request("x")))]


@contextmanager
def static(folder: Path) -> Iterator[list[Entry]]:
    with nginx.nginx(folder) as contender:
        yield [Entry(contender)]


@contextmanager
def others_server(folder: Path) -> Iterator[list[Entry]]:
    with openbb.openbb(folder) as contender:
        yield [Entry(contender)]


@contextmanager
def ours(folder: Path) -> Iterator[list[Entry]]:
    """The service: its free route as a free user, which counts nothing, and a metered one without a limit."""
    with service(folder) as (port, environ):
        free, pro = create_key(environ, "free"), create_key(environ, "pro")
        store = folder / "data" / "verdict.db"
        yield [
            Entry(Contender(OURS, port, request(pro)), lambda: _events(store)),
            Entry(Contender(FREE, port, request(free, path=FREE_PATH))),
            Entry(Contender(TIER, port, request(free, path=TIER_PATH))),
        ]


@contextmanager
def framework(name: str, module: str, folder: Path) -> Iterator[list[Entry]]:
    """A framework that keeps keys and counts in a file of its own."""
    store = folder / f"{module}.db"
    with serving(["-m", f"bench.{module}", str(store)], {}) as server:
        yield [Entry(Contender(name, server.port, request(TOKEN)), lambda: counted(store))]


@contextmanager
def in_memory(_folder: Path) -> Iterator[list[Entry]]:
    with serving(["-m", "bench.slowapi_stack"], {}) as server:
        yield [Entry(Contender(SLOWAPI, server.port, request(TOKEN)))]


def _events(store: Path) -> int:
    """What ours has counted, by its counters and its events, which must agree."""
    connection = connect(store)
    try:
        used, events = connection.execute(
            "SELECT (SELECT sum(counted) FROM quota), (SELECT count(*) FROM usage_events WHERE state = 1)"
        ).fetchone()
    finally:
        connection.close()
    assert used == events, f"{used} questions counted, {events} events"
    return int(events)


@contextmanager
def everybody(folder: Path) -> Iterator[list[Entry]]:
    """All that can be measured here, started one after the other; the yardstick first."""
    with ExitStack() as stack:
        enter = stack.enter_context
        entries = enter(bare(folder)) + enter(ours(folder))
        entries += enter(framework(FASTAPI, "fastapi_stack", folder))
        entries += enter(framework(LITESTAR, "litestar_stack", folder))
        entries += enter(in_memory(folder))
        if nginx.missing() is None:
            entries += enter(static(folder))
        if openbb.missing() is None:
            entries += enter(others_server(folder))
        yield entries


def measure(entries: list[Entry], effort: Effort) -> list[list[Load]]:
    """Interleave: for each entry its loads, one a round, the first round thrown away as warm-up."""
    seen: list[list[Load]] = [[] for _ in entries]
    for entry in entries:
        told = exchange(entry.contender.port, entry.contender.request)
        assert told.startswith(b"HTTP/1.1 200"), f"{entry.contender.name} answered {told!r}"
        assert len(told) > _LEAST_BYTES, f"{entry.contender.name} answered {told!r}"
    for _ in range(effort.rounds + 1):
        for entry, loads in zip(entries, seen, strict=True):
            one = entry.contender
            load = drive(HOST, one.port, one.request, connections=effort.connections, seconds=effort.seconds)
            assert load.not_ok == 0, f"{one.name}: {load.not_ok} answers were not 200"
            loads.append(load)
    for entry, loads in zip(entries, seen, strict=True):
        check(entry, loads, effort)
    return [loads[1:] for loads in seen]


def check(entry: Entry, loads: list[Load], effort: Effort) -> None:
    """Whoever counts has counted every answer, the first one included; of those cut off, each connection's last."""
    if entry.count is None:
        return
    answers, counted = 1 + sum(load.answers for load in loads), entry.count()
    most = answers + len(loads) * effort.connections
    assert answers <= counted <= most, f"{entry.contender.name} counted {counted} of {answers} calls"


def table(entries: list[Entry], seen: list[list[Load]]) -> str:
    rows = [
        "| server | answers/s, median (min to max) | ratio to bare | p50 ms | p99 ms | p99 to bare | load busy, % |",
        "|---|---|---|---|---|---|---|",
    ]
    yardstick = seen[0]
    for entry, loads in zip(entries, seen, strict=True):
        ratios = [load.per_second / base.per_second for load, base in zip(loads, yardstick, strict=True)]
        tails = [load.p99_ms / base.p99_ms for load, base in zip(loads, yardstick, strict=True)]
        rows.append(
            f"| {entry.contender.name} | {spread([load.per_second for load in loads], 0)} | {spread(ratios, 3)} "
            f"| {spread([load.p50_ms for load in loads], 2)} | {spread([load.p99_ms for load in loads], 2)} "
            f"| {spread(tails, 2)} | {spread([100 * load.busy for load in loads], 0)} |"
        )
    rows.append(f"| asked for, of verdict's metered call | | ≥ {RATIO:g}, better {GOAL:g} | | < {P99_MS:g} | | |")
    return "\n".join(rows)


def times(entries: list[Entry], seen: list[list[Load]]) -> str:
    """How many times ours answers as often as the others, round by round."""
    by_name = {entry.contender.name: loads for entry, loads in zip(entries, seen, strict=True)}
    told = []
    for name in (FASTAPI, LITESTAR, SLOWAPI, openbb.NAME):
        pairs = zip(by_name[OURS], by_name.get(name, []), strict=False)  # OpenBB may not be there
        if more := [mine.per_second / theirs.per_second for mine, theirs in pairs]:
            told.append(f"{name} {spread(more, 1)}")
    return "; ".join(told)


def shortfalls(entries: list[Entry], seen: list[list[Load]]) -> str:
    """What the metered call falls short of."""
    loads = next(loads for entry, loads in zip(entries, seen, strict=True) if entry.contender.name == OURS)
    ratios = [load.per_second / base.per_second for load, base in zip(loads, seen[0], strict=True)]
    return short(
        at_least("the metered call, of bare", ratios, RATIO),
        at_least("the same, as was hoped for", ratios, GOAL),
        below("its p99, ms", [load.p99_ms for load in loads], P99_MS),
    )


def report(effort: Effort) -> str:
    """Measure, and write it up."""
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with everybody(folder) as entries:
            seen = measure(entries, effort)
    finally:
        shutil.rmtree(folder)
    skipped = [reason for reason in (nginx.missing(), openbb.missing()) if reason]
    left_out = f"\nNot measured here: {'; '.join(skipped)}.\n" if skipped else ""
    return f"""## One metered call: `GET {PATH}`

Bare: uvicorn with uvloop and httptools sending 600 constant bytes. Verdict: limits, authentication, request rate,
parameters, quota, committed to SQLite at `synchronous=FULL` before each answer, envelope with its age; of a pro user,
whose calls are counted as anybody's and end at no limit: a free user has ten. The free routes count nothing:
`GET {FREE_PATH}`, and `GET {TIER_PATH}`, which is computed for its caller.
FastAPI and Litestar: key look-up, conditional quota update and usage row through SQLAlchemy on aiosqlite at
`synchronous=FULL`, a typed response: the same work, as durable. slowapi, by itself: keys and limits in memory, gone
with the process. OpenBB: a route that answers from memory, on asyncio and h11, as its packages bring it; the others
have uvloop and httptools. nginx: a file of 600 bytes. Whoever counts calls had counted every answer in the end.

Each server is sent the same bytes again and again, and Verdict's connections keep what answers their last head: "What
grows" has calls of many users in turn. Load busy: of the generator's processor. Where that is near 100, the generator
was the limit, and the server may be faster than is told.

{table(entries, seen)}

Verdict's metered call, times the others, round by round:
{times(entries, seen)}.

{shortfalls(entries, seen)}
{left_out}"""
