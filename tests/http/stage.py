"""The whole application over a real store, authenticator and meter; only the services behind the routes are fakes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

from msgspec import Meta, Struct

from service.access.admin import AccessAdmin
from service.access.factory import Access, open_access, open_admin
from service.access.meter import Meter, open_meter
from service.access.secrets import open_secrets
from service.access.usage_ledger import void_paid
from service.clock import SECOND_MS
from service.errors import ServiceError
from service.http.app import App
from service.http.browser import Site
from service.http.build import Public, build_app
from service.http.documents import TEXT, PublicDocument
from service.http.health import Health
from service.payments import factory
from service.payments.facilitators.port import Facilitator
from service.payments.receipts import ReceiptService, ReceiptSigner
from service.routes import account
from service.routes.call import Bound, Call, QuestionRoute, StreamRoute
from service.settings import Settings
from service.storage.database import Database, open_database
from service.wire.access import Tier
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.market import RiskContext
from service.wire.offer import DATA_CALL, DEAR_CALL, Offer
from service.wire.offers import OFFERS, QUESTION, WATCH
from service.wire.queries import OfSymbol
from service.wire.streams import STREAMS, WatchQuery
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import FakeClock
from tests.fakes.engine import Engine
from tests.fakes.following import Lines
from tests.payments.scripted import Scripted

RISK = "/api/cli/coin/risk/BTC"
SLOW = "/api/cli/slow/BTC"
STREAM = "/api/cli/stream/BTC"
PRICES = "/api/cli/watch/prices"
ASK = "/api/cli/ask"
TIER = "/api/cli/billing/tier"

OFFER = {offer.id: offer for offer in OFFERS}
WAITING = Offer(
    id="slow", path="/api/cli/slow/{symbol}", summary="waits", result=RiskContext, parameters=OfSymbol, price=DATA_CALL
)
STREAMING = Offer(
    id="stream",
    path="/api/cli/stream/{symbol}",
    summary="streams",
    result=RiskContext,
    parameters=OfSymbol,
    streaming=True,
)


class Question(Struct, forbid_unknown_fields=True):
    """The body of a priced route."""

    text: Annotated[str, Meta(examples=["?"])]


ASKING = Offer(id="ask", path=ASK, method="POST", summary="answers", result=RiskContext, body=Question, price=DEAR_CALL)

Read = Callable[[Call[Any, Any]], Coroutine[object, object, Answer]]


class Desk:
    """Answers every symbol at once, but for those that stand for something going wrong."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.calls = 0
        self.entered = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.followed: list[Lines] = []

    def ready(self, call: Call[Any, Any]) -> Answer:
        self.calls += 1
        symbol = call.parameters.symbol
        if symbol == "NOWHERE":
            raise ServiceError("UNKNOWN_SYMBOL", "no such symbol", details={"candidates": ["BTC"]})
        if symbol == "DOWN":
            raise ServiceError("UPSTREAM_5XX", "the venue does not answer", details={"upstreamStatus": None})
        if symbol == "BROKEN":
            raise ZeroDivisionError(f"secret of {symbol}")
        return Answer({"symbol": symbol}, self._clock.now_ms() - 3 * SECOND_MS, counted=symbol != "UNSURE")

    async def waiting(self, call: Call[Any, Any]) -> Answer:
        self.entered += 1
        await self.gate.wait()
        return self.ready(call)

    def asked(self, call: Call[Any, Question]) -> Answer:
        self.calls += 1
        return Answer({"text": call.body.text}, self._clock.now_ms())

    def known(self, query: WatchQuery) -> None:
        if query.stream not in STREAMS:
            raise ServiceError("UNKNOWN_STREAM", "no such stream", details={"candidates": ["prices"]})

    def join(self, call: Call[WatchQuery, None]) -> Lines:
        self.followed.append(Lines(call))
        return self.followed[-1]


def tier(call: Call[Any, Any]) -> Answer:
    caller = call.known_caller()
    return Answer({"tier": caller.tier, "kind": caller.kind, "userId": caller.user_id})


async def echo_body(call: Call[Any, Any]) -> Answer:
    return Answer({"name": call.body.name, "expiresAt": call.body.expires_at})


def public(call: Call[Any, Any]) -> Answer:
    return Answer({"caller": call.caller})


class Stage(NamedTuple):
    app: App
    desk: Desk
    clock: FakeClock
    db: Database
    meter: Meter
    access: Access
    admin: AccessAdmin
    facilitator: Scripted
    engine: Engine

    async def key(self, tier: Tier = "free") -> str:
        """A new user's key."""
        return (await self.admin.create_key("test", tier=tier)).key

    async def session(self) -> str:
        """A new user's session."""
        nonce = self.access.accounts.nonce().nonce
        return (await self.access.accounts.login(login(wallet(), nonce, self.clock.now_ms()), NETWORK)).token

    async def used(self) -> list[tuple[str, int]]:
        """Offers and the questions they cost so far."""
        sql = "SELECT offer_id, count(*) FROM usage_events WHERE state = 1 GROUP BY offer_id ORDER BY offer_id"
        return [(str(offer_id), int(count)) for offer_id, count in await self.db.read(sql)]


@asynccontextmanager
async def facilitated(facilitator: Facilitator) -> AsyncIterator[None]:
    """Let whatever opens the room of payments meanwhile have this facilitator."""
    with patch.object(factory, "LedgerFacilitator", lambda _: facilitator):
        yield


@asynccontextmanager
async def staged(folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    """Build the stack over a new store.

    Args:
        folder: Where the store is.
        settings: Those that differ from the defaults; as `site`, pages for browsers.
    """
    site: Site | None = settings.pop("site", None)
    clock = FakeClock()
    facilitator = Scripted()
    chosen = Settings(data_dir=folder, source="fixtures", public_url="https://api.example.org", **settings)
    async with (
        open_database(folder / "verdict.db", clock) as db,
        open_meter(db, clock) as meter,
        AsyncExitStack() as opened,
    ):
        async with facilitated(facilitator):  # not longer: stages that are closed in another order would leave it
            payments = await opened.enter_async_context(
                factory.open_payments(chosen, db, clock, meter.record_paid, meter.run_id, lambda: False, void=void_paid)
            )
        secrets = open_secrets(folder)
        access = await open_access(chosen, secrets, db, clock)
        desk = Desk(clock)
        engine = Engine()
        desk_of_receipts = ReceiptService(db, ReceiptSigner(secrets.receipt_key), Cursors(secrets.cursor_key))
        endpoints: dict[Offer, Bound] = {
            QUESTION: QuestionRoute(engine.ask),
            OFFER["coin.risk"]: desk.ready,
            WAITING: desk.waiting,
            STREAMING: desk.ready,
            ASKING: desk.asked,
            WATCH: StreamRoute(desk.known, desk.join),
            OFFER["billing.tier"]: tier,
            OFFER["manifest"]: public,
            OFFER["auth.login"]: partial(account.login, access.accounts),
            OFFER["keys.create"]: echo_body,
            OFFER["keys.list"]: tier,
            OFFER["receipts.get"]: partial(account.get_receipt, desk_of_receipts),
        }
        app = build_app(
            chosen,
            clock,
            endpoints.items(),
            access=access,
            meter=meter,
            payments=payments,
            public=Public({"/robots.txt": PublicDocument(TEXT, b"User-agent: *\n")}, Health({}), site),
        )
        admin = open_admin(chosen, secrets, db, clock)
        async with watched(access):
            yield Stage(app, desk, clock, db, meter, access, admin, facilitator, engine)


@asynccontextmanager
async def watched(access: Access) -> AsyncIterator[None]:
    """Let open streams be looked after."""
    watching = asyncio.create_task(access.stream_expiry.watch())
    try:
        yield
    finally:
        watching.cancel()
