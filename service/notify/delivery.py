"""Sends the messages of the outbox: at least once, under the same id, until a day has passed."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.notify.mail import MailSettings, send_mail
from service.notify.messages import mail_address, request_to, signing_secret, text_of
from service.notify.store import AttemptResult, DueMessage, RuleStore
from service.upstream.push import PushClient, PushResult

GIVE_UP_MS: Final = DAY_MS
FIRST_PAUSE_MS: Final = 5 * SECOND_MS
LONGEST_PAUSE_MS: Final = HOUR_MS
CLAIM_MS: Final = MINUTE_MS
"""A message without a result is not sent again before this: longer than an attempt takes."""

MAIL_DEADLINE_S: Final = 30.0
"""Seconds for a mail, with the wait for one of the threads."""

_MAIL_THREADS: Final = 4
_PRUNE_EVERY_S: Final = 3_600.0
_log: Final = logging.getLogger("verdict.notify")


def pause_ms(attempts: int, chance: float) -> int:
    """The pause after a failed attempt: 5 s, doubled each time up to an hour, of which half is random.

    Args:
        attempts: Attempts so far, from 1.
        chance: From 0 to 1.
    """
    longest = min(FIRST_PAUSE_MS << min(attempts - 1, 20), LONGEST_PAUSE_MS)
    return longest // 2 + round(longest / 2 * chance)


class DeliveryWorker:
    """Sends due messages, each in a task of its own; close it after its last round.

    Args:
        clock: The time.
        store: The outbox.
        push: Sends HTTP requests.
        key: Signs requests to webhooks, see `messages.signing_secret`.
        mail: The operator's mail server, if there is one.
        chance: Draws a number from 0 to 1.

    Attributes:
        wake: Set when a message ended, so that the next can be sent in its place.
    """

    def __init__(
        self,
        clock: Clock,
        store: RuleStore,
        push: PushClient,
        key: bytes,
        mail: MailSettings | None,
        chance: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._store = store
        self._push = push
        self._key = key
        self._mail = mail
        self._chance = chance
        self.wake = asyncio.Event()
        self._sending: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._mail_threads = ThreadPoolExecutor(_MAIL_THREADS, "verdict-mail")
        self._pruned_s: float | None = None

    async def round(self) -> None:
        """Begin to send what is due, as far as there are places.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; then nothing is sent.
        """
        for message in await self._store.claim(self._clock.now_ms(), self._sending, self._hold_ms):
            self._sending[message.id] = message.user_id
            task = asyncio.create_task(self._deliver(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        now_s = self._clock.monotonic()
        if self._pruned_s is None or now_s - self._pruned_s >= _PRUNE_EVERY_S:
            await self._store.prune(self._clock.now_ms())
            self._pruned_s = now_s

    async def aclose(self) -> None:
        """Cancel what is being sent; it is sent again when its claim ends. Results that are being stored are stored."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._mail_threads.shutdown(wait=False, cancel_futures=True)

    def _hold_ms(self, attempts: int) -> int:
        return max(pause_ms(attempts, self._chance()), CLAIM_MS)

    async def _deliver(self, message: DueMessage) -> None:
        try:
            await self._store.settle([await self._attempt(message)], self._clock.now_ms())
        except ServiceError as error:
            _log.warning("The result of an alert was not stored.", extra={"event": message.id, "code": error.code})
        finally:
            del self._sending[message.id]
            self.wake.set()

    async def _attempt(self, message: DueMessage) -> AttemptResult:
        try:
            result = await self._send(message)
        except Exception:  # noqa: BLE001 - a defect must not stop the other messages; the log has its traceback
            _log.exception("Sending an alert raised an unexpected exception.", extra={"event": message.id})
            result = PushResult("Internal error.")
        asked_ms = min(round(result.retry_after_s * SECOND_MS), LONGEST_PAUSE_MS)
        next_ms = self._clock.now_ms() + max(pause_ms(message.attempts, self._chance()), asked_ms)
        ended = result.error is None or result.gone or next_ms - message.created_ms > GIVE_UP_MS
        return AttemptResult(message.id, message.attempts, None if ended else next_ms, result.error)

    async def _send(self, message: DueMessage) -> PushResult:
        address = mail_address(message.target)
        if address is not None:
            return await self._send_mail(address, message)
        secret = signing_secret(self._key, message.user_id, message.target)
        request = request_to(message.target, message.id, message.body, secret, self._clock.now_ms())
        return await self._push.post(request.url, request.body, request.headers)

    async def _send_mail(self, address: str, message: DueMessage) -> PushResult:
        if self._mail is None or not self._mail.allows(address):
            return PushResult("The operator does not allow e-mail to this address.", gone=True)
        arguments = (self._mail, address, message.id, text_of(message.body))
        try:
            async with asyncio.timeout(MAIL_DEADLINE_S):
                loop = asyncio.get_running_loop()
                return PushResult(await loop.run_in_executor(self._mail_threads, send_mail, *arguments))
        except TimeoutError:
            return PushResult(f"The mail server did not answer within {MAIL_DEADLINE_S:g} s.")
