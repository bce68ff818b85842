"""Opens alert rules: the service that routes call, and the leader's two loops."""

import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

from service.clock import Clock
from service.market.factory import MarketData
from service.notify.delivery import DeliveryWorker
from service.notify.evaluation import RuleEvaluator
from service.notify.mail import MailSettings
from service.notify.service import AlertRuleService
from service.notify.store import RuleStore
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.settings import Settings
from service.storage.database import Database
from service.upstream.push import open_push_client
from service.verdict.service import VerdictService

EVALUATE_EVERY_S: Final = 5.0
DELIVER_EVERY_S: Final = 1.0


@asynccontextmanager
async def open_alert_rules(
    settings: Settings,
    database: Database,
    key: bytes,
    market: MarketData,
    verdict: VerdictService,
    clock: Clock,
    lead: Leadership,
) -> AsyncIterator[AlertRuleService]:
    """Open alert rules.

    Args:
        settings: Source of the data, the mail server, and whether private targets are allowed.
        database: Holds rules and messages.
        key: Signs requests to webhooks.
        market: Prices and events.
        verdict: Verdicts.
        clock: The time.
        lead: Whether this process evaluates and delivers.
    """
    private, store = settings.alert_targets == "any", RuleStore(database)
    mail = None
    if settings.smtp_url is not None and settings.smtp_from is not None:
        mail = MailSettings(settings.smtp_url.text, settings.smtp_from, settings.alert_mail_to)
    async with open_push_client(clock, private=private) as push:
        evaluator = RuleEvaluator(clock, store, market, verdict, settings.source)
        worker = DeliveryWorker(clock, store, push, key, mail, random.SystemRandom().random)
        tasks = (
            PeriodicTask("alert rules", evaluator.round, EVALUATE_EVERY_S, after=market.series_loaded),
            PeriodicTask("alert messages", worker.round, DELIVER_EVERY_S, wake=worker.wake),
        )
        async with aclosing(worker), running_tasks(tasks, lead, clock):
            yield AlertRuleService(
                clock,
                store,
                key=key,
                mail=mail,
                find=market.coins.find,
                source=settings.source,
                private=private,
            )
