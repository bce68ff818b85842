"""Starts the service in this process. The only module of these tests that imports it."""

import asyncio
import io
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from email.utils import formatdate
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import uvicorn
from starlette.types import ASGIApp

from service.__main__ import run as run_command
from service.clock import SystemClock
from service.http.fast_path import FastPath
from service.mcp.calls import Gateway
from service.mcp.server import make_server
from service.settings import UPSTREAMS, Settings
from service.storage import opening
from service.upstream.replay import recording
from service.upstream.replay.server import Interceptor, replay_server
from service.walkforward import factory as walkforward
from service.walkforward import worker
from service.walkforward.parameters import CoinHistoryInput
from service.walkforward.records import PackedRun
from service.walkforward.worker import NothingToWalk, WalkforwardJob
from service.walkforward.worker import _histories as _all_days
from service.wiring import clocks, upstreams
from service.wiring.build import build
from service.wiring.server import Server, configure
from tests.commands_page import EVERY
from tests.fakes.handful import COINS, cut
from tests.golden.idle import ManualClock

_WALKED_DAYS: Final = 520
"""A year to train on, one fold of a quarter, and most of another."""

COMMANDS: Final = tuple(EVERY)
"""Words of every command: `coin risk`."""


class Output(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Running(NamedTuple):
    """A running service.

    Attributes:
        app: The ASGI application.
        metrics: The application of `/metrics`.
        port: Where it listens.
        clock: Its time.
        environment: Its settings as environment variables, for operator commands.
    """

    app: ASGIApp
    metrics: ASGIApp
    port: int
    clock: ManualClock
    environment: Mapping[str, str]

    async def command(self, *words: str, stdin: str = "", **environment: str) -> Output:
        """Run `verdict WORDS` beside the service, at its time, in an environment of its own, 80 columns wide."""
        return await self._run(words, environment, stdin, io.TextIOWrapper)

    async def at_terminal(self, *words: str, stdin: str = "", **environment: str) -> Output:
        """Run `verdict WORDS` as `command` does, with a terminal to write to."""
        return await self._run(words, environment, stdin, _Terminal)

    async def _run(
        self, words: tuple[str, ...], environment: Mapping[str, str], stdin: str, stream: type[io.TextIOWrapper]
    ) -> Output:
        with patch.object(SystemClock, "now_ms", lambda _: self.clock.now_ms()):
            return await asyncio.to_thread(_typed, words, {"COLUMNS": "80", **environment}, stdin, stream)

    async def operate(self, *words: str) -> Output:
        """Run an operator's command on the data folder of the service, at its time."""
        with patch.object(clocks, "FrozenClock", lambda _at_ms: self.clock):
            return await self.command(*words, **self.environment)

    async def key(self, name: str, tier: str = "free") -> str:
        """Make an API key as the operator does."""
        made = await self.operate("admin", "keys", "create", "--name", name, "--tier", tier, "--json")
        return str(json.loads(made.out)["key"])


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _typed(
    words: tuple[str, ...], environment: Mapping[str, str], stdin: str, stream: type[io.TextIOWrapper]
) -> Output:
    out, err = (stream(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.dict(os.environ, environment, clear=True),
        # The check reads the whole store at each start; `doctor` has its own.
        patch.object(opening, "_check_pages", lambda *_: None),
    ):
        code = run_command(words, environment)
    return Output(code, *(_text(stream) for stream in (out, err)))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def _last_days(job: WalkforwardJob) -> list[CoinHistoryInput]:
    """Read fewer days: the duration of a run grows with their square."""
    first = job.until_ms // 86_400_000 - _WALKED_DAYS
    return [
        CoinHistoryInput(
            each.coin,
            [bar for bar in each.bars if bar[0] >= first],
            [payment for payment in each.funding if payment[0] >= first],
        )
        for each in _all_days(job)
    ]


async def _skip(_job: WalkforwardJob, _report: Callable[[int, int], None]) -> PackedRun | NothingToWalk:
    return NothingToWalk("not in this test")


@contextmanager
def tool_server(running: Running, token: str | None) -> Iterator[Any]:
    """A server of the Model Context Protocol that asks the service with a token, as `verdict mcp` does."""
    with closing(Gateway(f"http://127.0.0.1:{running.port}", lambda _headers: token)) as gateway:
        yield make_server(gateway)


@contextmanager
def _unpacked_once() -> Iterator[None]:
    """Cache all unpacked rows of the replay: a clock that moves through days reads the same hours often."""
    with patch.object(recording, "_unpacked", lru_cache(None)(recording._unpacked.__wrapped__)):
        yield


@asynccontextmanager
async def live_upstreams(
    fixtures_dir: Path, clock: ManualClock, intercept: Interceptor
) -> AsyncIterator[Mapping[str, Any]]:
    """Serve a recording as the live upstreams until the block ends; yield the settings that name them.

    A service that is started meanwhile may ask them as often as it wants to.

    Args:
        fixtures_dir: Of the recording.
        clock: The time.
        intercept: Called with every request; what it returns is sent, or the recorded answer if it returns null.
    """
    with (
        _unpacked_once(),
        patch.object(upstreams, "PUBLISHED", dict.fromkeys(upstreams.PUBLISHED, 1_000_000_000)),
    ):
        async with replay_server(fixtures_dir, clock, "frozen") as replay:
            replay.interceptor = intercept
            yield {
                "source": "live",
                "fixtures_dir": str(fixtures_dir),
                "wallets_rpc": replay.base("ethereum"),
                "wallets_file": str(fixtures_dir / "chain" / "wallets.toml"),
                **{f"{name}_url": replay.base(name) for name in UPSTREAMS},
            }


@asynccontextmanager
async def service(
    data_dir: Path, clock: ManualClock, *, walks: bool = False, knows_port: bool = False, **settings: str
) -> AsyncIterator[Running]:
    """Run the service until the block ends: on the bundled recording as it was recorded, unless settings say else.

    Args:
        data_dir: Its folder.
        clock: Its time.
        walks: Whether the walk-forward runs. Over all coins it takes half a minute.
        knows_port: Whether the port setting is the real port, which sign-in by command needs; else it is 8402.
        settings: As after `VERDICT_`, in lower case.
    """
    unlimited = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}

    async def walk(job: WalkforwardJob, report: Callable[[int, int], None]) -> PackedRun | NothingToWalk:
        """Run in this process, because a test may not start another. It blocks the loop for seconds."""
        await clock.settle()
        with patch.object(worker, "_histories", _last_days):
            return worker.run_job(job, report)

    with (
        patch.object(walkforward, "run_in_process", walk if walks else _skip),
        _unpacked_once(),
        patch.object(uvicorn.server, "formatdate", lambda *_, **__: formatdate(clock.now_ms() / 1_000, usegmt=True)),
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        port = str(listener.getsockname()[1]) if knows_port else "8402"
        chosen = {"data_dir": str(data_dir), "source": "fixtures", "replay": "frozen", "port": port}
        environment = {f"VERDICT_{name.upper()}": value for name, value in {**chosen, **unlimited, **settings}.items()}
        checked = Settings.from_environ(environment)
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


def few_coins(folder: Path, coins: Collection[str] = COINS) -> Path:
    """Cut the recording to a handful of coins and assets, in a new folder."""
    return cut(folder, coins)
