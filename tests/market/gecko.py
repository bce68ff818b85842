"""CoinGecko replayed beside the venue it follows, and what this room makes of both, moved by hand."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache

import msgspec
from aiohttp import web

from service.clock import DAY_MS
from service.market.categories.documents import CapStore, GeckoDocuments, PastCaps, known_coins
from service.market.categories.refresh import CategoryRefresh
from service.market.categories.service import CategoryService
from service.market.models import CoinView
from service.market.plausibility.quarantine import Quarantine
from service.market.sources.coingecko import CoinGecko
from service.market.symbols import canonical
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.fixture_set import read_files
from service.upstream.replay.recording import Recording, load_recording
from service.upstream.replay.server import Replay
from service.upstream.session import UpstreamSession, open_session
from service.wire.envelope import Answer
from service.wire.market import CategoryInfo, Trend
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES, listening
from tests.upstream.faults import Faults

AMPLE = 10_000_000
KEYLESS = 5
TRENDS: tuple[Trend, ...] = ("UP", "HODL", "DOWN")


@cache
def recording() -> tuple[Recording, Mapping[str, bytes]]:
    return load_recording(FIXTURES), read_files(FIXTURES)


def view_of(replay: Replay) -> dict[str, CoinView]:
    """The venue's coins as they stand at the replay's now; trends go round, so that every state is there."""
    (at_ms, shift_ms), tape = replay.now(), replay._venue.tape
    view: dict[str, CoinView] = {}
    for place, asset in enumerate(asset for asset in tape.universe if not asset.is_delisted):
        context = tape.context(asset, at_ms)
        units = 1_000 if asset.name.startswith("k") else 1
        price, before = float(context.mark_px) / units, float(context.prev_day_px) / units
        close_ms = (at_ms + shift_ms) // DAY_MS * DAY_MS
        view[canonical(asset.name)] = coin(
            asset.name,
            price,
            at_ms + shift_ms,
            change_24h=round((price / before - 1) * 100, 4),
            volume_usd=float(context.day_ntl_vlm),
            trend_daily=TRENDS[place % 3],
            trend_daily_since_ms=close_ms - place % 7 * DAY_MS,
            through_ms=close_ms,
        )
    return view


def coin(venue_symbol: str, price: float | None, price_ms: int | None, **known: object) -> CoinView:
    unknown = dict.fromkeys(CoinView.__struct_fields__) | {"volume_usd": 0.0, "interval_hours": 1.0, "changes_from": {}}
    told = {"symbol": canonical(venue_symbol), "venue_symbol": venue_symbol, "venue": "hyperliquid"}
    return CoinView(**(unknown | told | {"price": price, "price_ms": price_ms} | known))  # type: ignore[arg-type]


class Gecko:
    """The parts.

    Attributes:
        origin: Which history the replay is said to tell.
        view: What the venue's coins are said to be.
        faults: Put in CoinGecko's place: `gecko.faults.next = hang`.
        paths: What was asked of CoinGecko, path and query, in order.
    """

    def __init__(self, replay: Replay, session: UpstreamSession, database: Database, clock: FakeClock) -> None:
        self.origin = "test"
        self.replay = replay
        self.session = session
        self.database = database
        self.clock = clock
        self.view: Mapping[str, CoinView] = view_of(replay)
        self.faults = Faults()
        self.paths: list[str] = []
        self.broken: dict[str, web.Response] = {}
        replay.interceptor = self._intercept
        self.source = CoinGecko(session, clock)
        self.caps = CapStore(database)
        self.restart()

    def restart(self) -> None:
        """Begin anew, as another process would, with what is stored."""
        self.document_store = DocumentStore(self.database)
        self.documents = GeckoDocuments.on(self.document_store)
        self.quarantine = Quarantine()
        self.refresh = CategoryRefresh(
            self.clock, self.documents, self.caps, self.source, lambda: self.origin, lambda: self.view, self.quarantine
        )
        self.desk = CategoryService(self.clock, self.documents, lambda: self.view, self.source.wait_s)
        self.past = PastCaps(self.caps, lambda: self.origin, self.identities)

    def look(self) -> None:
        """Let the venue show its coins as of now."""
        self.view = view_of(self.replay)

    def identities(self) -> dict[str, str]:
        return {symbol: row.id for symbol, row in known_coins(self.documents.coins.current).items()}

    def asked(self, part: str) -> list[str]:
        return [path for path in self.paths if part in path]

    def info(self, name: str) -> CategoryInfo:
        return said(self.desk.info(name))

    async def _intercept(self, request: web.Request) -> web.StreamResponse | None:
        self.paths.append(request.path_qs.removeprefix("/coingecko/api/v3"))
        for part, body in self.broken.items():
            if part in request.path_qs:
                return web.Response(status=body.status, body=body.body, headers=body.headers)
        return await self.faults(request)


def raw(answer: Answer) -> bytes:
    """The payload as it was encoded."""
    assert isinstance(answer.data, msgspec.Raw)
    return bytes(answer.data)


def said(answer: Answer) -> CategoryInfo:
    """The payload, read back as a client would."""
    return msgspec.json.decode(raw(answer), type=CategoryInfo)


def rows(*changes: Mapping[str, object]) -> bytes:
    """A page of coins: each `{id, symbol, current_price, market_cap}`, and what else."""
    plain = {"name": "Any", "market_cap": 1.0, "total_volume": None, "last_updated": None}
    return json.dumps([plain | dict(change) for change in changes]).encode()


@asynccontextmanager
async def open_gecko(
    clock: FakeClock, database: Database, weight_per_minute: int = AMPLE, deadline_s: float = 20
) -> AsyncIterator[Gecko]:
    replay = Replay(*recording(), clock, "shifted")
    async with listening(replay.application()) as url:
        replay.url = url
        async with open_session(
            "coingecko", replay.base("coingecko"), clock, weight_per_minute=weight_per_minute, deadline_s=deadline_s
        ) as session:
            yield Gecko(replay, session, database, clock)
