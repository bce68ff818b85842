"""Starts the service in this process. The only module of these tests that imports it."""

import asyncio
import io
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

from starlette.types import ASGIApp

from service.__main__ import run as run_command
from service.http.fast_path import FastPath
from service.settings import Settings
from service.upstream.replay import recording
from service.walkforward import factory as walkforward
from service.walkforward.records import PackedRun
from service.walkforward.worker import NothingToWalk, WalkforwardJob, run_job
from service.wiring.build import build
from service.wiring.server import Server, configure
from tests.fakes import handful
from tests.golden.idle import HandClock

ADDRESS: Final = "http://127.0.0.1:8402"
"""What the service takes for its address; it listens on a free port."""


class Output(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Running(NamedTuple):
    """A service that answers.

    Attributes:
        app: The ASGI application.
        metrics: The application of `/metrics`.
        port: Where it listens.
        clock: Its time.
        environment: Its settings, as variables: what an operator's command is given.
    """

    app: ASGIApp
    metrics: ASGIApp
    port: int
    clock: HandClock
    environment: Mapping[str, str]

    async def command(self, *words: str, stdin: str = "", **environment: str) -> Output:
        """Run `verdict WORDS` beside the service, in an environment of its own, 80 columns wide."""
        return await asyncio.to_thread(_typed, words, {"COLUMNS": "80", **environment}, stdin)

    async def operate(self, *words: str) -> Output:
        """Run an operator's command on the data folder of the service."""
        return await self.command(*words, **self.environment)

    async def key(self, name: str, tier: str = "free") -> str:
        """Make an API key as the operator does."""
        made = await self.operate("keys", "create", "--name", name, "--tier", tier, "--json")
        return str(json.loads(made.out)["key"])


def _typed(words: tuple[str, ...], environment: Mapping[str, str], stdin: str) -> Output:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.dict(os.environ, environment, clear=True),
    ):
        code = run_command(words, environment)
    return Output(code, *(_text(stream) for stream in (out, err)))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


async def _walk(job: WalkforwardJob, report: Callable[[int, int], None]) -> PackedRun | NothingToWalk:
    """Run a walk-forward in this process: a test may not start another."""
    return run_job(job, report)


async def _stay(_job: WalkforwardJob, _report: Callable[[int, int], None]) -> PackedRun | NothingToWalk:
    return NothingToWalk("not in this test")


@asynccontextmanager
async def service(
    data_dir: Path, clock: HandClock, *, walks: bool = False, back_days: int = 0, **settings: str
) -> AsyncIterator[Running]:
    """Run the service until the block ends: on the bundled recording as it was recorded, unless settings say else.

    Args:
        data_dir: Its folder.
        clock: Its time.
        walks: Whether it walks forward. Over all coins that takes half a minute.
        back_days: Days before the recording's end that the clock begins: hours that are read again and again are slow
            to read otherwise.
        settings: As after `VERDICT_`, in lower case.
    """
    unlimited = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
    chosen = {"data_dir": str(data_dir), "source": "fixtures", "replay": "frozen", "port": "8402"}
    environment = {f"VERDICT_{name.upper()}": value for name, value in {**chosen, **unlimited, **settings}.items()}
    checked = Settings.from_environ(environment)
    unpacked = {kind: max(rows, (back_days + 3) * 24) for kind, rows in recording._ROWS_KEPT_UNPACKED.items()}
    with (
        patch.object(walkforward, "run_in_process", _walk if walks else _stay),
        patch.dict(recording._ROWS_KEPT_UNPACKED, unpacked if back_days else {}),
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        async with build(checked, clock) as built:
            server = Server(configure(built.app, checked), built.connections, lambda: None, FastPath(built.app))
            serving = asyncio.create_task(server.serve([listener]))
            try:
                await clock.settle()
                yield Running(built.app, built.metrics, listener.getsockname()[1], clock, environment)
            finally:
                built.streams.stop()
                server.stop()
                await serving


def few_coins(folder: Path, venue_symbols: Sequence[str]) -> Path:
    """Cut the recording to these coins and a few assets, in a new folder."""
    with patch.object(handful, "COINS", tuple(venue_symbols)):
        return handful.cut(folder)
