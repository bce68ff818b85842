"""Recorded hours that pass a midnight UTC: the table hour by hour, the day's ledger, and the six streams."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.fakes.asgi import Conversation, scope_of
from tests.golden.answers import Answer
from tests.golden.asking import Request, ask, joined, record, shown
from tests.golden.idle import ManualClock, run
from tests.golden.start import Running, few_coins, service

_HOUR_MS: Final = 3_600_000
_START_MS: Final = 1_753_099_200_000
"""2025-07-21T12:00:00Z: with the midnight after it several trends turn."""

_HOURS: Final = 26
_MIDNIGHT: Final = 12
"""The hour, counted from the start, with which a day begins."""

_BEFORE_S: Final = 5
_AFTER_S: Final = 10
"""Each hour is followed in order from before to after it: prices are asked for every 15 seconds."""

_BEFORE_MIDNIGHT_S: Final = 30
_AFTER_MIDNIGHT_S: Final = 90
"""After that, the trends and the verdicts of the new day are published."""

_LAST_STEPS: Final = 240
_STEP_S: Final = 5
"""Twenty more minutes, state by state. A stream keeps 360 states, so the first ones are gone after that."""

_TRADED: Final = ("BTC", "ETH", "SOL", "DOGE", "XMR", "ADA", "ENA", "kPEPE")
"""At that midnight DOWN outnumbers UP among these coins, so there is a crossing."""

_COINS: Final = tuple(coin.removeprefix("k") for coin in _TRADED)
_TABLE: Final = "/api/cli/coins?limit=1000"
_BESIDE_TABLE: Final = (
    "regime?action=active",
    "regime?action=signals",
    "market/health?context=1",
    "market/crossing",
    "funding/alerts",
    "coin/historical/BTC?count=24&unit=h",
    "coin/historical/BTC?count=5&unit=d",
    "signal/BTC",
    "market/baselines?symbols=BTC",
)
_HOURS_BESIDE_TABLE: Final = (1, 11, 12, 13, 26)

_CHECKS: Final = ("counters", "days", "ledger", "refreshes", "quarantine")
"""Of `verdict doctor`; the others are of the machine, or of nothing that happens here."""

_STREAMS: Final = (
    *(f"{name}?interval=10" for name in ("prices", "funding", "regime", "sentiment")),
    *(f"{name}?interval=10&diff=1" for name in ("prices", "funding", "regime", "sentiment")),
    "alerts",
    "crossings",
)
_RESUMED: Final = ("prices?interval=30", "prices?interval=30&diff=1")
_STREAMS_A_KEY: Final = 3


def record_replay(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record 26 hours of a few coins."""

    async def work(clock: ManualClock) -> Mapping[str, Sequence[Answer]]:
        fixtures = few_coins(folder / "fixtures", _TRADED)
        async with service(folder / "data", clock, fixtures_dir=str(fixtures)) as running:
            await clock.advance(60)
            return await _Recording(running, await running.key("replay", "pro")).pass_hours()

    return run(work, _START_MS, frozen=False)


class _Recording:
    """What has been recorded so far.

    Args:
        running: The service.
        key: Of a caller without a limit.
    """

    def __init__(self, running: Running, key: str) -> None:
        self._running = running
        self._clock = running.clock
        self._tokens = {"pro": key}
        self._files: dict[str, list[Answer]] = {"table": [], "ledger": [], "streams": []}

    async def pass_hours(self) -> Mapping[str, Sequence[Answer]]:
        """Let all hours pass; what was recorded, by file."""
        streams = [await self._stream(name, number) for number, name in enumerate(_STREAMS)]
        early = [await self._stream(name, number + len(_STREAMS)) for number, name in enumerate(_RESUMED)]
        for stream in early:
            stream.open()
        await self._clock.settle()
        for stream in early:
            await self._keep(stream)
        first = [stream.cursor for stream in early]
        for hour in range(1, _HOURS + 1):
            at_ms = _START_MS + hour * _HOUR_MS
            await self._clock.jump(self._seconds_to(at_ms) - (_BEFORE_MIDNIGHT_S if hour == _MIDNIGHT else _BEFORE_S))
            for stream in streams:
                await self._keep(stream)
                stream.open(stream.cursor)
            if hour == _MIDNIGHT:
                await self._clock.advance(_BEFORE_MIDNIGHT_S - _BEFORE_S)
                await self._record_ledger()
            await self._clock.advance(self._seconds_to(at_ms) + (_AFTER_MIDNIGHT_S if hour == _MIDNIGHT else _AFTER_S))
            await self._record_table(_BESIDE_TABLE if hour in _HOURS_BESIDE_TABLE else ())
            if hour == _MIDNIGHT:
                await self._record_ledger()
        for stream in streams:
            await self._keep(stream)
        await self._resume(early, first)
        return self._files

    async def _resume(self, early: Sequence["_Stream"], first: Sequence[str]) -> None:
        """Close streams and resume them: after 10 minutes, and after more states than a stream keeps."""
        for stream in early:
            stream.open()
        for step in range(_LAST_STEPS):
            await self._clock.jump(_STEP_S)
            if step in (_LAST_STEPS // 4, _LAST_STEPS * 3 // 4):
                for stream in early:
                    await self._keep(stream)
                    if step > _LAST_STEPS // 4:
                        stream.open(stream.cursor)
        for stream, cursor in zip(early, first, strict=True):
            await self._keep(stream)
            stream.open(cursor)
        await self._clock.advance(_AFTER_S)
        for stream in early:
            await self._keep(stream)

    async def _stream(self, name: str, number: int) -> "_Stream":
        who = f"watcher {number // _STREAMS_A_KEY + 1}"
        if who not in self._tokens:
            self._tokens[who] = await self._running.key(who, "pro")
        return _Stream(self._running, name, self._tokens[who])

    async def _keep(self, stream: "_Stream") -> None:
        self._files["streams"] += await stream.close()

    async def _record_table(self, beside: Sequence[str]) -> None:
        targets = [_TABLE, *(f"/api/cli/{each}" for each in beside)]
        self._files["table"] += await self._ask_all(targets)

    async def _record_ledger(self) -> None:
        for coin in _COINS:
            asked = Request("pro", "GET", f"/api/cli/signal/{coin}")
            reply = await ask(self._running, asked, self._tokens)
            checked = await self._running.command("verify", "-", stdin=reply.body.decode())
            self._files["ledger"] += [
                Answer(f"{asked.title} · {self._now}", shown(reply)),
                Answer(f"verdict verify · {coin} · {self._now}", f"exit code {checked.code}\n\n{checked.out}"),
            ]
        targets = [f"/api/cli/signal-quality?asset={coin}&signal_type=verdict" for coin in _COINS]
        self._files["ledger"] += await self._ask_all(targets)
        checks = json.loads((await self._running.operate("admin", "doctor", "--json")).out)["checks"]
        lines = "\n".join(json.dumps(check) for check in checks if check["check"] in _CHECKS)
        self._files["ledger"].append(Answer(f"verdict doctor · {self._now}", lines))

    async def _ask_all(self, targets: Sequence[str]) -> list[Answer]:
        answers = await record(self._running, [Request("pro", "GET", target) for target in targets], self._tokens)
        return [Answer(f"{each.title} · {self._now}", each.text) for each in answers]

    @property
    def _now(self) -> str:
        return _iso(self._clock.now_ms())

    def _seconds_to(self, at_ms: int) -> float:
        return (at_ms - self._clock.now_ms()) / 1_000


class _Stream:
    """A stream, read as it comes.

    Args:
        running: The service.
        name: And its query.
        token: Of its reader.

    Attributes:
        cursor: Where the last answer can be gone on with.
    """

    def __init__(self, running: Running, name: str, token: str) -> None:
        self.cursor = ""
        self._running = running
        self._target = f"/api/cli/watch/{name}"
        self._headers = {"host": "127.0.0.1:8402", "authorization": f"Bearer {token}"}
        self._title = ""
        self._talk = Conversation()
        self._task: asyncio.Future[None] | None = None

    def open(self, cursor: str = "") -> None:
        """Open it, after a cursor if one is given."""
        more = f"{'&' if '?' in self._target else '?'}cursor={cursor}" if cursor else ""
        self._title = f"GET {self._target} · {_iso(self._running.clock.now_ms())}{' · resumed' if cursor else ''}"
        self._talk = talk = Conversation()
        talk.arriving.put_nowait({"type": "http.request", "body": b"", "more_body": False})

        async def send(message: Any) -> None:
            talk.sent.put_nowait(message)

        scope = scope_of(self._target + more, "GET", self._headers)
        self._task = asyncio.ensure_future(self._running.app(scope, talk.arriving.get, send))

    async def close(self) -> Sequence[Answer]:
        """Leave it, if it has not ended; what came since it was opened."""
        if self._task is None:
            return ()
        self._talk.leave()
        await asyncio.wait([self._task])
        self._task = None
        sent = [self._talk.sent.get_nowait() for _ in range(self._talk.sent.qsize())]
        reply = joined(sent)
        cursors = re.findall(rb'"cursor":"([^"]+)"', reply.body)
        self.cursor = cursors[-1].decode() if cursors else self.cursor
        return [Answer(self._title, shown(reply))]


def _iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
