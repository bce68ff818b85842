"""The Idempotency-Key of the question route: one question with one key has one answer, and is charged once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from service.clock import SECOND_MS
from service.errors import ServiceError
from service.payments.facilitators.port import SettlementRefused, Unknown
from service.storage.response_store import KEPT_MS
from service.wire.ask import Failed
from tests.access.test_meter import foreign_lock
from tests.fakes.asgi import Reply, ask
from tests.fakes.engine import EVENTS, PROSE
from tests.http.questions import body_of, conversing, devices, events, question, reserved, scope
from tests.http.stage import TIER, Stage, staged
from tests.http.test_pay import outcome, paid_for, signed, states
from tests.http.wire import until
from tests.payments.signing import wallet

KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"
DEVICE = "device-0001"


async def keyed(stage: Stage, key: str | None, body: bytes | None = None, /, **headers: str) -> Reply:
    return await question(stage, key, body, **{"idempotency_key": KEY, **headers})


async def with_time(stage: Stage, *asking: Any) -> list[Reply]:
    """Let time pass until all have been answered, in steps in which the store does what is asked of it."""
    tasks = [asyncio.ensure_future(one) for one in asking]
    async with asyncio.timeout(20):
        while not all(task.done() for task in tasks):
            await stage.clock.advance(0.05)
            await stage.db.read("SELECT 1")
            await stage.db.write(lambda _: None)
    return [task.result() for task in tasks]


async def kept(stage: Stage) -> list[tuple[str, bool]]:
    """Whose keys are in use, and whether there is an answer."""
    rows = await stage.db.read("SELECT owner, body IS NOT NULL FROM repeats ORDER BY rowid")
    return [(str(owner).partition(" ")[0], bool(has)) for owner, has in rows]


# The same answer again.


@pytest.mark.promise("question.idempotency")
async def test_the_same_question_with_the_same_key_is_answered_again_uncharged(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        first, *again = [await keyed(stage, token) for _ in range(3)]
        assert (first.status, first.body.decode()) == (200, PROSE)
        assert "idempotency-replayed" not in first.headers
        for reply in again:
            assert (reply.status, reply.body) == (200, first.body)
            assert reply.headers["idempotency-replayed"] == "true"
            for field in ("content-type", "cache-control", "x-data-source", "content-length"):
                assert reply.headers[field] == first.headers[field]
            assert reply.headers["x-request-id"] != first.headers["x-request-id"]
        assert len(stage.engine.asked) == 1
        assert await events(stage) == [(1, 1)]


@pytest.mark.promise("question.idempotency")
async def test_another_body_or_another_form_with_the_same_key_is_409(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        await keyed(stage, token)
        for body, accept in ((body_of("and ETH?"), "text/plain"), (body_of(), "application/json"), (b"no json", "*/*")):
            conflict = await keyed(stage, token, body, accept=accept)
            assert (conflict.status, list(conflict.json)) == (409, ["error"])
            assert "used for another request" in conflict.json["error"]
        assert (await keyed(stage, token, accept="text/*, */*;q=0.1")).headers["idempotency-replayed"] == "true"
        assert await events(stage) == [(1, 1)]


async def test_keys_belong_to_the_user_not_to_the_credential_nor_to_anybody_else(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token, other = await stage.key(), await stage.key()
        second = (await stage.admin.create_key("second", user_id=1)).key
        await keyed(stage, token)
        assert (await keyed(stage, second)).headers["idempotency-replayed"] == "true"
        assert "idempotency-replayed" not in (await keyed(stage, other)).headers
        assert "idempotency-replayed" not in (await keyed(stage, None, body_of(deviceId=DEVICE))).headers
        assert await events(stage) == [(1, 1), (2, 1), (0, 1)]


async def test_a_different_key_is_a_different_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        for key in ("a", "b", " a b ~!", "z" * 255):
            assert (await keyed(stage, token, idempotency_key=key)).status == 200
        assert await events(stage) == [(1, 1)] * 4


@pytest.mark.parametrize("key", ["", "z" * 256, "tab\there", "é"])
async def test_a_key_that_is_none_is_400(tmp_path: Path, key: str) -> None:
    async with staged(tmp_path) as stage:
        refused = await keyed(stage, await stage.key(), idempotency_key=key)
        assert refused.status == 400
        assert refused.json == {"error": "Idempotency-Key takes 1 to 255 printable ASCII characters."}
        assert (stage.engine.asked, await kept(stage)) == ([], [])


async def test_two_keys_are_400(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        asking = scope(await stage.key(), idempotency_key="a")
        asking["headers"].append((b"idempotency-key", b"b"))
        async with conversing(stage.app, asking, body_of()) as conversation:
            assert (await conversation.head())["status"] == 400


@pytest.mark.slow
async def test_an_answer_is_given_again_for_a_day(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        await keyed(stage, token)
        await stage.clock.advance(KEPT_MS / SECOND_MS - 1)
        assert (await keyed(stage, token)).headers["idempotency-replayed"] == "true"
        await stage.clock.advance(1)
        assert "idempotency-replayed" not in (await keyed(stage, token, body_of("and ETH?"))).headers


@pytest.mark.parametrize("accept", ["text/plain", "text/event-stream", "application/json"])
async def test_with_a_key_the_whole_answer_leaves_at_once_in_every_form(tmp_path: Path, accept: str) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        bare = await question(stage, token, accept=accept)
        first, again = [await keyed(stage, token, accept=accept) for _ in range(2)]
        assert first.body == again.body == bare.body
        assert first.headers["content-type"] == again.headers["content-type"] == bare.headers["content-type"]
        assert first.headers["content-length"] == str(len(bare.body))
        assert first.headers["ratelimit"] == '"questions";r=8'
        assert "ratelimit" not in again.headers


async def test_an_answer_that_costs_nothing_is_given_again_too(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.engine.counted = False
        replies = [await keyed(stage, token) for _ in range(2)]
        assert [reply.status for reply in replies] == [200, 200]
        assert replies[1].headers["idempotency-replayed"] == "true"
        assert await events(stage) == [(1, 2)]


# At once.


@pytest.mark.promise("question.idempotency")
async def test_of_twenty_at_once_with_one_key_one_is_worked_on_and_all_have_its_answer(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        replies = await with_time(stage, *(keyed(stage, token) for _ in range(20)))
        assert {(reply.status, reply.body.decode()) for reply in replies} == {(200, PROSE)}
        assert sum("idempotency-replayed" in reply.headers for reply in replies) == 19
        assert len(stage.engine.asked) == 1
        assert await events(stage) == [(1, 1)]


async def test_whoever_waits_too_long_for_the_first_is_409_and_may_come_again(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.engine.gate.clear()
        first = asyncio.ensure_future(keyed(stage, token))
        await until(lambda: bool(stage.engine.asked))
        (late,) = await with_time(stage, keyed(stage, token))
        assert (late.status, late.headers["retry-after"]) == (409, "1")
        assert "still being answered" in late.json["error"]
        stage.engine.gate.set()
        assert (await first).status == 200
        assert (await keyed(stage, token)).headers["idempotency-replayed"] == "true"
        assert await events(stage) == [(1, 1)]


# What is not kept.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoilt", "status"),
    [
        ({"error": ServiceError("UPSTREAM_5XX", "the venue does not answer")}, 502),
        ({"says": [*EVENTS[:4], Failed("a defect")]}, 500),
        ({"says": [*EVENTS[:4], ZeroDivisionError("a defect")]}, 500),
    ],
)
@pytest.mark.parametrize("accept", ["text/plain", "text/event-stream", "application/json"])
async def test_what_fails_is_not_kept_and_costs_nothing_though_it_fails_at_its_end(
    tmp_path: Path, spoilt: dict[str, Any], status: int, accept: str
) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        for name, value in spoilt.items():
            setattr(stage.engine, name, value)
        failed = await keyed(stage, token, accept=accept)
        assert (failed.status, list(failed.json)) == (status, ["error"])
        assert (await events(stage), await kept(stage)) == ([(1, 2)], [])
        stage.engine.error, stage.engine.says = None, EVENTS
        assert (await keyed(stage, token, accept=accept)).status == 200
        assert await events(stage) == [(1, 2), (1, 1)]


async def test_a_mistake_of_the_caller_gives_the_key_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        assert (await keyed(stage, token, body_of(colour="red"))).status == 400
        assert (await keyed(stage, token)).status == 200


@pytest.mark.slow
async def test_a_spent_caller_gets_its_challenge_with_a_key_as_without_and_the_key_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        for _ in range(10):
            await question(stage, token)
        bare, due = await question(stage, token), await keyed(stage, token)
        assert (due.status, due.json, due.headers["payment-required"]) == (
            402,
            bare.json,
            bare.headers["payment-required"],
        )
        assert await kept(stage) == []
        await stage.clock.advance(12 * 3600)
        assert (await keyed(stage, token)).status == 200
        assert (await keyed(stage, token)).headers["idempotency-replayed"] == "true", "though it is spent again"


async def test_a_store_that_fails_when_the_answer_is_kept_counts_nothing_and_answers_503(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.engine.gate.clear()
        asking = asyncio.ensure_future(keyed(stage, token))
        await until(lambda: bool(stage.engine.asked))
        await stage.db.write(lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
        async with foreign_lock(stage.db):
            stage.engine.gate.set()
            failed = await asking
        assert (failed.status, list(failed.json)) == (503, ["error"])
        assert (await events(stage), await kept(stage)) == ([(1, 0)], [("user", False)])
        await stage.clock.advance(16 * 60)
        again = await keyed(stage, token)
        assert (again.status, again.headers.get("idempotency-replayed")) == (200, None)


# Peers that leave, and services that stop.


@pytest.mark.promise("question.idempotency")
async def test_the_work_goes_on_when_its_caller_has_left_who_can_come_again_for_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.engine.gate.clear()
        async with conversing(stage.app, scope(token, idempotency_key=KEY), body_of()) as conversation:
            await until(lambda: bool(stage.engine.asked))
            conversation.leave()
            await stage.clock.settle()
            stage.engine.gate.set()
        assert stage.engine.ended == ["closed"]
        again = await keyed(stage, token)
        assert (again.body.decode(), again.headers["idempotency-replayed"]) == (PROSE, "true")
        assert await events(stage) == [(1, 1)]


async def test_a_service_that_stops_amid_the_work_gives_everything_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.engine.gate.clear()
        asking = asyncio.ensure_future(keyed(stage, token))
        await until(lambda: bool(stage.engine.asked))
        assert await reserved(stage) == 1
        asking.cancel()
        await asyncio.wait([asking])
        await until(lambda: stage.engine.ended == ["cancelled"])
        async with asyncio.timeout(20):
            while await reserved(stage) or await kept(stage):
                await stage.db.write(lambda _: None)
        assert await events(stage) == [(1, 2)]


@pytest.mark.promise("question.idempotency")
async def test_an_answer_is_given_again_after_a_restart(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        first = await keyed(stage, token)
    async with staged(tmp_path) as stage:
        again = await keyed(stage, token)
        assert (again.body, again.headers["idempotency-replayed"]) == (first.body, "true")
        assert stage.engine.asked == []
        assert await events(stage) == [(1, 1)]


# Devices.


@pytest.mark.promise("question.idempotency", "question.device-once")
async def test_a_devices_one_answer_is_given_again_to_its_key_and_refused_without_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        body = body_of(deviceId=DEVICE)
        replies = await with_time(stage, *(keyed(stage, None, body) for _ in range(20)))
        assert {(reply.status, reply.body.decode()) for reply in replies} == {(200, PROSE)}
        assert (await question(stage, None, body)).status == 403
        assert (await keyed(stage, None, body, idempotency_key="another")).status == 403
        assert (await keyed(stage, None, body_of("and ETH?", deviceId=DEVICE))).status == 409
        assert len(stage.engine.asked) == 1
        assert (await events(stage), await devices(stage)) == ([(0, 1)], 1)


async def test_another_device_has_no_part_in_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await keyed(stage, None, body_of(deviceId=DEVICE))
        other = await keyed(stage, None, body_of(deviceId="device-0002"))
        assert (other.status, other.headers.get("idempotency-replayed")) == (200, None)


async def test_of_strangers_nothing_is_kept_that_costs_them_nothing(tmp_path: Path) -> None:
    """Ids can be forged: what is kept of them is bounded by what their networks are given."""
    async with staged(tmp_path) as stage:
        stage.engine.counted = False
        for _ in range(2):
            free = await keyed(stage, None, body_of("hi", deviceId=DEVICE))
            assert (free.status, free.headers.get("idempotency-replayed")) == (200, None)
        assert (await kept(stage), await devices(stage)) == ([], 0)


# Payments.


@pytest.mark.promise("question.idempotency")
async def test_what_was_paid_for_is_given_again_to_its_key_with_its_receipt_and_paid_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        first = await keyed(stage, token, **signed(stage, 50_000))
        again = await keyed(stage, token)
        anew = await keyed(stage, token, **signed(stage, 50_000, payer=2))
        assert first.status == 200
        for reply in (again, anew):
            assert (reply.body, reply.headers["idempotency-replayed"]) == (first.body, "true")
            assert outcome(reply) == outcome(first)
            assert reply.headers["x-receipt-id"] == first.headers["x-receipt-id"]
        assert await paid_for(stage) == [("question", 1)]
        assert len(stage.facilitator.asked) == 1
        assert await events(stage) == [(1, 1)]


async def test_a_payment_whose_fate_is_unknown_gives_the_key_back_and_the_same_payment_gets_the_answer(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage:
        token, payment = await stage.key(), signed(stage, 50_000)
        stage.facilitator.outcomes.append(Unknown("a timeout"))
        pending = await keyed(stage, token, **payment)
        assert (pending.status, await kept(stage)) == (503, [])
        paid = await keyed(stage, token, **payment)
        assert (paid.status, paid.body.decode()) == (200, PROSE)
        assert (await keyed(stage, token)).headers["idempotency-replayed"] == "true"
        assert await paid_for(stage) == [("question", 1)]


@pytest.mark.promise("question.idempotency")
@pytest.mark.parametrize("payer", [None, 2])
async def test_what_a_key_may_have_bought_is_its_answer_and_is_not_paid_for_or_counted_once_more(
    tmp_path: Path, payer: int | None
) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        again = {} if payer is None else signed(stage, 50_000, payer=payer)
        stage.facilitator.outcomes += [Unknown("a timeout"), Unknown("still")]
        for headers in (signed(stage, 50_000), again):
            pending = await keyed(stage, token, **headers)
            assert (pending.status, await kept(stage), await events(stage)) == (503, [], [])
        paid = await keyed(stage, token, **again)
        assert (paid.status, paid.body.decode(), outcome(paid)["success"]) == (200, PROSE, True)
        replayed = await keyed(stage, token)
        assert (replayed.body, replayed.headers["idempotency-replayed"]) == (paid.body, "true")
        assert replayed.headers["x-receipt-id"] == paid.headers["x-receipt-id"]
        assert {entry.payment.payer for entry in stage.facilitator.asked} == {wallet(1).address.lower()}
        assert (await paid_for(stage), await events(stage)) == ([("question", 1)], [(1, 1)])
        assert len(stage.engine.asked) == 1


async def test_what_a_key_has_bought_is_another_keys_another_callers_or_another_days_no_more(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token, other = await stage.key(), await stage.key()
        stage.facilitator.outcomes.append(Unknown("a timeout"))
        assert (await keyed(stage, token, **signed(stage, 50_000))).status == 503
        for key, body, headers in (
            (other, body_of(), {}),
            (token, body_of(), {"idempotency_key": "another"}),
            (token, body_of("how is ETH doing"), {}),
            (token, body_of(), {"accept": "application/json"}),
        ):
            reply = await keyed(stage, key, body, **headers)
            assert (reply.status, reply.headers.get("x-receipt-id")) == (200, None)
            await stage.db.write(lambda connection: connection.execute("DELETE FROM repeats"))
        stage.clock.set_wall(stage.clock.now_ms() + KEPT_MS)
        reply = await keyed(stage, token)
        assert (reply.status, reply.headers.get("x-receipt-id")) == (200, None)


async def test_a_payment_of_a_key_that_came_to_nothing_leaves_the_key_to_the_next(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        stage.facilitator.outcomes += [Unknown("a timeout"), SettlementRefused("insufficient_funds", lasting=True)]
        assert (await keyed(stage, token, **signed(stage, 50_000))).status == 503
        reply = await keyed(stage, token, **signed(stage, 50_000, payer=2))
        assert (reply.status, outcome(reply)["payer"]) == (200, wallet(2).address.lower())
        assert ((await states(stage))[0], await paid_for(stage)) == ("failed", [("question", 1)])


async def test_what_was_paid_for_leaves_though_its_key_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path) as stage:

        async def fail(*_: object) -> None:
            raise ServiceError("UNAVAILABLE", "The service's store is busy.")

        token, payment = await stage.key(), signed(stage, 50_000)
        monkeypatch.setattr(stage.meter.idempotency, "store", fail)
        first = await keyed(stage, token, **payment)
        assert (first.status, first.body.decode(), await kept(stage)) == (200, PROSE, [])
        monkeypatch.undo()
        again = await keyed(stage, token, **payment)
        assert (again.status, again.body) == (200, first.body)
        assert await paid_for(stage) == [("question", 1)]
        assert await states(stage) == ["delivered"]


async def test_other_routes_know_nothing_of_the_key(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        token = await stage.key()
        for _ in range(2):
            reply = await ask(stage.app, TIER, key=token, headers={"idempotency-key": ""})
            assert (reply.status, reply.headers.get("idempotency-replayed")) == (200, None)
