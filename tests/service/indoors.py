"""The whole service in this process: a clock moved by hand, upstreams that fail on demand, everything else as it is."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple
from unittest.mock import patch

from aiohttp import web

from service.access.admin import AccessAdmin
from service.access.factory import open_admin
from service.access.secrets import open_secrets
from service.clock import DAY_MS, iso
from service.settings import Settings
from service.storage.store import open_store
from service.upstream.replay import recording
from service.upstream.replay import server as replay_room
from service.upstream.replay.server import Replay, replay_server
from service.upstream.session import UpstreamSession, open_session
from service.walkforward import factory as walkforward
from service.walkforward.records import PackedRun
from service.walkforward.worker import NothingToWalk, WalkforwardJob
from service.wire.access import Tier
from service.wiring import build as wiring
from service.wiring import upstreams as venues
from tests.fakes.asgi import Reply, ask
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.handful import cut
from tests.fakes.inline import inline
from tests.fakes.serving import live_at
from tests.upstream.conftest import FIXTURES
from tests.upstream.faults import Faults

RISK = "/api/cli/coin/risk/BTC"
SIGNAL = "/api/cli/signal/BTC"
EVERYTHING = (
    RISK,
    "/api/cli/coin/historical/BTC?count=24&unit=h",
    "/api/cli/coin/historical/BTC?count=30&unit=d",
    "/api/cli/category/info/Meme",
    "/api/cli/category/sentiment/Meme",
    "/api/cli/regime?action=active",
    "/api/cli/regime?action=signals",
    "/api/cli/regime?action=confidence",
    "/api/cli/regime?action=history&symbol=BTC",
    "/api/cli/rwa/symbol/AAPL",
    "/api/cli/rwa/assets",
    "/api/cli/market/health?context=1",
    "/api/cli/market/crossing",
    "/api/cli/funding/alerts",
    SIGNAL,
)
"""Every data route, of things that the handful of coins has."""

LIVE_START_MS = START_MS - 3 * DAY_MS
"""Three days before the recording's last one: as many midnights can pass."""

_ROWS_OF_LIVE_DAYS = 7 * 24
"""Hours that are asked for again and again while these days pass: not unpacked each time."""

PATIENCE_S = 90.0
_SHOWN = len("verdict_sk_") + 8
"""Characters of a key that its list shows."""

UNBOUNDED = 1_000_000_000

_DEADLINE_S = 3_600.0
"""Real seconds that an upstream has for an answer: more than any test takes, however busy the machine is."""

Answer = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
"""A fault, or one that lets some requests pass."""


Walk = Callable[[WalkforwardJob, Callable[[int, int], None]], Awaitable[PackedRun | NothingToWalk]]
"""Runs a walk-forward."""


async def stay(_job: WalkforwardJob, _heard: Callable[[int, int], None]) -> NothingToWalk:
    """Walk nothing: a run is seconds of arithmetic in a process of its own, which few tests are about."""
    return NothingToWalk("nobody walks in this test")


class Doors(Faults):
    """Stands before every upstream. `next` shuts all of them; `shut` single ones.

    Names are those of the sessions; `feed` is Hyperliquid's socket, `xyz` what is asked of its builder dex, and so are
    the types of its requests (`metaAndAssetCtxs`).

    Attributes:
        calls: What came, by each of its names.
        during: Called with every request's names as it comes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self._shut: dict[str, Answer] = {}

    def shut(self, *names: str, fault: Answer) -> None:
        """Let what goes by one of these names meet a fault."""
        self._shut |= dict.fromkeys(names, fault)

    def open(self) -> None:
        """Let everything pass again."""
        self.next = None
        self._shut.clear()

    async def __call__(self, request: web.Request) -> web.StreamResponse | None:
        names = names_of(request.path, await request.read())
        self.calls.update(names)
        chosen = next((self._shut[name] for name in names if name in self._shut), None)
        if chosen is None:
            return await super().__call__(request)
        self.requests.append(await request.read())
        return await chosen(request)


def names_of(path: str, body: bytes) -> list[str]:
    """What a request goes by, the most particular name first."""
    first = path.split("/")[1]
    if first == "ws":
        return ["feed"]
    if first != "info":
        return [first]
    asked = json.loads(body)
    coin = str(asked.get("req", {}).get("coin", ""))
    of_xyz = asked.get("dex") == "xyz" or coin.startswith("xyz:")
    return [*(["xyz"] if of_xyz else []), asked["type"], "hyperliquid"]


class Indoors:
    """A running service.

    Attributes:
        clock: All of its time.
        faults: Stands before the upstreams: `faults.next = hang`; counts their requests.
        sessions: Its sessions to them, by name.
        replay: The upstreams themselves.
    """

    def __init__(
        self,
        service: wiring.Service,
        settings: Settings,
        clock: FakeClock,
        faults: Faults,
        sessions: Mapping[str, UpstreamSession],
        replay: Replay | None,
        limits: set[asyncio.Timeout] | None,
    ) -> None:
        self.service = service
        self.clock = clock
        self.faults = faults
        self.sessions = sessions
        self._settings = settings
        self._replay = replay
        self._limits = limits

    @property
    def data_dir(self) -> Path:
        return self._settings.data_dir

    @property
    def doors(self) -> Doors:
        assert isinstance(self.faults, Doors), "there is one door before all of them"
        return self.faults

    @property
    def replay(self) -> Replay:
        assert self._replay is not None, "the upstreams are somewhere else"
        return self._replay

    async def ask(self, target: str = RISK, method: str = "GET", *, key: str | None = None) -> Reply:
        return await ask(self.service.app, target, method, key=key)

    async def readiness(self) -> Any:
        return (await self.ask("/readyz")).json

    async def make_key(self, tier: Tier = "free") -> str:
        """Make a key as the operator does: on the data folder, beside the running service."""
        async with self._admin() as admin:
            return (await admin.create_key("test", tier=tier)).key

    async def revoke_key(self, key: str) -> None:
        """End a key as the operator does."""
        async with self._admin() as admin:
            await admin.revoke_key(key[:_SHOWN])

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AccessAdmin]:
        async with open_store(self._settings, self.clock) as database:
            yield open_admin(self._settings, open_secrets(self._settings.data_dir), database, self.clock)

    async def be_ready(self) -> None:
        """Let as much time pass as it takes until the service says that it is ready."""
        await self.pass_until(lambda: self.service.health.ready, step_s=0.5)

    async def be_complete(self) -> None:
        """Let as much time pass as it takes until nothing is missing any more."""
        while not is_complete(await self.readiness()):
            await self.pass_time(5, 5)

    async def pass_until(self, condition: Callable[[], bool], step_s: float = 1.0) -> None:
        """Let time pass, in steps, until something is so."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self.clock.advance(step_s)
                await self.settle()

    async def pass_time(self, seconds: float, step_s: float = 30.0) -> None:
        """Let time pass in steps; the upstreams are asked, and have answered or failed, in each."""
        end_s = self.clock.monotonic() + seconds
        while (left_s := end_s - self.clock.monotonic()) > 0:
            await self.clock.advance(min(step_s, left_s))
            await self.settle()

    async def lose(self, *names: str, fault: Answer) -> None:
        """Let upstreams fail from now on, an open feed included."""
        self.doors.shut(*names, fault=fault)
        if "feed" in names:
            await self.replay.hang_up()

    async def settle(self) -> None:
        """Let what is under way over sockets and threads come to its end; what waits for time, or for ever, does not.

        It ends after 20 turns of the loop in which nothing was under way and nothing began. A request to an upstream
        may hang, so while there are some, 100 turns without a change are enough.
        """
        calm, before = 0, (0, 0, 0)
        while calm < (20 if before[0] == 0 else 100) or self._lapse():
            await asyncio.sleep(0.001)
            now = (*self._under_way(), inline.begun)
            calm, before = calm + 1 if now == before else 0, now

    def _lapse(self) -> bool:
        """End the requests that hang, where they are given up; whether there were any."""
        lapsed = bool(self._limits)
        while self._limits:
            self._limits.pop().reschedule(asyncio.get_running_loop().time())
        return lapsed

    def _under_way(self) -> tuple[int, int]:
        sessions = self.sessions.values()
        # Who waits for its share of a budget waits for time.
        flying = sum(len(session._flights) for session in sessions if not session._weight._turn.locked())
        return flying, sum(session.calls for session in sessions)


@asynccontextmanager
async def indoors(
    data_dir: Path,
    clock: FakeClock,
    faults: Faults | None = None,
    *,
    gives_up: bool = False,
    weights: Mapping[str, int] = venues.PUBLISHED,
    walk: Walk = stay,
    **settings: Any,
) -> AsyncIterator[Indoors]:
    """Build the service around a replay whose interceptor is ours from the first request on.

    Args:
        data_dir: Where it keeps what it knows.
        clock: All of its time.
        faults: Stands before the upstreams.
        gives_up: Whether a request that hangs fails, as if its time were over, as soon as nothing else is under way:
            deadlines are kept by the loop's timer, which is not moved by hand. Else it hangs until the end.
        weights: What live upstreams allow.
        walk: Runs its walk-forwards.
        settings: Of the service; `source="live"` alone asks a replay as if it were the real upstreams. Recorded time is
            the clock's then, so that days pass; from the recording's end on it stands still.
    """
    before = faults or Doors()
    chosen: dict[str, Any] = {"source": "fixtures", "rate_per_minute": UNBOUNDED, "rate_burst": UNBOUNDED, **settings}
    opened: dict[str, UpstreamSession] = {}
    limits: set[asyncio.Timeout] = set()
    replays: list[Replay] = []

    @asynccontextmanager
    async def intercepted(*arguments: Any) -> AsyncIterator[Replay]:
        async with replay_server(*arguments) as replay:
            replay.interceptor = before
            replays.append(replay)
            yield replay

    @asynccontextmanager
    async def noted(name: str, *arguments: Any, **named: Any) -> AsyncIterator[UpstreamSession]:
        async with open_session(name, *arguments, deadline_s=_DEADLINE_S, **named) as session:
            opened[name] = session
            _limit_by_hand(session, limits)
            yield session

    async with AsyncExitStack() as stack:
        if chosen["source"] == "live" and "hyperliquid_url" not in chosen:
            played = intercepted(chosen.get("fixtures_dir", FIXTURES), clock, "frozen")
            with patch.dict(recording._ROWS_KEPT_UNPACKED, {recording.HOURLY: _ROWS_OF_LIVE_DAYS}):
                chosen |= live_at((await stack.enter_async_context(played)).url)
        own = Settings(data_dir=data_dir, **chosen)
        # Undone as soon as it is built: another may be built beside it, and outlive it.
        with (
            patch.object(replay_room, "replay_server", intercepted),
            patch.object(venues, "open_session", noted),
            patch.object(venues, "PUBLISHED", weights),
            patch.object(walkforward, "run_in_process", walk),
        ):
            service = await stack.enter_async_context(wiring.build(own, clock))
        replay = replays[0] if replays else None
        yield Indoors(service, own, clock, before, opened, replay, limits if gives_up else None)


def _limit_by_hand(session: UpstreamSession, limits: set[asyncio.Timeout]) -> None:
    """Note a time limit of each request under way, for a test to set."""
    send = session._try_twice

    async def limited(*arguments: Any) -> Any:
        async with asyncio.timeout(None) as limit:
            limits.add(limit)
            try:
                return await send(*arguments)
            finally:
                limits.discard(limit)

    session._try_twice = limited  # type: ignore[assignment, method-assign]


class Kept(NamedTuple):
    """What a service left behind that knew everything of a handful of coins, live: to start from where it ended."""

    data_dir: Path
    fixtures_dir: Path
    at_ms: int
    key: str

    @asynccontextmanager
    async def reopened(self, data_dir: Path, **named: Any) -> AsyncIterator[Indoors]:
        """Go on in a copy."""
        copytree(self.data_dir, data_dir)
        async with self._opened(data_dir, FakeClock(self.at_ms), **named) as house:
            yield house

    @asynccontextmanager
    async def anew(self, data_dir: Path, **named: Any) -> AsyncIterator[Indoors]:
        """Begin with nothing, at the same instant."""
        async with self._opened(data_dir, FakeClock(self.at_ms), **named) as house:
            yield house

    @asynccontextmanager
    async def beside(self, other: Indoors, **named: Any) -> AsyncIterator[Indoors]:
        """Open one more service on the data folder of another, on its clock."""
        async with self._opened(other.data_dir, other.clock, **named) as house:
            yield house

    def _opened(self, data_dir: Path, clock: FakeClock, **named: Any) -> AbstractAsyncContextManager[Indoors]:
        return indoors(data_dir, clock, **{**_AMPLE, "fixtures_dir": self.fixtures_dir, **named})


_AMPLE: Mapping[str, Any] = {"source": "live", "weights": dict.fromkeys(venues.PUBLISHED, UNBOUNDED)}


async def keep(directory: Path) -> Kept:
    """Run a service until it knows everything."""
    data_dir, fixtures_dir = directory / "data", cut(directory / "fixtures")
    clock = FakeClock(LIVE_START_MS)
    async with indoors(data_dir, clock, fixtures_dir=fixtures_dir, **_AMPLE) as house:
        key = await house.make_key("pro")
        await house.be_complete()
        await house.pass_time(90, 5)
        await _have_prices_of_now(house, key)
    return Kept(data_dir, fixtures_dir, clock.at_ms, key)


async def _have_prices_of_now(house: Indoors, key: str) -> None:
    """Let time pass until the last prices are of that very instant: who starts from here waits for no newer ones."""
    async with asyncio.timeout(PATIENCE_S):
        while (await house.ask(RISK, key=key)).json["meta"]["as_of"] != iso(house.clock.at_ms):
            await house.clock.advance(1)
            await house.settle()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for is of many kinds
            await asyncio.sleep(0.002)


def is_complete(said: Any) -> bool:
    """Whether nothing is missing any more, by what `/readyz` says."""
    market, rwa, categories = said["market"], said["rwa"], said["categories"]
    if "hourly" not in market:  # on a busy machine the lead on a server is lost for a moment
        return False
    series = (market["history"], market["hourly"], market["funding"], rwa["history"])
    known = all(0 < each["total"] == each["known"] for each in series)
    return known and said["sentiment"]["coins"] > 0 and 0 < categories["categories"] == categories["read"]
