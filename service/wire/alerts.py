"""Alert rules of a user, and the messages that they caused."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.wire.access import Instant

AlertId = Annotated[
    int, Meta(ge=1, le=999_999_999_999, description="The id of an alert rule, as GET /api/alerts lists it")
]
DeliveryStatus = Literal["pending", "delivered", "failed"]


class NewAlert(Struct, frozen=True, forbid_unknown_fields=True):
    """An alert rule, and where its messages go."""

    rule: Annotated[
        str,
        Meta(
            description="BTC > 120000, BTC < 90000, verdict BTC, funding BTC, regime, regime BTC or breadth",
            min_length=1,
            max_length=60,
            examples=["BTC > 120000"],
        ),
    ]
    to: Annotated[
        str,
        Meta(
            description="https://HOST/PATH, telegram://BOT_TOKEN/CHAT_ID, ntfy://HOST/TOPIC or mailto:ADDRESS",
            min_length=1,
            max_length=500,
            examples=["https://example.org/hook"],
        ),
    ]


class CreatedAlert(Struct, frozen=True):
    """A new rule. `secret` verifies the signatures of a webhook; null for other targets."""

    id: int
    rule: str
    to: str
    created_at: Instant
    secret: str | None


class AlertRow(Struct, frozen=True):
    """A rule as it is listed; `to` without its credentials.

    `state` is `armed` or `fired` for a price, the last verdict for a verdict, null where there is none yet.
    """

    id: int
    rule: str
    to: str
    created_at: Instant
    state: str | None


class AlertList(Struct, frozen=True):
    """A user's rules, oldest first."""

    alerts: list[AlertRow]


class OfAlert(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one of the caller's alert rules."""

    id: AlertId


class DeliveriesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest messages."""

    limit: Annotated[int, Meta(ge=1, le=200, description="How many messages at most")] = 50


class AlertDelivery(Struct, frozen=True):
    """A message: `id` is the same in every attempt. `error` says why the last attempt failed."""

    id: str
    alert: int
    message: str
    status: DeliveryStatus
    attempts: int
    created_at: Instant
    next_attempt_at: Instant | None
    finished_at: Instant | None
    error: str | None


class AlertDeliveries(Struct, frozen=True):
    """A user's messages of the last week, newest first."""

    deliveries: list[AlertDelivery]


class QueuedTest(Struct, frozen=True):
    """A test message that is sent within seconds: its id in the list of deliveries."""

    id: str
