"""What several machines cost: one process on PostgreSQL beside one on SQLite, the same metered and durable answers.

The server of PostgreSQL is pgserver's or Debian's, with `fsync` and `synchronous_commit` on, on the load generator's
processor. One on another machine adds the way there and back to each statement of a batch, of which there are a few.
"""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from bench.effort import Effort
from bench.load import Load, drive
from bench.serving import HOST, create_key, request, service, spread
from tests.fakes.postgres import own_server

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
_HEADING: Final = "## The store: one process on PostgreSQL beside one on SQLite"
ONE: Final = 1
"""A connection that is alone shows what a commit takes."""


def report(effort: Effort) -> str:
    """Measure, and write the section."""
    folder = Path(tempfile.mkdtemp())
    try:
        version, many, alone = _measure(folder, effort)
    except pytest.skip.Exception as reason:
        return f"{_HEADING}\n\nNot measured here: {reason}.\n"
    finally:
        shutil.rmtree(folder)
    ratios = [server.per_second / file.per_second for file, server in zip(many[SQLITE], many[POSTGRES], strict=True)]
    rows = "\n".join(
        f"| {name} | {spread((load.per_second for load in many[name]), 0)} "
        f"| {spread((load.p99_ms for load in many[name]), 1)} | {spread((load.p50_ms for load in alone[name]), 2)} |"
        for name in many
    )
    return f"""{_HEADING}

The risk route as a pro user, metered and durable on both. PostgreSQL {version} has `fsync` and `synchronous_commit` on,
32 MB of shared buffers and nobody to replicate to. It runs on the load generator's processor; on a machine of its own
it would not share that, and be a network away.

| Store | answers/s, {effort.connections} connections | p99 ms | median ms, one connection |
|---|---|---|---|
{rows}

Of SQLite's answers, round by round, PostgreSQL gives {spread(ratios, 2)}.
"""


def _measure(folder: Path, effort: Effort) -> tuple[str, dict[str, list[Load]], dict[str, list[Load]]]:
    """The server's version, and the loads of many connections and of one alone, by store."""
    many: dict[str, list[Load]] = {SQLITE: [], POSTGRES: []}
    alone: dict[str, list[Load]] = {SQLITE: [], POSTGRES: []}
    with ExitStack() as stack:
        server = stack.enter_context(own_server())
        version = str(server.ask("SHOW server_version")[0][0]).split()[0]
        addresses = {SQLITE: "", POSTGRES: server.address(server.make_database())}
        asked = {name: _serve(stack, folder / name, address) for name, address in addresses.items()}
        for counts in (False, *[True] * effort.rounds):
            for name, (port, sent) in asked.items():
                for found, connections in ((many, effort.connections), (alone, ONE)):
                    load = drive(HOST, port, sent, connections=connections, seconds=effort.seconds)
                    assert not load.not_ok, f"{load.not_ok} answers on {name} were not what was asked for"
                    if counts:
                        found[name].append(load)
    return version, many, alone


def _serve(stack: ExitStack, folder: Path, address: str) -> tuple[int, bytes]:
    """Start ours on a store; its port and a request of a pro user."""
    port, environ = stack.enter_context(service(folder, {"VERDICT_STORE": address}))
    return port, request(create_key(environ, "pro"))
