"""The gate of payments, over the real till, ledger and meter: what is paid for is given once it is paid, and once."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from service.http.app import gates_of
from service.http.gates.payment import PaymentGate
from service.http.request import RequestContext
from service.payments.facilitators.port import Settled, SettlementRefused, Unknown
from service.routes.call import Call
from service.wire.queries import OfSymbol
from tests.fakes.asgi import Reply, ask, conversing, scope_of
from tests.http.stage import ASK, RISK, SLOW, STREAM, TIER, Stage, staged
from tests.http.wire import HOST, served, until
from tests.payments.signing import answer, header, pay_v1, pay_v2, row, wallet

TRANSACTION = "0x" + "5e" * 32
DEAR = 50_000
JSON = {"content-type": "application/json"}


def outcome(reply: Reply, name: str = "payment-response") -> Any:
    """What the answer says became of the payment."""
    return json.loads(b64decode(reply.headers[name], validate=True))


def signed(stage: Stage, price: int = 5_000, *, payer: int = 1, version: int = 2) -> dict[str, str]:
    """A payment for the default payee: the header to send."""
    accepted = row(price=price, pay_to="0x000000000000000000000000000000000000dEaD")
    pay = pay_v1 if version == 1 else pay_v2
    name = "x-payment" if version == 1 else "payment-signature"
    return {name: header(pay(wallet(payer), accepted, now_ms=stage.clock.now_ms()))}


async def buy(stage: Stage, key: str, payment: Mapping[str, str], target: str = RISK) -> Reply:
    return await ask(stage.app, target, key=key, headers=payment)


async def paid_for(stage: Stage) -> list[tuple[str, int]]:
    """Offers and how many calls of each were paid for."""
    sql = "SELECT offer_id, count(*) FROM payments WHERE settled_ms IS NOT NULL GROUP BY offer_id ORDER BY offer_id"
    return [(str(offer_id), int(count)) for offer_id, count in await stage.db.read(sql)]


async def states(stage: Stage) -> list[str]:
    return [str(state) for (state,) in await stage.db.read("SELECT state FROM payments ORDER BY id")]


# What is bought.


@pytest.mark.promise("pay.headers", "pay.response-headers", "pay.settled-after-run", "pay.no-quota", "pay.ledger")
@pytest.mark.parametrize("path", [RISK, SLOW])
@pytest.mark.parametrize("version", [1, 2])
async def test_a_payment_buys_an_answer_and_costs_no_question(tmp_path: Path, path: str, version: int) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        reply = await buy(stage, key, signed(stage, version=version), path)
        assert (reply.status, reply.json["data"]) == (200, {"symbol": "BTC"})
        (entry,) = stage.facilitator.asked
        told = {"success": True, "transaction": outcome(reply)["transaction"], "payer": wallet().address.lower()}
        assert outcome(reply) == {**told, "network": "eip155:84532"}
        assert outcome(reply, "x-payment-response") == {**told, "network": "base-sepolia"}
        assert reply.headers["x-receipt-id"] == entry.receipt_id
        assert reply.headers["cache-control"] == "private, no-store"
        assert "ratelimit" not in reply.headers
        assert await paid_for(stage) == [("coin.risk" if path == RISK else "slow", 1)]
        assert (await ask(stage.app, path, key=key)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("pay.headers")
async def test_a_v2_payment_is_taken_in_either_header_and_a_v1_payment_in_its_own(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        (v2,) = signed(stage).values()
        (v1,) = signed(stage, version=1).values()
        assert (await buy(stage, key, {"x-payment": v2})).status == 200
        reply = await buy(stage, key, {"payment-signature": v1})
        assert (reply.status, reply.json["error"]["details"]) == (402, {"reason": "invalid_x402_version"})


@pytest.mark.promise("pay.exact-3009")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_spent_caller_signs_what_the_challenge_asks_for_and_goes_on(tmp_path: Path, version: Any) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        for _ in range(10):
            await ask(stage.app, RISK, key=key)
        due = await ask(stage.app, RISK, key=key)
        assert due.status == 402
        said = answer(wallet(), due.headers["payment-required"], version=version, now_ms=stage.clock.now_ms())
        assert (await buy(stage, key, said)).status == 200
        assert (await ask(stage.app, RISK, key=key)).status == 402


async def test_a_caller_without_a_limit_may_pay_too(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key("pro")
        assert (await buy(stage, key, signed(stage))).status == 200
        assert await paid_for(stage) == [("coin.risk", 1)]
        refused = await buy(stage, key, signed(stage, 4_999))
        assert (refused.status, refused.json["gate"]["quota"]["limit"]) == (402, None)


async def test_the_answer_leaves_once_the_payment_is_settled_and_not_before(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        stage.facilitator.gate.clear()
        fields = {"authorization": f"Bearer {key}", **signed(stage)}
        async with conversing(stage.app, scope_of(RISK, "GET", fields)) as talk:
            await until(lambda: bool(stage.facilitator.asked))
            assert (stage.desk.calls, talk.sent.qsize()) == (1, 0)
            assert await states(stage) == ["settling"]
            stage.facilitator.gate.set()
            assert (await talk.head())["status"] == 200
        await until_states(stage, ["delivered"])


async def until_states(stage: Stage, wanted: list[str]) -> None:
    async with asyncio.timeout(20):
        while await states(stage) != wanted:  # noqa: ASYNC110 -- the ledger tells nobody
            await asyncio.sleep(0.002)


# The same payment again.


@pytest.mark.promise("pay.replay", "pay.claimed")
async def test_the_same_payment_again_gets_the_stored_answer_and_pays_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        first = await buy(stage, key, payment)
        await stage.clock.advance(300)  # its window is over; its answer is not
        again = await buy(stage, key, payment)
        assert (again.status, again.body) == (200, first.body)
        same = first.headers.keys() - {"x-request-id"}
        assert {name: again.headers[name] for name in same} == {name: first.headers[name] for name in same}
        assert (len(stage.facilitator.asked), stage.desk.calls) == (1, 1)
        assert await paid_for(stage) == [("coin.risk", 1)]


@pytest.mark.promise("pay.replay")
async def test_twenty_at_once_are_one_settlement_and_twenty_times_the_same_answer(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.desk.gate.clear()
        asking = [asyncio.ensure_future(buy(stage, key, payment, SLOW)) for _ in range(20)]
        await until(lambda: stage.desk.entered == 1)
        await stage.clock.advance(0.2)
        stage.desk.gate.set()
        while not all(asked.done() for asked in asking):
            await stage.clock.advance(0.05)
            await asyncio.sleep(0.002)
        replies = [asked.result() for asked in asking]
        assert [reply.status for reply in replies] == [200] * 20
        assert len({(reply.body, reply.headers["payment-response"]) for reply in replies}) == 1
        assert (len(stage.facilitator.asked), stage.desk.calls) == (1, 1)
        assert await paid_for(stage) == [("slow", 1)]


@pytest.mark.promise("errors.payment-reused")
async def test_the_same_payment_for_another_request_is_409(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, other, payment = await stage.key(), await stage.key(), signed(stage)
        receipt = (await buy(stage, key, payment)).headers["x-receipt-id"]
        for who, target in ((key, SLOW), (key, RISK.replace("BTC", "ETH")), (key, RISK.lower()), (other, RISK)):
            reply = await buy(stage, who, payment, target)
            assert (reply.status, reply.code) == (409, "PAYMENT_REUSED"), target
            assert reply.json["error"].get("details") == ({"payment": receipt} if who == key else None)
            assert "payment-required" not in reply.headers
        assert (len(stage.facilitator.asked), await paid_for(stage)) == (1, [("coin.risk", 1)])


@pytest.mark.promise("pay.replay")
@pytest.mark.parametrize("symbol", ["DOWN", "UNSURE"])
async def test_the_same_payment_again_gets_its_answer_also_when_its_route_has_nothing_to_sell_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, symbol: str
) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        first = await buy(stage, key, payment)
        other: Call[Any, Any] = Call(OfSymbol(symbol), None, None)
        with monkeypatch.context() as patched:
            patched.setattr(gate_of(stage)._endpoint, "_endpoint", lambda _: stage.desk.ready(other))
            again = await buy(stage, key, payment)
        assert (again.status, again.body) == (200, first.body)
        assert again.headers["x-receipt-id"] == first.headers["x-receipt-id"]
        assert (len(stage.facilitator.asked), await paid_for(stage)) == (1, [("coin.risk", 1)])


@pytest.mark.promise("pay.replay")
async def test_a_route_that_waits_is_not_run_again_for_the_same_payment(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        replies = [await buy(stage, key, payment, SLOW) for _ in range(2)]
        assert [reply.status for reply in replies] == [200, 200]
        assert replies[0].body == replies[1].body
        assert stage.desk.calls == 1


async def test_the_same_payment_written_otherwise_is_the_same_payment(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, accepted = await stage.key(), row(pay_to="0x000000000000000000000000000000000000dEaD")
        payload = pay_v2(wallet(), accepted, now_ms=stage.clock.now_ms())
        await buy(stage, key, {"payment-signature": header(payload)})
        signed_by = payload["payload"]["authorization"]
        signed_by["from"] = signed_by["from"].lower()
        assert (await buy(stage, key, {"x-payment": header(payload)})).status == 200
        assert len(stage.facilitator.asked) == 1


async def test_the_same_payment_waits_for_the_request_it_came_with_first_but_not_for_ever(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.desk.gate.clear()
        first = asyncio.ensure_future(buy(stage, key, payment, SLOW))
        await until(lambda: stage.desk.entered == 1)
        second = asyncio.ensure_future(buy(stage, key, payment, SLOW))
        while not second.done():
            await stage.clock.advance(0.5)
            await asyncio.sleep(0.002)
        reply = second.result()
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
        stage.desk.gate.set()
        assert (await first).status == 200


# What costs nothing.


@pytest.mark.slow
@pytest.mark.promise("pay.failed-run-free")
@pytest.mark.parametrize("path", [RISK, SLOW])
@pytest.mark.parametrize(("symbol", "status"), [("NOWHERE", 404), ("DOWN", 502), ("BROKEN", 500), ("UNSURE", 200)])
async def test_what_fails_or_is_unsure_is_never_settled_and_the_payment_stays_good(
    tmp_path: Path, path: str, symbol: str, status: int
) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        reply = await buy(stage, key, payment, path.replace("BTC", symbol))
        assert reply.status == status
        assert reply.headers.keys().isdisjoint({"payment-response", "x-payment-response", "x-receipt-id"})
        assert (stage.facilitator.asked, await states(stage), await stage.used()) == ([], [], [])
        assert (await buy(stage, key, payment, RISK)).status == 200
        assert (len(stage.facilitator.asked), await paid_for(stage)) == (1, [("coin.risk", 1)])


@pytest.mark.promise("pay.failed-run-free")
async def test_an_answer_that_is_a_failure_by_its_status_alone_is_not_sold(tmp_path: Path) -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 409, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async with staged(tmp_path) as stage:
        gate_of(stage).app, gate_of(stage)._endpoint = failing, None
        reply = await buy(stage, await stage.key(), signed(stage))
        assert (reply.status, reply.body, await states(stage)) == (409, b"{}", [])
        assert stage.facilitator.asked == []


@pytest.mark.promise("pay.two-headers")
async def test_two_payments_are_a_bad_request(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        (value,) = signed(stage).values()
        reply = await buy(stage, await stage.key(), {"payment-signature": value, "x-payment": value})
        assert (reply.status, reply.code) == (400, "BAD_REQUEST")
        assert (stage.desk.calls, await states(stage)) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("value", ["", "e30=", "not base64", "W10=", "bnVsbA=="])
@pytest.mark.parametrize("name", ["payment-signature", "x-payment"])
async def test_what_is_no_payment_is_a_bad_request_and_no_question(tmp_path: Path, name: str, value: str) -> None:
    async with staged(tmp_path) as stage:
        reply = await buy(stage, await stage.key(), {name: value})
        assert (reply.status, reply.code) == (400, "BAD_REQUEST")
        assert (await stage.used(), stage.desk.calls) == ([], 0)


@pytest.mark.promise("errors.payment-refused", "pay.checked")
@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_a_payment_that_is_not_good_gets_the_reason_and_the_challenge(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        reply = await buy(stage, key, signed(stage, 4_999), path)
        assert (reply.status, reply.code) == (402, "PAYMENT_REQUIRED")
        assert reply.json["error"]["details"] == {"reason": "invalid_payment_requirements"}
        assert reply.json["gate"]["quota"]["remaining"] == 10
        assert reply.headers["ratelimit"] == '"questions";r=10'
        assert (stage.desk.calls, await states(stage), await stage.used()) == (0, [], [])
        better = answer(wallet(), reply.headers["payment-required"], now_ms=stage.clock.now_ms())
        assert (await buy(stage, key, better, path)).status == 200


async def test_a_cheap_routes_payment_does_not_buy_a_dear_routes_answer(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        asked = await ask(stage.app, ASK, "POST", key=key, body=b'{"text":"?"}', headers={**JSON, **signed(stage)})
        assert (asked.status, asked.json["error"]["details"]) == (402, {"reason": "invalid_payment_requirements"})


@pytest.mark.parametrize("path", [RISK, SLOW])
async def test_head_with_a_payment_takes_nothing_and_is_the_challenge_only_once_the_quota_is_spent(
    tmp_path: Path, path: str
) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        for _ in range(10):
            head = await ask(stage.app, path, "HEAD", key=key, headers=payment)
            assert (head.status, head.body) == (200, b""), "questions are left"
            await ask(stage.app, path, key=key)
        head = await ask(stage.app, path, "HEAD", key=key, headers=payment)
        spent = await ask(stage.app, path, "HEAD", key=key)
        assert (head.status, head.body) == (402, b"")
        assert head.headers["payment-required"] == spent.headers["payment-required"]
        assert (await states(stage), stage.facilitator.asked) == ([], [])
        assert (await buy(stage, key, payment, path)).status == 200


@pytest.mark.parametrize("path", [TIER, STREAM])
async def test_where_nothing_can_be_paid_for_a_payment_is_not_looked_at(tmp_path: Path, path: str) -> None:
    async with staged(tmp_path) as stage:
        reply = await buy(stage, await stage.key(), signed(stage), path)
        assert (reply.status, await states(stage)) == (200, [])
        assert "payment-response" not in reply.headers


async def test_a_payment_opens_no_door_that_a_token_does_not(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        reply = await ask(stage.app, RISK, headers=signed(stage))
        assert (reply.status, await states(stage)) == (403, [])


# Unknown outcomes.


@pytest.mark.promise("pay.unknown-503", "errors.payment-pending", "errors.retry-after")
@pytest.mark.parametrize("transaction", [None, TRANSACTION])
async def test_an_unknown_outcome_is_503_and_the_same_payment_again_gets_its_answer(
    tmp_path: Path, transaction: str | None
) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.facilitator.outcomes.append(Unknown("it did not answer", transaction))
        reply = await buy(stage, key, payment)
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
        assert "Send the same payment again" in reply.json["error"]["message"]
        assert reply.headers.keys().isdisjoint({"payment-required", "payment-response"})
        (entry, *_) = stage.facilitator.asked
        known = {} if transaction is None else {"transaction": transaction}
        assert reply.json["error"]["details"] == {"payment": entry.receipt_id, **known}
        again = await buy(stage, key, payment)
        assert (again.status, again.headers["x-receipt-id"]) == (200, entry.receipt_id)
        assert (await paid_for(stage), await stage.used()) == ([("coin.risk", 1)], [("coin.risk", 1)])


@pytest.mark.promise("errors.payment-refused")
async def test_a_settlement_that_is_refused_is_a_402_that_says_so_and_serves_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.facilitator.outcomes.append(SettlementRefused("insufficient_funds"))
        for _ in range(2):
            reply = await buy(stage, key, payment)
            assert (reply.status, reply.json["error"]["details"]) == (402, {"reason": "insufficient_funds"})
            assert outcome(reply) == {
                "success": False,
                "transaction": "",
                "network": "eip155:84532",
                "payer": wallet().address.lower(),
                "errorReason": "insufficient_funds",
            }
            assert {"payment-required", "x-payment-response"} <= reply.headers.keys()
            assert "x-receipt-id" not in reply.headers
        assert (len(stage.facilitator.asked), await paid_for(stage), await stage.used()) == (1, [], [])


async def test_a_peer_that_leaves_while_it_pays_finds_its_answer_when_it_comes_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        key, payment = await stage.key(), signed(stage)
        fields = {"Authorization": f"Bearer {key}", **payment}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        stage.facilitator.gate.clear()
        peer = await wire.connect()
        await peer.say(b"GET " + RISK.encode() + b" HTTP/1.1\r\n" + HOST + lines + b"\r\n")
        await until(lambda: bool(stage.facilitator.asked))
        (connection,) = wire.state.connections
        connection.connection_lost(None)
        connection.transport.abort()
        peer.close()
        stage.facilitator.gate.set()
        await until(lambda: not wire.state.tasks)
        assert await states(stage) == ["settled"]
        assert (await buy(stage, key, payment)).status == 200
        assert len(stage.facilitator.asked) == 1
        await until_states(stage, ["delivered"])


async def test_a_request_that_is_cancelled_while_its_route_runs_gives_the_payment_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.desk.gate.clear()
        running = asyncio.ensure_future(buy(stage, key, payment, SLOW))
        await until(lambda: stage.desk.entered == 1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert await states(stage) == []
        stage.desk.gate.set()
        assert (await buy(stage, key, payment, SLOW)).status == 200


async def test_a_request_that_is_cancelled_while_it_settles_is_settled_all_the_same(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, payment = await stage.key(), signed(stage)
        stage.facilitator.gate.clear()
        stage.facilitator.outcomes.append(Settled(TRANSACTION))
        running = asyncio.ensure_future(buy(stage, key, payment))
        await until(lambda: bool(stage.facilitator.asked))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        stage.facilitator.gate.set()
        await until_states(stage, ["settled"])
        reply = await buy(stage, key, payment)
        assert (reply.status, outcome(reply)["transaction"]) == (200, TRANSACTION)


@pytest.mark.promise("pay.unknown-503")
async def test_a_service_that_ends_before_it_can_say_tells_payers_to_send_the_same_payment_again(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path) as stage, served(stage.app) as wire:
        fields = {"Authorization": f"Bearer {await stage.key()}", **signed(stage)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        stage.facilitator.gate.clear()
        peer = await wire.connect()
        await peer.say(b"GET " + RISK.encode() + b" HTTP/1.1\r\n" + HOST + lines + b"\r\n")
        await until(lambda: bool(stage.facilitator.asked))
        for task in wire.state.tasks:
            task.cancel()
        reply = await peer.reply()
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "PAYMENT_PENDING", "2")
        assert "Send the same payment again" in reply.json["error"]["message"]
        peer.close()


# A body.


async def test_a_spent_quota_is_told_before_any_body_is_read(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        for _ in range(10):
            await ask(stage.app, RISK, key=key)
        for body in (b"", b"{", b'{"text":"?"}'):
            reply = await ask(stage.app, ASK, "POST", key=key, body=body)
            assert (reply.status, reply.json["accepts"][0]["maxAmountRequired"]) == (402, str(DEAR))


@pytest.mark.promise("errors.payment-reused", "pay.failed-run-free")
async def test_a_body_is_part_of_what_is_bought(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key, fields = await stage.key(), {**JSON, **signed(stage, DEAR)}

        async def asked(body: bytes) -> Reply:
            return await ask(stage.app, ASK, "POST", key=key, body=body, headers=fields)

        bad = await asked(b'{"text":1}')
        assert (bad.status, bad.code, await states(stage)) == (400, "BAD_REQUEST", [])
        good = await asked(b'{"text":"?"}')
        assert (good.status, good.json["data"]) == (200, {"text": "?"})
        assert (await asked(b'{"text":"?"}')).body == good.body
        assert (await asked(b'{"text": "?"}')).status == 409
        assert (stage.desk.calls, await paid_for(stage)) == (1, [("ask", 1)])


async def test_a_body_without_a_payment_is_read_behind_the_meter(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        key = await stage.key()
        assert (await ask(stage.app, ASK, "POST", key=key, body=b"{", headers=JSON)).status == 400
        assert (await ask(stage.app, ASK, "POST", key=key, body=b'{"text":"?"}', headers=JSON)).status == 200
        assert await stage.used() == [("ask", 1)]


async def test_a_priced_route_without_a_caller_is_a_defect_and_sells_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        scope = scope_of(RISK, "GET", signed(stage))
        scope["verdict"] = request = RequestContext(scope)
        request.connect(Sink(), Sink())
        with pytest.raises(RuntimeError, match="must stand behind"):
            await gate_of(stage)(scope, Sink(), Sink())
        assert await states(stage) == []


def gate_of(stage: Stage) -> Any:
    """The gate of payments of the route of risks."""
    (route,) = (route for route in stage.app.paths.routes if route.name == "coin.risk")
    return next(gate for gate in gates_of(route.app) if isinstance(gate, PaymentGate))


class Sink:
    """A channel that nobody is to use."""

    async def __call__(self, *_: object) -> Any:
        raise AssertionError("nothing is read or sent")
