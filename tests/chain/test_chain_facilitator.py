"""Our own transactions on a real EVM: money moves once, whatever happens on the way, and nothing is said too soon."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_utils import to_checksum_address
from msgspec.structs import replace

from service.payments.errors import NONCE_USED
from service.payments.facilitators.chain import MAX_WAIT_S
from service.payments.facilitators.port import Cancelled, Settled, SettlementRefused, Unknown, Unused
from service.payments.facilitators.sender import GWEI
from service.payments.facilitators.token import EXPIRED, FAILED, NO_FUNDS, NO_SIGNATURE, encode_transfer
from service.payments.records import Payment
from tests.chain.evm import CHAIN_ID, ETHER, USDC, WALLET, Evm, EvmError
from tests.chain.node import PASS, HungUp
from tests.chain.settling import OPERATOR, PAYER, PURSE, Settling, settling
from tests.payments.signing import PRICE, authorization, payment, row, sign, wallet

BYSTANDER = wallet(0xCAFE)


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Settling]:
    async with settling(tmp_path) as opened:
        yield opened


def send(evm: Evm, sender: Any, data: bytes, *, nonce: int = 0) -> str:
    """Somebody calls the token."""
    signed = Account.sign_transaction(
        {
            "type": 2,
            "chainId": CHAIN_ID,
            "nonce": nonce,
            "maxPriorityFeePerGas": 1_000_000,
            "maxFeePerGas": 10 * GWEI,
            "gas": 200_000,
            "to": USDC,
            "value": 0,
            "data": data,
        },
        sender.key,
    )
    return "0x" + evm.send(bytes(signed.raw_transaction)).hex()


def give_ether(evm: Evm, *accounts: Any) -> None:
    """Have others pay for gas too: a transfer of ether, from the operator's purse before it is used."""
    for nonce, account in enumerate(accounts):
        signed = Account.sign_transaction(
            {
                "chainId": CHAIN_ID,
                "nonce": nonce,
                "gasPrice": 10 * GWEI,
                "gas": 21_000,
                "to": account.address,
                "value": ETHER // 10,
                "data": b"",
            },
            OPERATOR.key,
        )
        evm.send(bytes(signed.raw_transaction))


def cancel(evm: Evm, paid: Payment) -> None:
    """The payer takes an authorization back."""
    types = {
        "CancelAuthorization": [{"name": "authorizer", "type": "address"}, {"name": "nonce", "type": "bytes32"}],
    }
    domain = {"name": "USDC", "version": "2", "chainId": CHAIN_ID, "verifyingContract": USDC}
    message = {"authorizer": to_checksum_address(paid.payer), "nonce": bytes.fromhex(paid.nonce[2:])}
    signed = PAYER.sign_typed_data(domain, types, message)
    selector = bytes.fromhex("5a049a70")
    words = [int(paid.payer, 16), int(paid.nonce, 16), signed.v, signed.r, signed.s]
    send(evm, BYSTANDER, selector + b"".join(word.to_bytes(32) for word in words))


@pytest.mark.promise("pay.chain")
async def test_the_money_moves_by_exactly_the_price_and_the_operator_pays_the_gas(it: Settling) -> None:
    outcome = await it.facilitator.settle(await it.record())
    assert isinstance(outcome, Settled)
    assert it.moved() == PRICE
    assert it.evm.dollars(PAYER.address) == PURSE - PRICE
    assert it.evm.ether(OPERATOR.address) < ETHER
    mined = it.evm.head.transactions
    assert ["0x" + transaction.hash.hex() for transaction in mined] == [outcome.transaction]
    assert it.facilitator.kind == "chain"


async def test_a_payment_that_is_asked_for_again_is_settled_by_the_same_transaction(it: Settling) -> None:
    record = await it.record()
    first = await it.facilitator.settle(record)
    assert await it.facilitator.settle(record) == first
    async with it.another_process() as other:
        assert await other.settle(record) == first
    assert it.moved() == PRICE
    assert len(await it.sent()) == 1


async def test_payments_settled_at_once_by_two_processes_get_a_nonce_each_and_move_once_each(it: Settling) -> None:
    records = [await it.record() for _ in range(6)]
    async with it.another_process() as other:
        outcomes = await asyncio.gather(
            *(facilitator.settle(record) for record in records for facilitator in (it.facilitator, other))
        )
    assert all(isinstance(outcome, Settled) for outcome in outcomes)
    assert it.moved() == 6 * PRICE
    assert sorted(nonce for _, nonce, _ in await it.sent()) == list(range(6))


async def test_a_contract_wallet_pays_by_its_own_signature(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    send(it.evm, BYSTANDER, bytes.fromhex("40c10f19") + int(WALLET, 16).to_bytes(32) + PURSE.to_bytes(32))
    signed = authorization(PAYER, now_ms=it.clock.at_ms, sender=to_checksum_address(WALLET))
    made = payment(now_ms=it.clock.at_ms, sender=WALLET, nonce=signed["nonce"])
    long = replace(made, signature=sign(PAYER, signed, row()) + "ab" * 32)
    outcome = await it.facilitator.settle(await it.record(long))
    assert isinstance(outcome, Settled)
    assert it.evm.dollars(WALLET) == PURSE - PRICE
    assert it.moved() == PRICE


async def test_a_signature_that_ends_in_zero_or_one_is_sent_as_contracts_read_it(it: Settling) -> None:
    made = payment(now_ms=it.clock.at_ms)
    low = replace(made, signature=f"{made.signature[:-2]}{int(made.signature[-2:], 16) - 27:02x}")
    assert isinstance(await it.facilitator.settle(await it.record(low)), Settled)


async def test_a_payer_without_the_money_is_refused_and_no_gas_is_spent(it: Settling) -> None:
    poor = payment(wallet(2), now_ms=it.clock.at_ms)
    assert await it.facilitator.settle(await it.record(poor)) == SettlementRefused(NO_FUNDS)
    assert it.evm.ether(OPERATOR.address) == ETHER
    assert await it.sent() == []


@pytest.mark.parametrize("digits", [130, 200])
async def test_a_signature_the_token_does_not_take_is_refused(
    it: Settling, digits: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    forged = replace(payment(now_ms=it.clock.at_ms), signature="0x" + "1" * (digits - 2) + "1b")
    record = await it.record(forged)
    assert await it.facilitator.settle(record) == SettlementRefused(NO_SIGNATURE)
    (said,) = (vars(each) for each in caplog.records if each.message == "The token contract refuses a payment.")
    assert (said["payment"], "signature" in said["reason"]) == (record.receipt_id, True)


async def test_what_somebody_else_submitted_first_is_settled_by_their_transaction(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    record = await it.record()
    theirs = send(it.evm, BYSTANDER, encode_transfer(record.payment))
    assert await it.facilitator.settle(record) == Settled(theirs)
    assert it.moved() == PRICE
    assert await it.sent() == []


async def test_who_is_overtaken_after_sending_finds_the_transaction_that_was_faster(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    record = await it.record()
    it.evm.at_once = False

    def overtake(method: str, _: list[Any]) -> Any:
        if method == "eth_sendRawTransaction":
            theirs.append(send(it.evm, BYSTANDER, encode_transfer(record.payment)))
            it.evm.mine()
        return PASS

    theirs: list[str] = []
    it.node.fault = overtake
    it.clock.meanwhile = it.evm.mine
    assert await it.facilitator.settle(record) == Settled(theirs[0])
    assert it.moved() == PRICE


async def test_an_authorization_that_its_payer_took_back_is_refused(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    record = await it.record()
    cancel(it.evm, record.payment)
    assert await it.chain_reader.look(record) == Cancelled()
    assert await it.facilitator.settle(record) == SettlementRefused(NONCE_USED)
    assert it.moved() == 0


async def test_a_nonce_spent_on_somebody_else_is_no_payment(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    record = await it.record()
    elsewhere = payment(now_ms=it.clock.at_ms, nonce=record.payment.nonce, to=BYSTANDER.address)
    send(it.evm, BYSTANDER, encode_transfer(elsewhere))
    assert await it.chain_reader.look(record) == Cancelled()
    assert await it.facilitator.settle(record) == SettlementRefused(NONCE_USED)
    assert it.moved() == 0


async def test_that_a_payment_went_elsewhere_is_said_only_once_it_is_final(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    it.evm.final = 3
    record = await it.record()
    cancel(it.evm, record.payment)
    assert isinstance(await it.facilitator.settle(record), Unknown)
    it.evm.mine(3)
    assert await it.facilitator.settle(record) == SettlementRefused(NONCE_USED)


async def test_a_cancellation_that_is_taken_back_leaves_the_payment_to_be_settled(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    it.evm.final = 3
    record = await it.record()
    cancel(it.evm, record.payment)
    assert isinstance(await it.facilitator.settle(record), Unknown)
    it.evm.take_back(1)
    it.evm.forget()
    assert isinstance(await it.facilitator.settle(record), Settled)
    assert it.moved() == PRICE


async def test_too_little_ether_is_no_fault_of_the_payer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with settling(tmp_path, ether=1_000_000) as it:
        outcome = await it.facilitator.settle(await it.record())
        assert outcome == Unknown("The operator account has too little ether for gas.")
        (said,) = (vars(each) for each in caplog.records if each.message == outcome.reason)
        assert said["operator"] == OPERATOR.address.lower()
        assert await it.sent() == []


async def test_gas_above_the_cap_is_waited_for_and_not_paid(tmp_path: Path) -> None:
    async with settling(tmp_path, gas_cap_gwei=2) as it:
        it.node.fault = lambda method, _: hex(2_000_000_000) if method == "eth_maxPriorityFeePerGas" else PASS
        record = await it.record()
        assert await it.facilitator.settle(record) == Unknown("Gas costs more than VERDICT_GAS_CAP_GWEI.")
        assert await it.sent() == []
        tip = 2_000_000_000 - it.evm.blocks[-1].block.header.base_fee_per_gas
        it.node.fault = lambda method, _: hex(tip) if method == "eth_maxPriorityFeePerGas" else PASS
        assert isinstance(await it.facilitator.settle(record), Settled)


async def test_a_call_that_takes_too_much_gas_is_refused(it: Settling) -> None:
    it.node.fault = lambda method, _: hex(240_001) if method == "eth_estimateGas" else PASS
    assert await it.facilitator.settle(await it.record()) == SettlementRefused(FAILED)
    it.node.fault = lambda method, _: hex(240_000) if method == "eth_estimateGas" else PASS
    assert isinstance(await it.facilitator.settle(await it.record()), Settled)
    (limit,) = await it.shop.database.read("SELECT gas FROM chain_transactions")
    assert limit == (300_000,), "a quarter more than was estimated"


async def test_a_payment_that_the_token_takes_no_more_when_gas_is_estimated_is_refused(it: Settling) -> None:
    def drained(method: str, _: list[Any]) -> Any:
        if method == "eth_estimateGas":
            raise EvmError("execution reverted: ERC20: transfer amount exceeds balance")
        return PASS

    it.node.fault = drained
    assert await it.facilitator.settle(await it.record()) == SettlementRefused(NO_FUNDS)


async def test_what_is_in_no_block_is_unknown_and_settled_as_soon_as_it_is_in_one(it: Settling) -> None:
    it.evm.at_once = False
    record = await it.record()
    before_s = it.clock.elapsed_s
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Unknown)
    assert MAX_WAIT_S <= it.clock.elapsed_s - before_s <= MAX_WAIT_S + 2
    it.evm.mine()
    assert await it.facilitator.settle(record) == Settled(str(outcome.transaction))
    assert it.moved() == PRICE


async def test_a_settlement_counts_once_it_is_deep_enough(tmp_path: Path) -> None:
    async with settling(tmp_path, confirmations=3) as it:
        record = await it.record()
        assert isinstance(await it.facilitator.settle(record), Unknown)
        assert isinstance(await it.chain_reader.look(record), Unknown)
        it.evm.mine()
        assert isinstance(await it.facilitator.settle(record), Unknown)
        it.clock.meanwhile = it.evm.mine
        outcome = await it.facilitator.settle(record)
        assert isinstance(outcome, Settled)
        assert await it.chain_reader.look(record) == outcome


async def test_what_a_reorganisation_took_back_is_sent_again(it: Settling) -> None:
    record = await it.record()
    first = await it.facilitator.settle(record)
    it.evm.take_back(1)
    it.evm.forget()
    assert it.moved() == 0
    assert await it.facilitator.settle(record) == first
    assert it.moved() == PRICE


@pytest.mark.parametrize("done", [False, True])
async def test_a_lost_answer_to_sending_costs_nothing_twice(
    it: Settling, done: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    hung = iter([True])

    def fault(method: str, _: list[Any]) -> Any:
        if method == "eth_sendRawTransaction" and next(hung, False):
            raise HungUp(done=done)
        return PASS

    it.node.fault = fault
    assert isinstance(await it.facilitator.settle(await it.record()), Settled)
    assert it.moved() == PRICE
    assert len(await it.sent()) == 1
    (said,) = (vars(each) for each in caplog.records if each.message == "The node did not accept a transaction.")
    assert (said["tx"], "Connection" in said["reason"]) == ("0x" + it.evm.head.transactions[0].hash.hex(), True)


async def test_a_process_that_dies_between_writing_and_sending_leaves_a_transaction_that_is_sent(it: Settling) -> None:
    record = await it.record()
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fault(method: str, _: list[Any]) -> Any:
        if method == "eth_sendRawTransaction":
            loop.call_soon_threadsafe(reached.set)
            raise HungUp
        return PASS

    it.node.fault = fault
    async with it.another_process() as dying:
        task = asyncio.create_task(dying.settle(record))
        await reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    ((payment_id, nonce, _),) = await it.sent()
    assert (payment_id, nonce, it.moved()) == (record.id, 0, 0)
    it.node.fault = lambda *_: PASS
    assert isinstance(await it.facilitator.settle(record), Settled)
    assert it.moved() == PRICE
    assert len(await it.sent()) == 1
    assert it.clock.elapsed_s <= 1, "it is sent as soon as it is seen to be in no block"


async def test_a_transaction_that_the_node_has_forgotten_does_not_hold_up_the_next(it: Settling) -> None:
    it.evm.at_once = False
    first, second = await it.record(), await it.record()
    assert isinstance(await it.facilitator.settle(first), Unknown)
    it.evm.forget()
    it.clock.meanwhile = it.evm.mine
    before_s = it.clock.elapsed_s
    assert isinstance(await it.facilitator.settle(second), Settled)
    assert it.clock.elapsed_s - before_s <= 1
    assert it.moved() == 2 * PRICE
    assert isinstance(await it.facilitator.settle(first), Settled)


async def test_a_transaction_whose_fee_no_longer_suffices_is_outbid_up_to_the_cap(it: Settling) -> None:
    it.evm.at_once = False
    record = await it.record()
    tip = [hex(1_000_000)]
    it.node.fault = lambda method, _: tip[0] if method == "eth_maxPriorityFeePerGas" else PASS
    assert isinstance(await it.facilitator.settle(record), Unknown)
    ((_, _, first_fee),) = await it.sent()
    tip[0] = hex(first_fee)
    it.evm.waiting.clear()
    it.clock.meanwhile = lambda: it.evm.mine() if len(it.evm.waiting) else None
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Settled)
    fees = [fee for _, nonce, fee in await it.sent() if nonce == 0]
    assert len(fees) == 2
    tips = await it.shop.database.read("SELECT tip FROM chain_transactions WHERE nonce = 0 ORDER BY id")
    assert tips == [(1_000_000,), (first_fee,)], "no less than what others give by now"
    assert fees[1] > fees[0] * 11 // 10
    assert it.moved() == PRICE
    third = await it.record()
    it.clock.meanwhile = lambda: None
    tip[0] = hex(1_000_000)
    assert isinstance(await it.facilitator.settle(third), Unknown)
    tip[0] = hex(100 * GWEI)
    assert isinstance(await it.facilitator.settle(third), Unknown)
    assert len(await it.sent()) == 3, "more than the cap is never offered"


async def test_each_of_those_that_wait_is_outbid_by_an_eighth_at_least(it: Settling) -> None:
    it.evm.at_once = False
    records = [await it.record() for _ in range(2)]
    for record in records:
        assert isinstance(await it.facilitator.settle(record), Unknown)
    sender = it.facilitator._sender
    for record in records:
        (first,) = await sender._outbox.of(record.id)
        more = await sender._outbid(first, first.max_fee, 1)
        assert more is not None
        assert (more.nonce, more.tip, more.max_fee) == (first.nonce, first.tip * 9 // 8 + 1, 2 * first.max_fee + 1)


async def test_a_replacement_is_made_by_one_process_only(it: Settling) -> None:
    it.evm.at_once = False
    record = await it.record()
    tip = [hex(1_000_000)]
    it.node.fault = lambda method, _: tip[0] if method == "eth_maxPriorityFeePerGas" else PASS
    await it.facilitator.settle(record)
    ((_, _, fee),) = await it.sent()
    tip[0] = hex(fee)
    async with it.another_process() as other:
        await asyncio.gather(it.facilitator.settle(record), other.settle(record))
    assert len(await it.sent()) == 2


async def test_an_authorization_that_is_not_good_yet_for_the_newest_block_is_tried_again(it: Settling) -> None:
    now_s = it.clock.at_ms // 1_000
    early = payment(now_ms=it.clock.at_ms, validAfter=str(now_s + 2))
    assert isinstance(await it.facilitator.settle(await it.record(early)), Settled)
    earlier = payment(now_ms=it.clock.at_ms, validAfter=str(now_s + 3_600), validBefore=str(now_s + 7_200))
    assert isinstance(await it.facilitator.settle(await it.record(earlier)), Unknown)


async def test_an_authorization_that_is_over_is_refused_once_no_block_can_take_it(it: Settling) -> None:
    it.evm.final = 2
    record = await it.record()
    await it.clock.advance(61)
    assert isinstance(await it.facilitator.settle(record), Unknown)
    it.evm.mine(3)
    seen = await it.chain_reader.look(record)
    assert isinstance(seen, Unused)
    assert seen.at_s >= record.payment.valid_before_s
    assert await it.facilitator.settle(record) == SettlementRefused(EXPIRED)


async def test_what_was_settled_in_time_is_found_after_its_window(it: Settling) -> None:
    give_ether(it.evm, BYSTANDER)
    record = await it.record()
    theirs = send(it.evm, BYSTANDER, encode_transfer(record.payment))
    await it.clock.advance(3_600)
    it.evm.mine()
    assert await it.facilitator.settle(record) == Settled(theirs)


async def test_a_transaction_that_was_reverted_is_unknown_until_its_window_is_over(it: Settling) -> None:
    it.evm.at_once = False
    give_ether(it.evm, BYSTANDER)
    it.evm.mine()
    record = await it.record()
    other = payment(now_ms=it.clock.at_ms, to=BYSTANDER.address, value=str(PURSE))

    def drain() -> None:
        if it.evm.dollars(PAYER.address):
            it.evm.forget()
            send(it.evm, BYSTANDER, encode_transfer(other))
            it.evm.mine()
        it.evm.mine()

    it.clock.meanwhile = drain
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Unknown)
    assert outcome.reason == "The transaction was reverted."
    assert it.moved() == 0
    await it.clock.advance(120)
    it.evm.mine()
    seen = await it.chain_reader.look(record)
    assert isinstance(seen, Unused)
    assert seen.at_s >= record.payment.valid_before_s


@pytest.mark.parametrize("part", [{"status": "0x0"}, {"logs": []}])
async def test_a_receipt_that_does_not_say_that_the_money_moved_settles_nothing(
    it: Settling, part: dict[str, Any]
) -> None:
    record = await it.record()

    def spoilt(method: str, parameters: list[Any]) -> Any:
        if method != "eth_getTransactionReceipt":
            return PASS
        receipt = it.node.told(method, parameters)
        return receipt and {**receipt, **part}

    it.node.fault = spoilt
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Unknown)
    assert outcome.transaction is not None


async def test_a_node_of_another_chain_is_asked_for_nothing(it: Settling) -> None:
    it.node.fault = lambda method, _: "0x1" if method == "eth_chainId" else PASS
    record = await it.record()
    expected = Unknown(f"VERDICT_RPC_URL is a node of chain 1, not {CHAIN_ID}.")
    assert await it.facilitator.settle(record) == expected
    assert await it.chain_reader.look(record) == expected
    assert set(it.node.asked) == {"eth_chainId"}


async def test_a_node_that_does_not_answer_leaves_the_outcome_unknown(it: Settling) -> None:
    record = await it.record()

    def silent(_: str, __: list[Any]) -> Any:
        raise HungUp

    it.node.fault = silent
    assert isinstance(await it.facilitator.settle(record), Unknown)
    it.node.fault = lambda *_: PASS
    it.evm.at_once = False
    await it.facilitator.settle(record)
    it.node.fault = silent
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Unknown)
    assert outcome.transaction is not None, "what may do it is told all the same"


async def test_a_settlement_ends_even_if_the_node_takes_forever(it: Settling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.payments.facilitators.chain._DEADLINE_S", 0)
    assert await it.facilitator.settle(await it.record()) == Unknown("The node takes too long.")
