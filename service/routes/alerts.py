"""Alert rules of the caller, and their messages."""

from collections.abc import Mapping
from functools import partial

from service.notify.service import AlertRuleService
from service.routes.call import Call, Endpoint
from service.wire.alerts import DeliveriesQuery, NewAlert, OfAlert
from service.wire.envelope import Answer
from service.wire.queries import NoParameters


async def create_alert(alerts: AlertRuleService, call: Call[NoParameters, NewAlert]) -> Answer:
    """POST /api/alerts.

    Raises:
        ServiceError: BAD_REQUEST naming `rule` or `to`, or for too many rules; UNKNOWN_SYMBOL with candidates.
    """
    return Answer(await alerts.create(call.known_caller(), call.body))


async def list_alerts(alerts: AlertRuleService, call: Call[NoParameters, None]) -> Answer:
    """GET /api/alerts."""
    return Answer(await alerts.rules(call.known_caller()))


async def delete_alert(alerts: AlertRuleService, call: Call[OfAlert, None]) -> Answer:
    """DELETE /api/alerts.

    Raises:
        ServiceError: NOT_FOUND if the caller has no such rule.
    """
    return Answer(await alerts.remove(call.known_caller(), call.parameters.id))


async def list_deliveries(alerts: AlertRuleService, call: Call[DeliveriesQuery, None]) -> Answer:
    """GET /api/alerts/deliveries."""
    return Answer(await alerts.deliveries(call.known_caller(), call.parameters.limit))


async def test_alert(alerts: AlertRuleService, call: Call[OfAlert, None]) -> Answer:
    """POST /api/alerts/test.

    Raises:
        ServiceError: NOT_FOUND if the caller has no such rule, RATE_LIMITED if it had too many messages in an hour.
    """
    return Answer(await alerts.test(call.known_caller(), call.parameters.id))


def bound(alerts: AlertRuleService) -> Mapping[str, Endpoint]:
    """Offer id → endpoint."""
    return {
        "alerts.create": partial(create_alert, alerts),
        "alerts.list": partial(list_alerts, alerts),
        "alerts.delete": partial(delete_alert, alerts),
        "alerts.deliveries": partial(list_deliveries, alerts),
        "alerts.test": partial(test_alert, alerts),
    }
