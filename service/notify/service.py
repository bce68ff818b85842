"""What the routes of alerts call: rules of the caller, their messages, a test message."""

import secrets
from collections.abc import Callable
from typing import Final

from service.access.caller import Caller, bad_parameter
from service.clock import HOUR_MS, SECOND_MS, Clock, iso
from service.errors import ServiceError
from service.notify.mail import MailSettings
from service.notify.messages import (
    AlertDetails,
    AlertMessage,
    checked_target,
    is_signed,
    mail_address,
    shown_target,
    signing_secret,
    text_of,
    written_secret,
)
from service.notify.rules import parse_rule
from service.notify.store import HOURLY_MESSAGES, ListedMessage, RuleStore, StoredRule
from service.wire import alerts as wire
from service.wire.access import Ended
from service.wire.envelope import encode

_RETRY_AFTER: Final = {"Retry-After": str(HOUR_MS // SECOND_MS)}


class AlertRuleService:
    """Alert rules of users.

    Args:
        clock: The time.
        store: Rules and messages.
        key: Signs requests to webhooks.
        mail: The operator's mail server, if there is one.
        find: Returns the canonical ticker of a coin, or raises `UNKNOWN_SYMBOL`.
        source: `live` or `fixtures`.
        private: Whether targets may be at addresses that are not public.
    """

    def __init__(
        self,
        clock: Clock,
        store: RuleStore,
        *,
        key: bytes,
        mail: MailSettings | None,
        find: Callable[[str], str],
        source: str,
        private: bool,
    ) -> None:
        self._clock = clock
        self._store = store
        self._key = key
        self._mail = mail
        self._find = find
        self._source = source
        self._private = private

    async def create(self, caller: Caller, wanted: wire.NewAlert) -> wire.CreatedAlert:
        """Store a rule.

        Raises:
            ServiceError: `BAD_REQUEST` if rule or target cannot be used or the caller has too many rules;
                `UNKNOWN_SYMBOL` with candidates.
        """
        try:
            rule = parse_rule(wanted.rule, self._find).text
        except ValueError as error:
            raise bad_parameter("rule", str(error)) from None
        try:
            target = checked_target(wanted.to, private=self._private)
        except ValueError as error:
            raise bad_parameter("to", str(error)) from None
        address = mail_address(target)
        if address is not None and (self._mail is None or not self._mail.allows(address)):
            raise bad_parameter("to", "The operator does not allow e-mail to this address. Use another target.")
        now_ms = self._clock.now_ms()
        rule_id = await self._store.add(caller.user_id, rule, target, now_ms)
        secret = written_secret(signing_secret(self._key, caller.user_id, target)) if is_signed(target) else None
        return wire.CreatedAlert(rule_id, rule, shown_target(target), iso(now_ms), secret)

    async def rules(self, caller: Caller) -> wire.AlertList:
        """The caller's rules."""
        rules = await self._store.rules(caller.user_id)
        return wire.AlertList(
            [
                wire.AlertRow(each.id, each.rule, shown_target(each.target), iso(each.created_ms), each.state)
                for each in rules
            ]
        )

    async def remove(self, caller: Caller, rule_id: int) -> Ended:
        """Delete a rule of the caller's.

        Raises:
            ServiceError: `NOT_FOUND` if the caller has no such rule.
        """
        if not await self._store.remove(caller.user_id, rule_id, self._clock.now_ms()):
            raise _unknown_rule()
        return Ended()

    async def deliveries(self, caller: Caller, limit: int) -> wire.AlertDeliveries:
        """The caller's newest messages."""
        return wire.AlertDeliveries([_listed(each) for each in await self._store.messages(caller.user_id, limit)])

    async def test(self, caller: Caller, rule_id: int) -> wire.QueuedTest:
        """Send a test message to the target of a rule.

        Raises:
            ServiceError: `NOT_FOUND` if the caller has no such rule; `RATE_LIMITED` if it had too many messages.
        """
        rule = next((each for each in await self._store.rules(caller.user_id) if each.id == rule_id), None)
        if rule is None:
            raise _unknown_rule()
        now_ms, event_id = self._clock.now_ms(), f"evt_{secrets.token_hex(16)}"
        if not await self._store.enqueue(rule, (event_id, self._test_message(rule, event_id, now_ms)), now_ms):
            raise ServiceError(
                "RATE_LIMITED",
                f"You have had {HOURLY_MESSAGES} messages in the last hour. Test again later.",
                headers=_RETRY_AFTER,
            )
        return wire.QueuedTest(event_id)

    def _test_message(self, rule: StoredRule, event_id: str, now_ms: int) -> bytes:
        text, at = f"Test message of the alert `{rule.rule}`.", iso(now_ms)
        data = AlertDetails(event_id, rule.id, rule.rule, None, text, "test", at, self._source)
        return encode(AlertMessage("alert.test", at, data))


def _unknown_rule() -> ServiceError:
    return ServiceError("NOT_FOUND", "You have no alert rule with this id. GET /api/alerts lists yours.")


def _listed(message: ListedMessage) -> wire.AlertDelivery:
    ended_ms = message.finished_ms
    status: wire.DeliveryStatus = "pending" if ended_ms is None else "failed" if message.error else "delivered"
    return wire.AlertDelivery(
        id=message.id,
        alert=message.rule_id,
        message=text_of(message.body),
        status=status,
        attempts=message.attempts,
        created_at=iso(message.created_ms),
        next_attempt_at=None if message.next_ms is None else iso(message.next_ms),
        finished_at=None if ended_ms is None else iso(ended_ms),
        error=message.error,
    )
