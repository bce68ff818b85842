"""What several machines cost: one process on PostgreSQL beside one on SQLite, the same metered and durable answers.

The server of PostgreSQL is pgserver's, on the same machine, with `fsync` and `synchronous_commit` on; it takes its part
of the two processors. One on another machine adds the way there and back to each statement of a batch, of which there
are a handful.
"""

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.effort import Effort
from bench.load import Load, drive
from bench.serving import HOST, LOAD_CPU, create_key, environment, free_port, request, serving, spread, wait_until_ready
from tests.fakes.postgres import own_server

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
ONE: Final = 1
"""A connection that is alone shows what a commit takes."""


def report(effort: Effort) -> str:
    """Measure, and write the section."""
    folder = Path(tempfile.mkdtemp())
    try:
        many, alone = _measure(folder, effort)
    finally:
        shutil.rmtree(folder)
    ratios = [server.per_second / file.per_second for file, server in zip(many[SQLITE], many[POSTGRES], strict=True)]
    rows = "\n".join(
        f"| {name} | {spread((load.per_second for load in many[name]), 0)} "
        f"| {spread((load.p99_ms for load in many[name]), 1)} | {spread((load.p50_ms for load in alone[name]), 2)} |"
        for name in many
    )
    return f"""
## The store: one process on PostgreSQL beside one on SQLite

The risk route as a pro user, metered, durable and exact on both. PostgreSQL runs on the same machine, with fsync.

| Store | answers/s, {effort.connections} connections | p99 ms | median ms, one connection |
|---|---|---|---|
{rows}

PostgreSQL gives {spread(ratios, 2)} of SQLite's answers.
"""


def _measure(folder: Path, effort: Effort) -> tuple[dict[str, list[Load]], dict[str, list[Load]]]:
    many: dict[str, list[Load]] = {SQLITE: [], POSTGRES: []}
    alone: dict[str, list[Load]] = {SQLITE: [], POSTGRES: []}
    os.sched_setaffinity(0, {LOAD_CPU})
    with ExitStack() as stack:
        server = stack.enter_context(own_server())
        addresses = {SQLITE: "", POSTGRES: server.address(server.make_database())}
        asked = {name: _serve(stack, folder / name, address) for name, address in addresses.items()}
        for counts in (False, *[True] * effort.rounds):
            for name, (port, sent) in asked.items():
                for found, connections in ((many, effort.connections), (alone, ONE)):
                    load = drive(HOST, port, sent, connections=connections, seconds=effort.seconds)
                    assert not load.not_ok, f"{load.not_ok} answers on {name} were not what was asked for"
                    if counts:
                        found[name].append(load)
    return many, alone


def _serve(stack: ExitStack, folder: Path, address: str) -> tuple[int, bytes]:
    """Start ours on a store; its port and a request of a pro user."""
    port = free_port()
    environ = environment(folder, port) | {"VERDICT_STORE": address}
    stack.enter_context(serving(["-m", "service", "serve"], port, environ))
    wait_until_ready(port)
    return port, request(create_key(environ, "pro"))
