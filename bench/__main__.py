"""Run the benches and write BENCHMARKS.md."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench import analytics, payments, questions, startup, streams, tick
from bench.fastapi_stack import TOKEN as FASTAPI_TOKEN
from bench.load import Load, drive
from bench.serving import (
    HOST,
    LOAD_CPU,
    PATH,
    ROOT,
    Contender,
    create_key,
    free_port,
    machine,
    request,
    service,
    serving,
    spread,
)

REPORT = ROOT / "BENCHMARKS.md"
BARE, OURS, FASTAPI = "bare uvicorn ASGI", "verdict, all gates, durable metering", "FastAPI + SQLAlchemy + pydantic"


@contextmanager
def bare() -> Iterator[Contender]:
    port = free_port()
    with serving(["-m", "bench.bare", str(port)], port, {}):
        yield Contender(BARE, port, request("x"))


@contextmanager
def fastapi(folder: Path) -> Iterator[Contender]:
    port = free_port()
    with serving(["-m", "bench.fastapi_stack", str(port), str(folder / "fastapi.db")], port, {}):
        yield Contender(FASTAPI, port, request(FASTAPI_TOKEN))


@contextmanager
def ours(folder: Path) -> Iterator[Contender]:
    port = free_port()
    with service(folder, port) as environ:
        yield Contender(OURS, port, request(create_key(environ, "pro")))


def measure(contenders: list[Contender], *, rounds: int, seconds: float, connections: int) -> dict[str, list[Load]]:
    """Interleave: every contender once a round, the first round thrown away as warm-up."""
    seen: dict[str, list[Load]] = {contender.name: [] for contender in contenders}
    for number in range(rounds + 1):
        for contender in contenders:
            load = drive(HOST, contender.port, contender.request, connections=connections, seconds=seconds)
            assert load.not_ok == 0, f"{contender.name}: {load.not_ok} answers were not 200"
            if number:
                seen[contender.name].append(load)
    return seen


def table(seen: dict[str, list[Load]]) -> str:
    rows = [
        "| server | answers/s, median (min to max) | ratio to bare | p50 ms | p99 ms | p99 to bare |",
        "|---|---|---|---|---|---|",
    ]
    yardstick = seen[BARE]
    for name, loads in seen.items():
        ratios = [load.per_second / base.per_second for load, base in zip(loads, yardstick, strict=True)]
        tails = [load.p99_ms / base.p99_ms for load, base in zip(loads, yardstick, strict=True)]
        rows.append(
            f"| {name} | {spread([load.per_second for load in loads], 0)} | {spread(ratios, 3)} "
            f"| {spread([load.p50_ms for load in loads], 2)} | {spread([load.p99_ms for load in loads], 2)} "
            f"| {spread(tails, 2)} |"
        )
    return "\n".join(rows)


def report(before: str, seen: dict[str, list[Load]], options: argparse.Namespace) -> str:
    times = [ours.per_second / other.per_second for ours, other in zip(seen[OURS], seen[FASTAPI], strict=True)]
    return f"""# Benchmarks

Written by `make bench`. Ratios are formed within a round and are what counts; absolute figures drift with the machine.

{before}. Server and load generator pinned to a processor each; {options.connections} keep-alive connections, one
request under way on each; {options.rounds} interleaved rounds of {options.seconds:g} s after a warm-up round. Every
answer was checked to be a 200.

## One metered call: `GET {PATH}`

Bare: uvicorn with uvloop and httptools sending 600 constant bytes. Verdict: limits, authentication, request rate,
parameters, quota, committed to SQLite at `synchronous=FULL` before each answer, envelope with its age. FastAPI: key
look-up, conditional quota update and usage row through SQLAlchemy on aiosqlite at `synchronous=FULL`, pydantic
response: the same work, as durable.

{table(seen)}

Verdict to FastAPI, round by round: {spread(times, 1)} times.
"""


def main() -> None:
    options = argparse.ArgumentParser(prog="bench")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=float, default=4.0)
    options.add_argument("--connections", type=int, default=64)
    options.add_argument("--out", type=Path, default=REPORT)
    chosen = options.parse_args()
    before = machine()
    os.sched_setaffinity(0, {LOAD_CPU})
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with ExitStack() as stack:
            contenders = [stack.enter_context(entry) for entry in (bare(), ours(folder), fastapi(folder))]
            seen = measure(contenders, rounds=chosen.rounds, seconds=chosen.seconds, connections=chosen.connections)
    finally:
        shutil.rmtree(folder)
    bought = payments.report(rounds=chosen.rounds, seconds=chosen.seconds, connections=chosen.connections)
    answered = questions.report(rounds=chosen.rounds, seconds=chosen.seconds, connections=chosen.connections)
    followed = streams.report((chosen.rounds + 1) // 2, chosen.seconds)
    started = startup.report(4 * chosen.rounds + 1)
    sections = [
        report(before, seen, chosen),
        bought,
        answered,
        followed,
        started,
        analytics.report(2 * chosen.rounds + 1),
        tick.report(8 * chosen.rounds),
    ]
    text = "\n".join(sections)
    chosen.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
