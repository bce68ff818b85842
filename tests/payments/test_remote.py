"""A facilitator that is somebody else's: what it is asked, and what of its answers is believed.

`test_facilitator_faults.py` in `tests/service` shows what callers see of the same faults.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec
import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st
from x402.schemas import PaymentPayload, PaymentRequirements
from x402.schemas.v1 import PaymentPayloadV1, PaymentRequirementsV1

from service.payments.challenge import ChallengeBuilder
from service.payments.facilitators.port import Outcome, Settled, SettlementRefused, Unknown
from service.payments.facilitators.remote import (
    LARGEST_ANSWER,
    REFUSALS,
    RemoteFacilitator,
    open_remote,
    settle_outcome,
    settle_request,
    verify_outcome,
)
from service.payments.networks import NETWORKS
from service.payments.records import Payment, PaymentRecord, Purchase
from service.settings import Secret, Settings, SettingsError
from service.upstream.failures import UpstreamError
from service.upstream.http_client import Reply, open_http_client
from service.wire.offers import OFFERS
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.facilitator import Facilitator, facilitator, held, says
from tests.payments.signing import PAYEE, PRICE, SEPOLIA, payment, wallet
from tests.payments.test_cdp import ED25519, KEY_ID, part
from tests.upstream import faults

TRANSACTION = "0x" + "ab" * 32
RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")
RESOURCE = "https://api.example.org/api/cli/coin/risk/BTC"
PAID = payment()
GOOD = {"success": True, "transaction": TRANSACTION, "network": SEPOLIA, "payer": PAID.payer}
BAD = {"success": False, "errorReason": "insufficient_funds", "transaction": "", "network": SEPOLIA}
DEEP = b'{"kinds":[],"extra":' + b"[" * 33 + b"]" * 33 + b"}"
VERSIONS: tuple[Literal[1, 2], ...] = (1, 2)


def record(paid: Payment = PAID, offer_id: str = "coin.risk") -> PaymentRecord:
    purchase = Purchase(
        user_id=1, offer_id=offer_id, method="GET", resource=RESOURCE, request_hash="00" * 32, price=paid.value
    )
    return PaymentRecord(
        id=1, receipt_id="rcp_x", state="settling", payment=paid, purchase=purchase, claimed_ms=START_MS, answer=None
    )


def settings(it: Facilitator, **named: Any) -> Settings:
    return Settings(settlement="remote", facilitator_url=it.url, pay_to=PAYEE, **named)


@asynccontextmanager
async def opened(it: Facilitator, **named: Any) -> AsyncIterator[RemoteFacilitator]:
    async with open_remote(settings(it, **named), FakeClock()) as remote:
        yield remote


@pytest.fixture
async def honest() -> AsyncIterator[Facilitator]:
    async with facilitator(FakeClock()) as it:
        yield it


async def settled(it: Facilitator, paid: Payment, **named: Any) -> Outcome:
    async with asyncio.timeout(20), opened(it, **named) as remote:
        return await remote.settle(record(paid))


def judged(answer: object, status: int = 200) -> Outcome:
    body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
    return settle_outcome(Reply(status, body), PAID)


@pytest.mark.promise("pay.remote")
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_payment_of_either_version_is_settled_once_however_often_it_is_asked_for(
    honest: Facilitator, version: Literal[1, 2]
) -> None:
    paid = payment(version=version)
    async with opened(honest) as remote:
        outcomes = [await remote.settle(record(paid)) for _ in range(3)]
    (moved,) = honest.moved
    assert (moved.payer, moved.pay_to, moved.value) == (paid.payer, PAYEE, PRICE)
    assert outcomes == [Settled(moved.transaction)] * 3
    assert honest.verified == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_the_question_is_what_the_official_package_reads_and_has_our_own_terms(version: Literal[1, 2]) -> None:
    asked = msgspec.json.decode(settle_request(record(payment(version=version))))
    assert asked["x402Version"] == asked["paymentPayload"]["x402Version"] == version
    terms = ChallengeBuilder(SEPOLIA, PAYEE)
    resource = terms.resource(RISK, RESOURCE)
    if version == 1:
        PaymentPayloadV1.model_validate(asked["paymentPayload"])
        PaymentRequirementsV1.model_validate(asked["paymentRequirements"])
        assert asked["paymentRequirements"] == msgspec.to_builtins(terms.terms_v1(RISK, resource)[0])
        assert asked["paymentPayload"].keys() == {"x402Version", "scheme", "network", "payload"}
    else:
        PaymentPayload.model_validate(asked["paymentPayload"])
        PaymentRequirements.model_validate(asked["paymentRequirements"])
        row = msgspec.to_builtins(terms.terms(RISK)[0])
        assert asked["paymentRequirements"] == asked["paymentPayload"]["accepted"] == row
        assert asked["paymentPayload"]["resource"] == msgspec.to_builtins(resource)
        assert asked["paymentPayload"]["extensions"] == terms.extensions(RISK)


@pytest.mark.parametrize("version", VERSIONS)
def test_addresses_are_sent_in_the_capitals_that_web3_insists_on(version: Literal[1, 2]) -> None:
    asked = msgspec.json.decode(settle_request(record(payment(version=version))))
    signed = asked["paymentPayload"]["payload"]["authorization"]
    for address in (signed["from"], signed["to"], asked["paymentRequirements"]["payTo"]):
        assert address == to_checksum_address(address)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_payment_for_a_route_that_is_no_longer_offered_is_settled_all_the_same(
    honest: Facilitator, version: Literal[1, 2]
) -> None:
    async with opened(honest) as remote:
        assert isinstance(await remote.settle(record(payment(version=version), "gone")), Settled)


async def test_what_was_agreed_counts_and_not_what_is_asked_for_today(honest: Facilitator) -> None:
    elsewhere = "0x3333333333333333333333333333333333333333"
    paid = payment(to=elsewhere, value="70")
    assert isinstance(await settled(honest, paid), Settled)
    assert honest.got == {elsewhere: 70}


async def test_a_bearer_token_is_sent_where_there_is_one(honest: Facilitator) -> None:
    await settled(honest, payment())
    await settled(honest, payment(), facilitator_token=Secret("t0ken"))
    await settled(honest, payment(), cdp_key_id=KEY_ID, cdp_key_secret=Secret(ED25519))
    none, bearer, cdp = honest.bearers
    assert (none, bearer) == (None, "Bearer t0ken")
    assert cdp is not None
    where = honest.url.removeprefix("http://")
    assert part(cdp.removeprefix("Bearer "), 1)["uris"] == [f"POST {where}/settle"]


async def test_a_key_that_is_none_is_told_when_the_facilitator_is_opened(honest: Facilitator) -> None:
    with pytest.raises(SettingsError, match="VERDICT_CDP_KEY_SECRET"):
        await settled(honest, payment(), cdp_key_id=KEY_ID, cdp_key_secret=Secret("nothing"))


async def test_settlements_go_on_side_by_side(honest: Facilitator) -> None:
    gate = asyncio.Event()
    honest.before = held(gate)
    async with asyncio.timeout(20), opened(honest) as remote:
        asking = [asyncio.create_task(remote.settle(record(payment(wallet(n))))) for n in range(1, 21)]
        while len(honest.asked) < 20:  # noqa: ASYNC110 - the facilitator has no bell
            await asyncio.sleep(0.002)
        gate.set()
        assert {type(outcome) for outcome in await asyncio.gather(*asking)} == {Settled}
    assert len(honest.moved) == 20


# What a facilitator can do wrong.


async def doubtful(honest: Facilitator, answer: Any) -> Unknown:
    """Ask while it answers like that, before and after it has settled; nothing else may come of it."""
    honest.before = answer
    first = await settled(honest, PAID)
    assert honest.moved == []
    honest.before, honest.after = None, answer
    second = await settled(honest, PAID)
    assert len(honest.moved) == 1
    assert isinstance(first, Unknown)
    assert first == second
    return first


async def test_a_facilitator_that_hangs_is_an_unknown_outcome(honest: Facilitator) -> None:
    honest.before = faults.hang
    async with open_http_client("facilitator", honest.url, deadline_s=0.05, most=LARGEST_ANSWER) as client:
        remote = RemoteFacilitator(client, honest.url, NETWORKS[SEPOLIA], lambda _method, _url: None)
        assert await remote.settle(record()) == Unknown("No answer within 0.05 s.")


async def test_a_facilitator_that_drops_the_connection_is_an_unknown_outcome(honest: Facilitator) -> None:
    assert (await doubtful(honest, faults.reset)).reason == "Connection closed without an answer."
    assert len(honest.asked) == 2


async def test_a_facilitator_that_nobody_is_at_is_an_unknown_outcome(honest: Facilitator) -> None:
    honest.url = "http://127.0.0.1:9"
    assert await settled(honest, PAID) == Unknown("Connection refused.")


async def test_an_answer_of_20_mb_is_an_unknown_outcome(honest: Facilitator) -> None:
    flood = faults.answer(200, msgspec.json.encode(GOOD) + b" " * 20_000_000)
    assert (await doubtful(honest, flood)).reason == f"More than {LARGEST_ANSWER} bytes."


async def test_a_truncated_answer_is_an_unknown_outcome(honest: Facilitator) -> None:
    assert (await doubtful(honest, faults.cut_short)).reason == "Answer cut short."


async def test_a_redirect_is_an_unknown_outcome_and_is_not_followed(honest: Facilitator) -> None:
    assert (await doubtful(honest, faults.redirect(honest.url + "/settle"))).reason.endswith("(status 302).")
    assert len(honest.asked) == 2


@pytest.mark.parametrize("body", [GOOD, BAD], ids=["settled", "refused"])
@pytest.mark.parametrize("status", [300, 301, 302, 307, 308])
def test_the_body_of_a_redirect_proves_nothing(status: int, body: object) -> None:
    assert isinstance(judged(body, status), Unknown)


@pytest.mark.parametrize("status", [200, 400, 502, 503])
@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>502 Bad Gateway</body></html>",
        b"settled",
        b"",
        b"[]",
        b"null",
        b"true",
        b'{"success":true,"transaction":"0x',
        b'{"success":false,"errorReason":"insufficient_f',
        b"{}",
        b'[{"success":true}]',
        b"\xff\xfe",
        b'{"success":false,"errorReason":"insufficient_funds","note":"\xff"}',
        b'{"success":' * 10_000,
        b"[" * 60_000,
        b'{"success":true,"x":' + b"9" * 10_000 + b"}",
        b'{"success":NaN}',
    ],
)
def test_what_is_not_an_object_of_the_right_kind_is_an_unknown_outcome(body: bytes, status: int) -> None:
    outcome = judged(body, status)
    assert isinstance(outcome, Unknown)
    assert outcome.reason.endswith(f"(status {status}).")


@pytest.mark.parametrize(
    "twice",
    [
        b'{"success":true,"success":false,"errorReason":"insufficient_funds"}',
        b'{"success":false,"errorReason":"insufficient_funds","errorReason":"unsupported_scheme"}',
    ],
)
def test_an_answer_that_says_a_thing_twice_is_an_unknown_outcome(twice: bytes) -> None:
    assert judged(twice) == Unknown("The answer cannot be read (status 200).")


@pytest.mark.parametrize("success", ["true", 1, "1", None, "yes", [], {}, 1.0, "false", 0])
@pytest.mark.parametrize("body", [GOOD, BAD], ids=["settled", "refused"])
def test_success_that_is_not_true_or_false_is_an_unknown_outcome(body: dict[str, object], success: object) -> None:
    assert isinstance(judged(body | {"success": success}), Unknown)


@pytest.mark.parametrize(
    "transaction",
    [
        None,
        "",
        "0x",
        "pending",
        "ab" * 32,
        "0x" + "ab" * 31,
        "0x" + "ab" * 33,
        "0X" + "ab" * 32,
        "0x" + "gg" * 32,
        "0x" + "00" * 32,
        TRANSACTION + "\n",
        f" {TRANSACTION}",
        5,
        [TRANSACTION],
    ],
)
def test_success_without_a_transaction_is_an_unknown_outcome(transaction: object) -> None:
    assert isinstance(judged(GOOD | {"transaction": transaction}), Unknown)


@pytest.mark.parametrize("network", [None, "", "eip155:8453", "base", "84532", "EIP155:84532", "base-sepolia ", 84532])
def test_success_on_another_network_or_none_is_an_unknown_outcome(network: object) -> None:
    assert isinstance(judged(GOOD | {"network": network}), Unknown)


@pytest.mark.parametrize("payer", ["0x" + "11" * 20, "somebody", PAID.payer[:-1], 7])
@pytest.mark.parametrize("body", [GOOD, BAD], ids=["settled", "refused"])
def test_an_answer_about_another_payer_is_an_unknown_outcome(body: dict[str, object], payer: object) -> None:
    assert isinstance(judged(body | {"payer": payer}), Unknown)


@pytest.mark.parametrize("amount", ["4999", 4999, "0", "5000.0", " 5000", 5000.5])
def test_success_over_another_amount_is_an_unknown_outcome(amount: object) -> None:
    assert isinstance(judged(GOOD | {"amount": amount}), Unknown)


def test_a_refusal_on_another_network_is_an_unknown_outcome() -> None:
    assert judged(BAD | {"network": "eip155:1"}) == Unknown("The answer is about another network (status 200).")


@pytest.mark.parametrize("status", [199, 400, 402, 409, 429, 500, 502, 503])
def test_success_at_a_status_of_failure_is_an_unknown_outcome_that_names_the_transaction(status: int) -> None:
    assert judged(GOOD, status) == Unknown(f"The answer proves nothing (status {status}).", TRANSACTION)


@pytest.mark.parametrize("status", [200, 402, 500])
def test_pending_is_an_unknown_outcome_that_names_the_transaction_whatever_the_status(status: int) -> None:
    pending = GOOD | {"success": False, "errorReason": "settlement_pending"}
    assert judged(pending, status) == Unknown(
        f"The facilitator says settlement_pending (status {status}).", TRANSACTION
    )


def test_success_with_a_reason_to_fail_is_an_unknown_outcome() -> None:
    pending = GOOD | {"errorReason": "settlement_pending"}
    assert judged(pending) == Unknown("The facilitator says settlement_pending (status 200).", TRANSACTION)


# What it can say that is believed.


@pytest.mark.parametrize("network", [SEPOLIA, "base-sepolia"])
@pytest.mark.parametrize("status", [200, 201, 202])
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"payer": None},
        {"payer": ""},
        {"payer": wallet().address},
        {"errorReason": None},
        {"errorReason": ""},
        {"amount": "5000"},
        {"amount": 5000},
        {"amount": None},
        {"amount": ""},
        {"extensions": {"bazaar": {}}, "somethingNew": [1]},
    ],
)
def test_success_with_transaction_and_network_is_a_settlement(
    network: str, status: int, said: dict[str, object]
) -> None:
    answer = GOOD | {"network": network, "transaction": "0x" + "AB" * 32} | said
    assert judged(answer, status) == Settled(TRANSACTION)


@pytest.mark.parametrize("status", [200, 400, 402, 412, 500])
@pytest.mark.parametrize("reason", sorted(REFUSALS))
def test_a_reason_found_before_anything_is_submitted_is_a_refusal_that_does_not_last(reason: str, status: int) -> None:
    outcome = judged(BAD | {"errorReason": reason}, status)
    assert isinstance(outcome, SettlementRefused)
    assert not outcome.lasting


def test_a_refusal_is_told_in_the_words_of_the_specification() -> None:
    assert judged(BAD | {"errorReason": "invalid_exact_evm_insufficient_balance"}) == judged(BAD)
    assert judged({"success": False, "errorReason": "payment_expired"}) == SettlementRefused(
        "invalid_exact_evm_payload_authorization_valid_before", lasting=False
    )


@pytest.mark.parametrize(
    "reason",
    [
        "invalid_exact_evm_nonce_already_used",
        "invalid_exact_evm_payload_authorization_valid_after",
        "invalid_exact_evm_transaction_simulation_failed",
        "invalid_exact_evm_transfer_event_mismatch",
        "invalid_transaction_state",
        "transaction_failed",
        "settlement_pending",
        "duplicate_settlement",
        "unexpected_settle_error",
        "smart_wallet_deployment_failed",
        "something_new",
    ],
)
def test_any_other_reason_is_an_unknown_outcome_that_names_it(reason: str) -> None:
    assert judged(BAD | {"errorReason": reason}, 500) == Unknown(f"The facilitator says {reason} (status 500).")


@pytest.mark.parametrize("reason", ["", None, "Insufficient funds", "x" * 101, "a\nb", "insufficient_funds\n"])
def test_a_reason_that_is_no_code_is_not_repeated(reason: object) -> None:
    assert judged(BAD | {"errorReason": reason}) == Unknown("The answer proves nothing (status 200).")


def test_a_refusal_that_names_a_transaction_is_an_unknown_outcome() -> None:
    assert judged(BAD | {"transaction": TRANSACTION}) == Unknown(
        "The facilitator says insufficient_funds (status 200).", TRANSACTION
    )
    assert judged(BAD | {"transaction": "0x1"}) == Unknown("The facilitator says insufficient_funds (status 200).")


_FIELDS = st.fixed_dictionaries(
    {"success": st.sampled_from([True, False, "true", 1, None])},
    optional={
        "transaction": st.sampled_from([TRANSACTION, "", None, "0x1", "0x" + "00" * 32]),
        "network": st.sampled_from([SEPOLIA, "base-sepolia", "base", "", None]),
        "payer": st.sampled_from([PAID.payer, wallet().address, "0x" + "11" * 20, "", None]),
        "errorReason": st.sampled_from([*sorted(REFUSALS)[:3], "settlement_pending", "", None]),
        "amount": st.sampled_from(["5000", 5000, "1", None]),
    },
)


@pytest.mark.slow
@given(_FIELDS | st.recursive(st.none() | st.booleans() | st.text(), st.lists), st.integers(100, 599))
def test_whatever_is_answered_money_is_taken_for_moved_or_not_only_on_a_full_answer(answer: Any, status: int) -> None:
    outcome = judged(answer, status)
    if isinstance(outcome, Unknown):
        return
    assert answer.get("payer") in {PAID.payer, wallet().address, "", None}
    assert answer.get("amount") in {"5000", 5000, None}
    assert status not in range(300, 400)
    if isinstance(outcome, Settled):
        assert (answer["success"], outcome.transaction) == (True, answer["transaction"])
        assert answer["network"] in {SEPOLIA, "base-sepolia"}
        assert status in range(200, 300)
        assert not answer.get("errorReason")
    else:
        assert (answer["success"], outcome.lasting) == (False, False)
        assert outcome.reason in REFUSALS
        assert not answer.get("transaction")
        assert answer.get("network") in {SEPOLIA, "base-sepolia", "", None}


@given(st.binary(max_size=200), st.integers(100, 599))
def test_no_bytes_are_more_than_an_unknown_outcome(body: bytes, status: int) -> None:
    assert isinstance(judged(body, status), Unknown)


@pytest.mark.parametrize("depth", [33, 30_000])
def test_an_answer_nested_deeper_than_a_parser_goes_is_an_unknown_outcome(depth: int) -> None:
    deep = msgspec.json.encode(GOOD)[:-1] + b',"extra":' + b"[" * depth + b"]" * depth + b"}"
    assert judged(deep) == Unknown("The answer cannot be read (status 200).")


# What it says it can do.


async def test_the_versions_it_settles_are_those_of_our_chain_and_scheme(honest: Facilitator) -> None:
    async with opened(honest) as remote:
        assert await remote.versions() == {1, 2}


async def test_a_token_is_for_the_very_request(honest: Facilitator) -> None:
    asked: list[tuple[str, str]] = []
    async with opened(honest) as remote:
        remote._authorize = lambda method, url: asked.append((method, url))
        await remote.versions()
        await remote.settle(record(payment()))
    assert asked == [("GET", f"{honest.url}/supported"), ("POST", f"{honest.url}/settle")]


@pytest.mark.parametrize(
    ("kinds", "versions"),
    [
        ([], set()),
        ([{"x402Version": 2, "scheme": "exact", "network": SEPOLIA}], {2}),
        ([{"x402Version": 1, "scheme": "exact", "network": "base-sepolia"}], {1}),
        ([{"x402Version": 1, "scheme": "exact", "network": SEPOLIA}], set()),
        ([{"x402Version": 2, "scheme": "upto", "network": SEPOLIA}], set()),
        ([{"x402Version": 3, "scheme": "exact", "network": SEPOLIA, "extra": {"new": 1}}], set()),
    ],
)
async def test_a_kind_counts_in_the_words_of_its_version_alone(
    honest: Facilitator, kinds: list[object], versions: set[int]
) -> None:
    honest.supported = says({"kinds": kinds})
    async with opened(honest) as remote:
        assert await remote.versions() == versions


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kinds": []}, 503),
        (b"<html>", 200),
        ({"kinds": "all"}, 200),
        ([], 200),
        (b"", 401),
        (b"[" * 30_000, 200),
        (DEEP, 200),
    ],
)
async def test_a_facilitator_that_does_not_say_what_it_settles_is_an_error(
    honest: Facilitator, body: object, status: int
) -> None:
    honest.supported = says(body, status)
    async with opened(honest, facilitator_token=Secret("t0ken")) as remote:
        with pytest.raises(UpstreamError) as caught:
            await remote.versions()
    assert (caught.value.upstream, caught.value.upstream_status) == ("facilitator", status)
    assert honest.bearers == ["Bearer t0ken"]


# What `/verify` says.


def verified(answer: object, status: int = 200) -> SettlementRefused | Unknown | None:
    body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
    return verify_outcome(Reply(status, body), PAID)


@pytest.mark.promise("pay.verify-first")
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_payment_that_can_be_settled_is_verified_and_nothing_moves(
    honest: Facilitator, version: Literal[1, 2]
) -> None:
    async with opened(honest, facilitator_token=Secret("t0ken")) as remote:
        assert await remote.verify(record(payment(version=version))) is None
    assert (honest.verified, honest.asked, honest.moved) == (1, [], [])


@pytest.mark.promise("pay.verify-first")
async def test_a_payer_without_the_money_is_refused_with_the_facilitators_reason(honest: Facilitator) -> None:
    honest.balances[PAID.payer] = PRICE - 1
    async with opened(honest) as remote:
        assert await remote.verify(record()) == SettlementRefused("insufficient_funds", lasting=False)


async def test_a_facilitator_that_does_not_verify_is_unknown(
    honest: Facilitator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(honest) as remote:
        honest.verifying = faults.reset
        assert await remote.verify(record()) == Unknown("Connection closed without an answer.")
        monkeypatch.setattr("service.payments.facilitators.remote.VERIFY_DEADLINE_S", 0.05)
        honest.verifying = faults.hang
        assert await remote.verify(record()) == Unknown("No answer within 0.05 s.")


@pytest.mark.parametrize("status", [200, 201])
@pytest.mark.parametrize("said", [{}, {"payer": PAID.payer}, {"payer": None}, {"invalidReason": None}, {"new": [1]}])
def test_a_payment_is_good_if_the_facilitator_says_so(status: int, said: dict[str, object]) -> None:
    assert verified({"isValid": True} | said, status) is None


@pytest.mark.parametrize("status", [200, 400, 402, 412, 500])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("insufficient_funds", "insufficient_funds"),
        ("invalid_exact_evm_insufficient_balance", "insufficient_funds"),
        ("invalid_exact_evm_nonce_already_used", "invalid_exact_evm_nonce_already_used"),
        ("something_new", "something_new"),
    ],
)
def test_a_payment_is_refused_for_the_facilitators_reason_whatever_the_status(
    said: str, reason: str, status: int
) -> None:
    assert verified({"isValid": False, "invalidReason": said}, status) == SettlementRefused(reason, lasting=False)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"", 200),
        (b"<html>", 502),
        (b"[]", 200),
        (b'{"isValid":true,"isValid":true}', 200),
        (b'{"isValid":' * 10_000, 200),
        ({"isValid": "true"}, 200),
        ({"isValid": 1}, 200),
        ({"success": True}, 200),
        ({"isValid": True}, 500),
        ({"isValid": True}, 302),
        ({"isValid": True, "invalidReason": "insufficient_funds"}, 200),
        ({"isValid": True, "payer": "0x" + "11" * 20}, 200),
        ({"isValid": False, "invalidReason": "insufficient_funds", "payer": "0x" + "11" * 20}, 200),
        ({"isValid": False}, 200),
        ({"isValid": False, "invalidReason": "a sentence."}, 200),
        ({"isValid": False, "invalidReason": "insufficient_funds"}, 307),
        ({"isValid": False, "invalidReason": "unexpected_verify_error"}, 500),
        ({"isValid": False, "invalidReason": "invalid_exact_evm_failed_to_get_network_config"}, 200),
    ],
)
def test_an_answer_that_says_neither_is_unknown(answer: object, status: int) -> None:
    assert isinstance(verified(answer, status), Unknown)
