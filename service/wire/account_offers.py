"""Offers of sign-in, API keys, alert rules and receipts: free, never counted, without envelope."""

from collections.abc import Sequence
from typing import Final

from service.wire import access, alerts, payment, queries
from service.wire.offer import UPSTREAM, Offer

# fmt: off
OF_ACCOUNTS: Final[Sequence[Offer]] = (
    Offer(
        id="auth.nonce", method="POST", path="/api/auth/nonce",
        summary="Get a single-use nonce for Sign-In with Ethereum", result=access.NewNonce, envelope=False,
        gate="public",
    ),
    Offer(
        id="auth.login", method="POST", path="/api/auth/login",
        summary="Exchange a signed EIP-4361 message for a session", body=access.Login, result=access.Session,
        envelope=False, gate="public", also=("AUTH_INVALID",),
    ),
    Offer(
        id="auth.logout", method="POST", path="/api/auth/logout", summary="End the session at once",
        result=access.Ended, envelope=False, gate="session",
    ),
    Offer(
        id="keys.create", method="POST", path="/api/keys", summary="Create an API key; it is shown once",
        body=access.NewKey, result=access.CreatedKey, envelope=False, gate="session",
    ),
    Offer(
        id="keys.list", path="/api/keys", summary="List the caller's API keys", result=access.KeyList, envelope=False,
        gate="session",
    ),
    Offer(
        id="keys.revoke", method="DELETE", path="/api/keys", summary="Revoke an API key at once",
        parameters=queries.OfPrefix, result=access.Ended, envelope=False, gate="session", also=("NOT_FOUND",),
    ),
    Offer(
        id="keys.rotate", method="POST", path="/api/keys/rotate",
        summary="Replace an API key; the old one ends after a grace period",
        body=access.RotateKey, result=access.CreatedKey,
        envelope=False, gate="session", also=("NOT_FOUND",),
    ),
    Offer(
        id="alerts.create", method="POST", path="/api/alerts",
        summary="Create an alert rule; its messages go to a webhook, Telegram, Discord, ntfy or e-mail",
        body=alerts.NewAlert, result=alerts.CreatedAlert, envelope=False, also=("UNKNOWN_SYMBOL", *UPSTREAM),
    ),
    Offer(
        id="alerts.list", path="/api/alerts", summary="List the caller's alert rules", result=alerts.AlertList,
        envelope=False,
    ),
    Offer(
        id="alerts.delete", method="DELETE", path="/api/alerts",
        summary="Delete an alert rule; waiting messages are not sent", parameters=alerts.OfAlert, result=access.Ended,
        envelope=False, also=("NOT_FOUND",),
    ),
    Offer(
        id="alerts.deliveries", path="/api/alerts/deliveries",
        summary="List the messages of the caller's alert rules, newest first, and how their delivery went",
        parameters=alerts.DeliveriesQuery, result=alerts.AlertDeliveries, envelope=False,
    ),
    Offer(
        id="alerts.test", method="POST", path="/api/alerts/test",
        summary="Send a test message to the target of an alert rule", parameters=alerts.OfAlert,
        result=alerts.QueuedTest, envelope=False, also=("NOT_FOUND",),
    ),
)
# fmt: on

OF_RECEIPTS: Final[Sequence[Offer]] = (
    Offer(
        id="receipts.get",
        path="/api/receipts/{id}",
        summary="A signed receipt of something the caller paid for",
        parameters=queries.OfReceipt,
        result=payment.SignedReceipt,
        envelope=False,
        gate="payer",
        also=("NOT_FOUND", "PAYMENT_PENDING"),
    ),
    Offer(
        id="receipts.list",
        path="/api/receipts",
        summary="List the caller's receipts, newest first",
        parameters=queries.ReceiptsQuery,
        result=payment.ReceiptList,
        envelope=False,
    ),
)
