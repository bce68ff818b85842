"""Messages of the outbox, sent to whatever a receiver answers; time and chance are given by hand."""

import asyncio
import logging
import threading
from typing import Any
from unittest import mock

import pytest

from service.clock import DAY_MS, SECOND_MS
from service.errors import ServiceError
from service.notify.delivery import CLAIM_MS, FIRST_PAUSE_MS, GIVE_UP_MS, LONGEST_PAUSE_MS, DeliveryWorker, pause_ms
from service.notify.mail import MailSettings
from service.notify.messages import AlertDetails, AlertMessage
from service.notify.store import KEEP_MS, RuleStore
from service.storage.database import Database
from service.upstream.push import PushResult
from service.wire.envelope import encode
from tests.fakes.clock import FakeClock

BODY = encode(AlertMessage("alert.test", "", AlertDetails("", 1, "", None, "Hello.", "test", "", "live")))
HOOK = "https://example.org/hook"


class Receiver:
    """Stands for the push client: answers in turn, then 2xx.

    Attributes:
        heard: Id and URL of each request.
        released: Requests to URLs with `slow` in them wait for it.
    """

    def __init__(self, *answers: PushResult | Exception) -> None:
        self._answers = list(answers)
        self.heard: list[tuple[str, str]] = []
        self.released = asyncio.Event()

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> PushResult:
        assert b"Hello." in body
        self.heard.append((headers.get("webhook-id", ""), url))
        if "slow" in url:
            await self.released.wait()
        answer = self._answers.pop(0) if self._answers else PushResult()
        if isinstance(answer, Exception):
            raise answer
        return answer


async def deliver(worker: DeliveryWorker) -> None:
    """Send until nothing is due."""
    worker.wake.set()
    while worker.wake.is_set():
        worker.wake.clear()
        await worker.round()
        await asyncio.gather(*worker._tasks)


class Outbox:
    """The messages of user 1, and a worker that sends them."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.clock = clock
        self.store = RuleStore(database)

    async def put(self, event_id: str = "evt_1", target: str = HOOK, user_id: int = 1) -> None:
        await self.store.add(user_id, "regime", target, self.clock.now_ms())
        rule = (await self.store.rules())[-1]
        await self.store.enqueue(rule, (event_id, BODY), self.clock.now_ms())

    def worker(self, receiver: Receiver, mail: MailSettings | None = None, chance: float = 1.0) -> DeliveryWorker:
        push: Any = receiver
        return DeliveryWorker(self.clock, self.store, push, b"k" * 32, mail, lambda: chance)

    async def message(self) -> Any:
        (message,) = await self.store.messages(1, 9)
        return message


@pytest.fixture
def outbox(database: Database, clock: FakeClock) -> Outbox:
    return Outbox(database, clock)


@pytest.mark.promise("notify.retries")
def test_pauses_double_from_five_seconds_to_an_hour_and_half_of_each_is_chance() -> None:
    assert [pause_ms(attempts, 1.0) for attempts in (1, 2, 3)] == [5_000, 10_000, 20_000]
    assert [pause_ms(attempts, 0.0) for attempts in (1, 2, 3)] == [2_500, 5_000, 10_000]
    assert pause_ms(1, 0.5) == 3_750
    assert pause_ms(1_000, 1.0) == LONGEST_PAUSE_MS


@pytest.mark.promise("notify.delivery")
async def test_a_message_is_sent_once_to_a_receiver_that_takes_it(outbox: Outbox) -> None:
    await outbox.put()
    receiver = Receiver()
    worker = outbox.worker(receiver)
    await deliver(worker)
    await deliver(worker)
    assert receiver.heard == [("evt_1", HOOK)]
    message = await outbox.message()
    assert (message.attempts, message.finished_ms, message.error) == (1, outbox.clock.now_ms(), None)


@pytest.mark.promise("notify.retries", "notify.delivery")
async def test_it_is_sent_again_under_the_same_id_until_it_is_taken(outbox: Outbox) -> None:
    await outbox.put()
    receiver = Receiver(PushResult("The receiver answered 500."), PushResult("The receiver answered 500."))
    worker = outbox.worker(receiver)
    await deliver(worker)
    message = await outbox.message()
    assert (message.next_ms, message.error) == (outbox.clock.now_ms() + FIRST_PAUSE_MS, "The receiver answered 500.")
    await outbox.clock.advance(4.9)
    await deliver(worker)
    assert len(receiver.heard) == 1
    await outbox.clock.advance(0.1)
    await deliver(worker)
    await outbox.clock.advance(10)
    await deliver(worker)
    assert receiver.heard == [("evt_1", HOOK)] * 3
    message = await outbox.message()
    assert (message.attempts, message.next_ms, message.error) == (3, None, None)


@pytest.mark.promise("notify.retries")
async def test_after_a_day_it_is_given_up_and_says_why(outbox: Outbox) -> None:
    await outbox.put()
    begun_ms = outbox.clock.now_ms()
    receiver = Receiver(*[PushResult("No answer within 10 s.")] * 99)
    worker = outbox.worker(receiver)
    for _ in range(48):
        await deliver(worker)
        await outbox.clock.advance(3_600)
    message = await outbox.message()
    assert message.error == "No answer within 10 s."
    assert message.next_ms is None
    assert GIVE_UP_MS - 2 * LONGEST_PAUSE_MS < message.finished_ms - begun_ms <= GIVE_UP_MS == DAY_MS
    assert len(receiver.heard) == message.attempts


async def test_a_pause_that_the_receiver_asks_for_is_kept(outbox: Outbox) -> None:
    await outbox.put()
    await deliver(outbox.worker(Receiver(PushResult("The receiver answered 429.", retry_after_s=90.0))))
    assert (await outbox.message()).next_ms == outbox.clock.now_ms() + 90 * SECOND_MS


async def test_a_receiver_that_asks_for_a_day_is_asked_again_after_an_hour(outbox: Outbox) -> None:
    await outbox.put()
    await deliver(outbox.worker(Receiver(PushResult("The receiver answered 503.", retry_after_s=DAY_MS / SECOND_MS))))
    assert (await outbox.message()).next_ms == outbox.clock.now_ms() + LONGEST_PAUSE_MS


async def test_a_receiver_that_is_gone_is_not_asked_again(outbox: Outbox) -> None:
    await outbox.put()
    await deliver(outbox.worker(Receiver(PushResult("The receiver answered 410.", gone=True))))
    message = await outbox.message()
    assert (message.next_ms, message.error) == (None, "The receiver answered 410.")


async def test_a_defect_fails_one_message_and_not_the_others(outbox: Outbox, caplog: pytest.LogCaptureFixture) -> None:
    await outbox.put("evt_1")
    await outbox.put("evt_2")
    with caplog.at_level(logging.ERROR):
        await deliver(outbox.worker(Receiver(RuntimeError("defect"))))
    errors = {message.id: message.error for message in await outbox.store.messages(1, 9)}
    assert errors == {"evt_1": "Internal error.", "evt_2": None}
    assert "unexpected exception" in caplog.text


async def test_slow_receivers_take_four_places_of_their_user_and_delay_nobody_else(outbox: Outbox) -> None:
    for number in range(6):
        await outbox.put(f"evt_slow_{number}", f"{HOOK}/slow")
    receiver = Receiver()
    worker = outbox.worker(receiver)
    await worker.round()
    await outbox.clock.settle()
    await outbox.put("evt_mine")
    await outbox.put("evt_theirs", user_id=2)
    await outbox.clock.advance(1)
    await worker.round()
    await outbox.clock.settle()
    assert [event_id for event_id, _ in receiver.heard] == [
        *(f"evt_slow_{number}" for number in range(4)),
        "evt_theirs",
    ]
    receiver.released.set()
    await asyncio.gather(*worker._tasks)
    assert worker.wake.is_set(), "there are places for the next"
    await deliver(worker)
    assert sorted(event_id for event_id, _ in receiver.heard[5:]) == ["evt_mine", "evt_slow_4", "evt_slow_5"]


@pytest.mark.promise("notify.delivery")
async def test_a_message_is_claimed_before_it_is_sent_and_not_sent_again_until_the_claim_ends(outbox: Outbox) -> None:
    await outbox.put(target=f"{HOOK}/slow")
    receiver, other = Receiver(), Receiver()
    worker = outbox.worker(receiver)
    await worker.round()
    await outbox.clock.settle()
    message = await outbox.message()
    assert (message.attempts, message.next_ms) == (1, outbox.clock.now_ms() + CLAIM_MS)
    await outbox.clock.advance(59.9)
    await deliver(outbox.worker(other))
    assert other.heard == []
    await outbox.clock.advance(0.1)
    await worker.round()
    assert len(receiver.heard) == 1, "it is still being sent"
    await worker.aclose()
    other.released.set()
    await deliver(outbox.worker(other))
    assert len(other.heard) == 1


async def test_of_two_processes_one_sends_a_message(outbox: Outbox) -> None:
    await outbox.put()
    receiver = Receiver()
    await asyncio.gather(deliver(outbox.worker(receiver)), deliver(outbox.worker(receiver)))
    assert len(receiver.heard) == 1


async def test_nothing_is_sent_while_the_store_cannot_be_written(
    outbox: Outbox, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await outbox.put()
    receiver = Receiver()
    worker = outbox.worker(receiver)
    monkeypatch.setattr(database, "write", mock.AsyncMock(side_effect=ServiceError("UNAVAILABLE", "no store")))
    with pytest.raises(ServiceError):
        await worker.round()
    assert receiver.heard == []


async def test_a_result_that_could_not_be_stored_is_logged_and_the_message_sent_again_later(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await outbox.put()
    receiver = Receiver()
    worker = outbox.worker(receiver)
    with monkeypatch.context() as broken:
        broken.setattr(outbox.store, "settle", mock.AsyncMock(side_effect=ServiceError("UNAVAILABLE", "no store")))
        await deliver(worker)
    assert "The result of an alert was not stored." in caplog.text
    await deliver(worker)
    assert len(receiver.heard) == 1
    await outbox.clock.advance(CLAIM_MS / SECOND_MS)
    await deliver(worker)
    assert len(receiver.heard) == 2
    assert (await outbox.message()).attempts == 2


async def test_a_mail_server_that_stalls_is_given_up(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr("service.notify.delivery.MAIL_DEADLINE_S", 0.05)
    monkeypatch.setattr("service.notify.delivery.send_mail", lambda *_: released.wait())
    mail = MailSettings("smtps://mail.example.org", "alerts@example.org", ("me@example.org",))
    await outbox.put(target="mailto:me@example.org")
    try:
        await deliver(outbox.worker(Receiver(), mail))
    finally:
        released.set()
    assert (await outbox.message()).error == "The mail server did not answer within 0.05 s."


async def test_ended_messages_are_forgotten_hourly(outbox: Outbox) -> None:
    await outbox.put()
    worker = outbox.worker(Receiver())
    await deliver(worker)
    await outbox.clock.advance(KEEP_MS / SECOND_MS - 1)
    await deliver(worker)
    assert len(await outbox.store.messages(1, 9)) == 1
    await outbox.clock.advance(3_599)
    await deliver(worker)
    assert len(await outbox.store.messages(1, 9)) == 1
    await outbox.clock.advance(1)
    await deliver(worker)
    assert await outbox.store.messages(1, 9) == []


@pytest.mark.promise("notify.channels")
async def test_mail_goes_to_allowed_addresses_only(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[object, ...]] = []

    def send(*arguments: object) -> None:
        sent.append(arguments)

    monkeypatch.setattr("service.notify.delivery.send_mail", send)
    mail = MailSettings("smtps://mail.example.org", "alerts@example.org", ("me@example.org",))
    await outbox.put("evt_1", "mailto:me@example.org")
    await deliver(outbox.worker(Receiver(), mail))
    assert sent == [(mail, "me@example.org", "evt_1", "Hello.")]
    await outbox.put("evt_2", "mailto:other@example.org")
    await deliver(outbox.worker(Receiver(), mail))
    await outbox.put("evt_3", "mailto:me@example.org")
    await deliver(outbox.worker(Receiver()))
    errors = {message.id: message.error for message in await outbox.store.messages(1, 9)}
    refused = "The operator does not allow e-mail to this address."
    assert errors == {"evt_1": None, "evt_2": refused, "evt_3": refused}
    assert len(sent) == 1
