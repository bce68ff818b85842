"""Alert rules over HTTP: each caller has its own."""

from typing import Any

import msgspec
import pytest

from service.errors import ServiceError
from service.notify.mail import MailSettings
from service.notify.service import AlertRuleService
from service.notify.store import HOURLY_MESSAGES, AttemptResult, RuleStore
from service.wire.access import Ended
from service.wire.alerts import (
    AlertDeliveries,
    AlertDelivery,
    AlertList,
    AlertRow,
    CreatedAlert,
    DeliveriesQuery,
    NewAlert,
    OfAlert,
    QueuedTest,
)
from tests.routes.conftest import Table

HOOK = NewAlert("pepe > 0.5", "https://example.org/hook")
NOW = "2025-07-25T12:00:00.000Z"


async def refused(table: Table, offer: str, caller: Any, **call: object) -> tuple[str, object]:
    with pytest.raises(ServiceError) as caught:
        await table.call(offer, caller, **call)
    return caught.value.code, (caught.value.details or {}).get("parameter")


@pytest.mark.promise("notify.routes")
async def test_a_rule_is_created_listed_and_deleted_by_its_owner_alone(table: Table) -> None:
    owner, other = await table.sign_in(1), await table.sign_in(2)
    made = await table.data(CreatedAlert, "alerts.create", owner, body=HOOK)
    assert (made.id, made.rule, made.to, made.created_at) == (1, "PEPE > 0.5", "https://example.org/…", NOW)
    assert str(made.secret).startswith("whsec_")
    again = await table.data(CreatedAlert, "alerts.create", owner, body=HOOK)
    theirs = await table.data(CreatedAlert, "alerts.create", other, body=HOOK)
    assert again.secret == made.secret != theirs.secret
    listed = await table.data(AlertList, "alerts.list", owner)
    assert listed.alerts == [AlertRow(number, made.rule, made.to, NOW, None) for number in (1, 2)]
    assert await refused(table, "alerts.delete", other, parameters=OfAlert(1)) == ("NOT_FOUND", None)
    assert await table.data(Ended, "alerts.delete", owner, OfAlert(1)) == Ended()
    assert await refused(table, "alerts.delete", owner, parameters=OfAlert(1)) == ("NOT_FOUND", None)


async def test_a_target_is_stored_with_scheme_and_host_in_lower_case(table: Table) -> None:
    owner = await table.sign_in()
    made = [
        await table.data(CreatedAlert, "alerts.create", owner, body=NewAlert("regime", to))
        for to in ("https://example.org/Hook", "HTTPS://Example.ORG/Hook", "https://example.org/hook")
    ]
    assert {each.to for each in made} == {"https://example.org/…"}
    assert made[0].secret == made[1].secret != made[2].secret


async def test_a_target_that_is_not_a_webhook_has_no_secret(table: Table) -> None:
    made = await table.data(
        CreatedAlert, "alerts.create", await table.sign_in(), body=NewAlert("regime", "ntfy://ntfy.sh/x")
    )
    assert (made.to, made.secret) == ("ntfy://ntfy.sh/…", None)


@pytest.mark.promise("notify.routes")
@pytest.mark.parametrize(
    ("rule", "to", "code", "parameter"),
    [
        ("PEPE >> 1", "https://example.org/", "BAD_REQUEST", "rule"),
        ("NOSUCH > 1", "https://example.org/", "UNKNOWN_SYMBOL", None),
        ("regime", "example.org", "BAD_REQUEST", "to"),
        ("regime", "https://127.0.0.1/", "BAD_REQUEST", "to"),
        ("regime", "mailto:me@example.org", "BAD_REQUEST", "to"),
    ],
)
async def test_what_cannot_be_used_is_refused_by_name(
    table: Table, rule: str, to: str, code: str, parameter: str | None
) -> None:
    caller = await table.sign_in()
    assert await refused(table, "alerts.create", caller, body=NewAlert(rule, to)) == (code, parameter)
    assert (await table.data(AlertList, "alerts.list", caller)).alerts == []


async def test_mail_is_accepted_for_the_addresses_that_the_operator_allows(table: Table) -> None:
    mail = MailSettings("smtps://mail.example.org", "alerts@example.org", ("@example.org",))
    service = AlertRuleService(
        table.clock, RuleStore(table.database), key=b"k", mail=mail, find=str.upper, source="live", private=False
    )
    caller = await table.sign_in()
    made = await service.create(caller, NewAlert("regime", "mailto:me@example.org"))
    assert (made.to, made.secret) == ("mailto:me@example.org", None)
    with pytest.raises(ServiceError, match="does not allow e-mail"):
        await service.create(caller, NewAlert("regime", "mailto:me@example.com"))


@pytest.mark.promise("notify.routes")
async def test_a_test_message_is_queued_and_its_delivery_is_listed(table: Table) -> None:
    owner, other = await table.sign_in(1), await table.sign_in(2)
    await table.data(CreatedAlert, "alerts.create", owner, body=HOOK)
    assert await refused(table, "alerts.test", other, parameters=OfAlert(1)) == ("NOT_FOUND", None)
    queued = [(await table.data(QueuedTest, "alerts.test", owner, OfAlert(1))).id for _ in range(3)]
    store = RuleStore(table.database)
    now_ms = table.clock.now_ms()
    results = [AttemptResult(queued[0], 1, None, None), AttemptResult(queued[1], 9, None, "No answer within 10 s.")]
    await store.settle([*results, AttemptResult(queued[2], 2, now_ms + 5_000, "The receiver answered 500.")], now_ms)
    listed = {
        each.id: each
        for each in (await table.data(AlertDeliveries, "alerts.deliveries", owner, DeliveriesQuery())).deliveries
    }
    text = "Test message of the alert `PEPE > 0.5`."
    later = "2025-07-25T12:00:05.000Z"
    assert [msgspec.structs.astuple(listed[each])[1:] for each in queued] == [
        (1, text, "delivered", 1, NOW, None, NOW, None),
        (1, text, "failed", 9, NOW, None, NOW, "No answer within 10 s."),
        (1, text, "pending", 2, NOW, later, None, "The receiver answered 500."),
    ]
    assert isinstance(listed[queued[0]], AlertDelivery)
    newest = await table.data(AlertDeliveries, "alerts.deliveries", owner, DeliveriesQuery(limit=1))
    assert len(newest.deliveries) == 1
    assert (await table.data(AlertDeliveries, "alerts.deliveries", other, DeliveriesQuery())).deliveries == []


@pytest.mark.promise("notify.limits")
async def test_test_messages_count_to_the_hourly_limit(table: Table) -> None:
    owner = await table.sign_in()
    await table.data(CreatedAlert, "alerts.create", owner, body=HOOK)
    for _ in range(HOURLY_MESSAGES):
        await table.call("alerts.test", owner, OfAlert(1))
    with pytest.raises(ServiceError) as caught:
        await table.call("alerts.test", owner, OfAlert(1))
    assert (caught.value.code, caught.value.headers) == ("RATE_LIMITED", {"Retry-After": "3600"})
