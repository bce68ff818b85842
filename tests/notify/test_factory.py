"""Rules and messages with their loops: a price that crosses is a request at the receiver."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from service.access.caller import Caller
from service.notify.factory import open_alert_rules
from service.scheduler import Leadership
from service.settings import Settings
from service.storage.database import Database
from service.wire.alerts import NewAlert
from tests.fakes.clock import FakeClock
from tests.notify.test_evaluation import Verdicts
from tests.upstream.conftest import listening
from tests.watch.streaming import Process

USER = Caller(1, "api_key", 1)


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[str, list[str]]]:
    heard: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        heard.append(request.headers["webhook-id"])
        return web.Response()

    app = web.Application()
    app.router.add_post("/hook", answer)
    async with listening(app) as url:
        yield f"{url}/hook", heard


def settings(path: Path, **chosen: str) -> Settings:
    chosen = {"VERDICT_DATA_DIR": os.fspath(path), "VERDICT_ALERT_TARGETS": "any", **chosen}
    return Settings.from_environ(chosen)


async def led(database: Database, clock: FakeClock) -> Process:
    process = Process(database, clock)
    await process.series.claim(process.origin)
    await process.quote({"BTC": 99.0})
    process.market.series_loaded.set()
    return process


@pytest.mark.promise("notify.delivery")
async def test_a_crossing_arrives_within_seconds_and_only_the_leader_works(
    tmp_path: Path, database: Database, clock: FakeClock, receiver: tuple[str, list[str]]
) -> None:
    url, heard = receiver
    process, leads = await led(database, clock), [True]
    verdict: Any = Verdicts(clock)
    lead = Leadership(lambda: leads[0])
    async with open_alert_rules(settings(tmp_path), database, b"k", process.market, verdict, clock, lead) as alerts:
        await alerts.create(USER, NewAlert("btc > 100", url))

        async def becomes(true: Callable[[], Awaitable[bool]]) -> None:
            for _ in range(2_000):
                await clock.advance(1)
                if await true():
                    return
            raise AssertionError

        async def is_armed() -> bool:
            await process.quote({"BTC": 99.0})
            return (await alerts.rules(USER)).alerts[0].state == "armed"

        async def is_delivered() -> bool:
            await process.quote({"BTC": 101.0})
            return any(each.status == "delivered" for each in (await alerts.deliveries(USER, 9)).deliveries)

        await becomes(is_armed)
        await becomes(is_delivered)
        assert len(heard) == 1
        leads[0] = False
        await alerts.test(USER, 1)
        for _ in range(20):
            await clock.advance(1)
        assert len(heard) == 1
        statuses = [each.status for each in (await alerts.deliveries(USER, 9)).deliveries]
        assert sorted(statuses) == ["delivered", "pending"]  # made at one instant, so in any order


async def test_mail_is_sent_where_the_operator_has_a_server(
    tmp_path: Path, database: Database, clock: FakeClock
) -> None:
    process = await led(database, clock)
    verdict: Any = Verdicts(clock)
    chosen = settings(
        tmp_path,
        VERDICT_SMTP_URL="smtps://mail.example.org",
        VERDICT_SMTP_FROM="alerts@example.org",
        VERDICT_ALERT_MAIL_TO="me@example.org",
    )
    lead = Leadership(lambda: False)
    async with open_alert_rules(chosen, database, b"k", process.market, verdict, clock, lead) as alerts:
        made = await alerts.create(USER, NewAlert("regime", "mailto:me@example.org"))
    assert made.to == "mailto:me@example.org"
