"""Builds the service: opens every package in order and assembles the application."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from msgspec import Raw, Struct

from service.access.contract_wallets import open_contract_wallets
from service.access.factory import Access, open_access
from service.access.meter import Meter, open_meter
from service.access.secrets import open_secrets
from service.access.sign_in import sign_in_chain
from service.access.usage_ledger import void_paid
from service.ask.data_services import AskDependencies
from service.ask.llm_writer import open_author
from service.ask.questions import open_questions
from service.ask.references import Model
from service.clock import Clock
from service.http.app import App
from service.http.build import Public, build_app
from service.http.connections import ConnectionLimits, most_connections
from service.http.documents import build as build_documents
from service.http.health import Health
from service.http.metrics import Metrics
from service.notify.factory import open_alert_rules
from service.notify.service import AlertRuleService
from service.pages.site import open_site
from service.payments.factory import Payments, open_payments
from service.payments.receipts import ReceiptService, ReceiptSigner
from service.routes import manifest
from service.routes.table import RouteServices, bind
from service.scheduler import Leadership, already_set
from service.settings import Settings
from service.storage.documents import DocumentStore
from service.storage.full_disk import full_disk_named, state_of
from service.storage.port import Database
from service.storage.store import open_store
from service.streams.broker import StreamBroker
from service.wire.cursor import Cursors
from service.wire.envelope import Answer, encode
from service.wire.offers import OFFERS
from service.wiring.data import DataServices, Dependencies, open_data
from service.wiring.examples import lines
from service.wiring.leader import elect_leader
from service.wiring.metrics import read_metrics, read_quarantine_metrics
from service.wiring.preload import Preload
from service.wiring.resource_limits import raise_open_files_limit
from service.wiring.upstreams import open_upstreams


class Service(Struct, frozen=True):
    """A running service: application, health, metrics, streams and connection limits.

    The caller sets `ready` once `health` is ready. Without a preload it is set from the start.
    """

    app: App
    health: Health
    metrics: Metrics
    streams: StreamBroker
    connections: ConnectionLimits
    ready: asyncio.Event


@asynccontextmanager
async def build(settings: Settings, clock: Clock, preload: Preload | None = None) -> AsyncIterator[Service]:
    """Open every package; close them in reverse order when the block ends.

    Args:
        settings: With the port as it was bound.
        clock: The clock of all packages.
        preload: Prepares the recording's history, if set.

    Yields:
        The service, before its market is warm: `health` says when it is.

    Raises:
        StorageError: If the database cannot be used.
        SecretsError: If the secrets cannot be used.
        FixtureError: If the recording cannot be used.
        SettingsError: If the lists of feeds or wallets cannot be used.
        ServiceError: If the store does not answer.
        ExceptionGroup: If a loop of a package fails while the service runs.
    """
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_store(settings, clock))
        with full_disk_named(settings.data_dir, lambda: database.failing):
            service = await _open(stack, settings, clock, database, preload)
        yield service


async def _open(
    stack: AsyncExitStack, settings: Settings, clock: Clock, database: Database, preload: Preload | None
) -> Service:
    """Open every package on an open store."""
    enter = stack.enter_async_context
    leadership = await enter(elect_leader(database))
    secrets = open_secrets(settings.data_dir)
    contracts = await enter(open_contract_wallets(settings.rpc_url, sign_in_chain(settings)))
    access = await open_access(settings, secrets, database, clock, contracts)
    meter = await enter(open_meter(database, clock))
    stack.callback(access.authenticator.record_use, least_ms=1)  # with the meter's last write, which is waited for
    upstreams = await enter(open_upstreams(settings, clock, preload=preload))
    document_store, cursors = DocumentStore(database), Cursors(secrets.cursor_key)
    begun = asyncio.Event()
    lead = Leadership(leadership.held, begun, already_set() if preload is None else asyncio.Event())
    dependencies = Dependencies(settings, clock, database, document_store, cursors, upstreams, lead)
    data = await enter(open_data(dependencies))
    payments = await enter(
        open_payments(settings, database, clock, meter.record_paid, meter.run_id, lead.is_leader, void=void_paid)
    )
    loops = (
        access.authenticator.watch,
        access.stream_expiry.watch,
        meter.watch,
        meter.streams.watch,
        payments.watch,
        partial(leadership.watch, clock),
        partial(database.watch, clock),
    )
    await enter(_running(loops))
    receipts = ReceiptService(database, ReceiptSigner(secrets.receipt_key), cursors)
    author = await enter(open_author(settings, database, clock))
    alerts = open_alert_rules(settings, database, secrets.alert_key, data.market, data.verdict, clock, lead)
    services = _collect_services(dependencies, data, access, meter, receipts, author, await enter(alerts))
    health = data.health(settings.source, lambda: state_of(database.failing, settings.data_dir), payments.readiness)
    app = _assemble(settings, clock, access, meter, payments, services, health)
    most = most_connections(raise_open_files_limit())
    limits = ConnectionLimits(most, settings.connections_per_address, settings.trusted_proxies, clock)
    coins, fetcher, hub = data.market.coins, data.fetcher, data.watch.hub
    held_back = (data.market.quarantine, data.rwa.quarantine)
    read = partial(read_metrics, app, limits, database, coins, upstreams.sessions, fetcher, hub, lead.is_leader)
    metrics = Metrics(lambda: [*read(), read_quarantine_metrics(held_back)])
    begun.set()
    return Service(app, health, metrics, hub, limits, lead.ready)


def _collect_services(
    dependencies: Dependencies,
    data: DataServices,
    access: Access,
    meter: Meter,
    receipts: ReceiptService,
    author: Model | None,
    alerts: AlertRuleService,
) -> RouteServices:
    """Collect the services that routes call, and the question engine."""
    clock = dependencies.clock
    manifest_answer = Answer(
        Raw(encode(manifest.write(dependencies.settings, receipts.signer.address))), clock.now_ms()
    )
    market, rwa, sentiment, verdict, walkforward = data.market, data.rwa, data.sentiment, data.verdict, data.walkforward
    table, heard, watched = data.table, data.transcripts, data.wallets
    ask_services = AskDependencies(
        access.accounts,
        meter,
        market,
        rwa,
        sentiment,
        verdict,
        table,
        walkforward,
        heard,
        watched,
        manifest_answer,
        clock,
    )
    return RouteServices(
        access.accounts,
        market,
        rwa,
        sentiment,
        data.sentiment_views,
        data.narratives,
        verdict,
        table,
        data.lookup,
        walkforward,
        receipts,
        heard,
        watched,
        data.watch.hub,
        alerts,
        open_questions(ask_services, author),
    )


def _assemble(
    settings: Settings,
    clock: Clock,
    access: Access,
    meter: Meter,
    payments: Payments,
    services: RouteServices,
    health: Health,
) -> App:
    endpoints = bind(settings, clock.now_ms(), services)
    documents = build_documents(base_url(settings), payments.challenges, settings.settlement, settings.anonymous)
    openapi = documents["/openapi.json"].body
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
            else open_site(settings.source, clock, endpoints, services, openapi, lines()),
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
    """Run loops while the block runs; a loop that fails ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop()) for loop in loops]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
