"""Builds the service: every room in the order in which they need each other."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from msgspec import Raw, Struct

from service.access.ledger import void_paid
from service.access.meter import Meter, open_meter
from service.access.room import Access, open_access
from service.access.secrets import open_secrets
from service.ask.author import open_author
from service.ask.model import Model
from service.ask.questions import open_questions
from service.ask.tools import Rooms
from service.clock import Clock
from service.http.app import App
from service.http.build import Public, build_app
from service.http.connections import ConnectionLimits, most_connections
from service.http.documents import build as build_documents
from service.http.health import Health
from service.http.metrics import Metrics
from service.market.schedule import Lead, set_event
from service.market.shelf import Shelf
from service.pages.site import open_site
from service.payments.receipts import ReceiptDesk, ReceiptSigner
from service.payments.room import Payments, open_payments
from service.routes import manifest
from service.routes.table import Desks, bind
from service.settings import Settings
from service.storage.full_disk import state_of
from service.storage.store import open_store
from service.streams.hub import Hub
from service.wire.cursor import Cursors
from service.wire.envelope import Answer, encode
from service.wire.offers import OFFERS
from service.wiring.commands import lines
from service.wiring.data import Data, Ground, open_data
from service.wiring.descriptors import raise_limit
from service.wiring.leader import stand_for_lead
from service.wiring.preload import Preload
from service.wiring.readings import read_all, read_quarantines
from service.wiring.venues import open_upstreams


class Service(Struct, frozen=True):
    """A service that runs: application, probes, metrics, streams (which end when it stops), limits of connections.

    `ready` is to be set once `health` says that it is ready. Where no history is prepared it is set from the beginning.
    """

    app: App
    health: Health
    metrics: Metrics
    streams: Hub
    connections: ConnectionLimits
    ready: asyncio.Event


@asynccontextmanager
async def build(settings: Settings, clock: Clock, preload: Preload | None = None) -> AsyncIterator[Service]:
    """Open every room; close them in the reverse order on leaving.

    Args:
        settings: With the port as it was bound.
        clock: Time, for all rooms.
        preload: Prepares the recording's history, if anything does.

    Yields:
        The service, before its market is warm: `health` says when it is.

    Raises:
        StorageError: If the database cannot be used.
        SecretsError: If the secrets cannot be used.
        FixtureError: If the recording cannot be used.
        SettingsError: If the lists of feeds or wallets cannot be used.
        ServiceError: If the store does not answer.
        ExceptionGroup: If a room's loop fails while the service runs.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        database = await enter(open_store(settings, clock))
        leadership = await enter(stand_for_lead(database))
        secrets = open_secrets(settings.data_dir)
        access = await open_access(settings, secrets, database, clock)
        meter = await enter(open_meter(database, clock))
        stack.callback(access.doorkeeper.note_use, least_ms=1)  # with the meter's last write, which is waited for
        upstreams = await enter(open_upstreams(settings, clock, preload=preload))
        shelf, cursors = Shelf(database), Cursors(secrets.cursor_key)
        begun = asyncio.Event()
        lead = Lead(leadership.held, begun, set_event() if preload is None else asyncio.Event())
        ground = Ground(settings, clock, database, shelf, cursors, upstreams, lead)
        data = await enter(open_data(ground))
        payments = await enter(
            open_payments(settings, database, clock, meter.enter_paid, meter.run_id, lead.held, void=void_paid)
        )
        loops = (
            access.doorkeeper.watch,
            access.oversight.watch,
            meter.watch,
            meter.streams.watch,
            payments.watch,
            partial(leadership.watch, clock),
            partial(database.watch, clock),
        )
        await enter(_running(loops))
        receipts = ReceiptDesk(database, ReceiptSigner(secrets.receipt_key), cursors)
        author = await enter(open_author(settings, database, clock))
        desks = _lay_out(ground, data, access, meter, receipts, author)
        health = data.health(settings.source, lambda: state_of(database.failing, settings.data_dir), payments.readiness)
        app = _assemble(settings, clock, access, meter, payments, desks, health)
        limits = ConnectionLimits(
            most_connections(raise_limit()), settings.connections_per_address, settings.trusted_proxies, clock
        )
        coins, visitor, hub = data.market.coins, data.visitor, data.watch.hub
        held_back = (data.market.quarantine, data.rwa.quarantine)
        read = partial(read_all, app, limits, database, coins, upstreams.sessions, visitor, hub, lead.held)
        metrics = Metrics(lambda: [*read(), read_quarantines(held_back)])
        begun.set()
        yield Service(app, health, metrics, hub, limits, lead.ready)


def _lay_out(
    ground: Ground, data: Data, access: Access, meter: Meter, receipts: ReceiptDesk, author: Model | None
) -> Desks:
    """Everybody's front; those whom questions are put to among them."""
    clock = ground.clock
    told = Answer(Raw(encode(manifest.write(ground.settings, receipts.signer.address))), clock.now_ms())
    market, rwa, sentiment, verdict, walkforward = data.market, data.rwa, data.sentiment, data.verdict, data.walkforward
    table, heard, watched = data.table, data.transcripts, data.wallets
    rooms = Rooms(access.desk, meter, market, rwa, sentiment, verdict, table, walkforward, heard, watched, told, clock)
    return Desks(
        access.desk,
        market,
        rwa,
        sentiment,
        verdict,
        table,
        walkforward,
        receipts,
        heard,
        watched,
        data.watch.hub,
        open_questions(rooms, author),
    )


def _assemble(
    settings: Settings,
    clock: Clock,
    access: Access,
    meter: Meter,
    payments: Payments,
    desks: Desks,
    health: Health,
) -> App:
    endpoints, scorecards = bind(settings, clock.now_ms(), desks), desks.verdict.scorecards
    documents = build_documents(base_url(settings), payments.challenger, settings.settlement, settings.anonymous)
    openapi, source, market = documents["/openapi.json"].body, settings.source, desks.market
    return build_app(
        settings,
        clock,
        [(offer, endpoints[offer.id]) for offer in OFFERS],
        access=access,
        meter=meter,
        payments=payments,
        public=Public(
            documents,
            health,
            None
            if settings.pages == "off"
            else open_site(source, clock, endpoints, market, scorecards, openapi, lines()),
        ),
    )


def base_url(settings: Settings) -> str:
    """Scheme and host that callers use: the public URL, or where the service listens."""
    if settings.public_url:
        return settings.public_url
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.tls_cert else 'http'}://{host}:{settings.port}"


@asynccontextmanager
async def _running(loops: Iterable[Callable[[], Coroutine[object, object, None]]]) -> AsyncIterator[None]:
    """Run loops beside what is inside; one that fails ends it, and they end with it."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop()) for loop in loops]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
