"""What the chain knows of a payment, and what a node may not make us believe."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.payments.facilitators.chain_reader import open_chain_reader
from service.payments.facilitators.port import OTHER_CHAIN, Cancelled, Settled, Unknown, Unused
from service.payments.facilitators.rpc import EventLog
from service.payments.facilitators.token import CANCELED, USED, transfer_outcome
from service.payments.networks import node_url
from service.settings import Settings
from tests.chain.evm import EvmError
from tests.chain.node import PASS
from tests.chain.settling import Settling, settling
from tests.payments.signing import MAINNET, payment


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Settling]:
    async with settling(tmp_path) as opened:
        yield opened


def words(value: int | str) -> str:
    return f"0x{int(value, 16) if isinstance(value, str) else value:064x}"


PAID = payment()
PAYER, PAYEE = words(PAID.payer), words(PAID.pay_to)
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def log(
    place: int, topics: list[str], data: str = "0x", address: str = PAID.asset, *, removed: bool = False
) -> EventLog:
    return EventLog(address, topics, data, "0x1", "0x" + "ab" * 32, hex(place), removed)


def used(place: int, **changes: Any) -> EventLog:
    return log(place, [USED, PAYER, PAID.nonce], **changes)


def moved(place: int, to: str = PAYEE, value: int = PAID.value, **changes: Any) -> EventLog:
    return log(place, [TRANSFER, PAYER, to], words(value), **changes)


@pytest.mark.parametrize(
    ("logs", "where"),
    [
        ([used(4), moved(5)], "here"),
        ([moved(5), used(4)], "here"),
        ([used(4, address="0x036CbD53842c5426634e7929541eC2318f3dCF7e"), moved(5)], "here"),
        ([used(4), moved(5, to=words("0x" + "9" * 40))], "elsewhere"),
        ([used(4), moved(5, value=PAID.value - 1)], "elsewhere"),
        # Two authorizations in one transaction: this one paid somebody else, the other one paid us as much.
        (
            [used(4), moved(5, to=words("0x" + "9" * 40)), log(6, [USED, PAYER, "0x" + "8" * 64]), moved(7)],
            "elsewhere",
        ),
        ([], None),
        ([used(4)], None),
        ([moved(5)], None),
        ([moved(3), used(4)], None),
        ([used(4), moved(6)], None),
        ([used(4), moved(5, address="0x" + "9" * 40)], None),
        ([used(4), log(5, [TRANSFER, words("0x" + "9" * 40), PAYEE], words(PAID.value))], None),
        ([used(4), log(5, [])], None),
        ([used(4, address="0x" + "9" * 40), moved(5)], None),
        ([used(4, removed=True), moved(5)], None),
        ([log(4, [USED, PAYER, "0x" + "9" * 64]), moved(5)], None),
        ([log(4, [CANCELED, PAYER, PAID.nonce]), moved(5)], None),
        ([log(4, [USED, words("0x" + "9" * 40), PAID.nonce]), moved(5)], None),
    ],
)
def test_a_transfer_counts_only_right_after_the_use_of_its_own_authorization(
    logs: list[EventLog], where: str | None
) -> None:
    assert transfer_outcome(PAID, logs) == where


async def test_what_nobody_has_submitted_is_unused_as_of_the_newest_final_block(it: Settling) -> None:
    it.evm.final = 2
    it.evm.mine(5)
    final = it.evm.blocks[-3].block.header.timestamp
    newest = it.evm.head.block.header.timestamp
    assert await it.chain_reader.look(await it.record()) == Unused(final, newest)


async def test_what_was_used_in_time_is_found_among_thousands_of_blocks(
    it: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.payments.facilitators.chain_reader._PAGE", 3)
    it.evm.mine(20)
    await it.clock.advance(4_000)
    it.evm.mine(5)
    record = await it.record()
    outcome = await it.facilitator.settle(record)
    it.evm.mine(10)
    asked: list[tuple[int, int]] = []

    def fault(method: str, parameters: list[Any]) -> Any:
        if method == "eth_getLogs":
            asked.append((int(parameters[0]["fromBlock"], 16), int(parameters[0]["toBlock"], 16)))
        return PASS

    it.node.fault = fault
    assert await it.chain_reader.look(record) == outcome
    assert isinstance(outcome, Settled)
    assert asked
    assert {last - first for first, last in asked} <= {0, 1, 2}, "never more than a node gives at once"
    monkeypatch.setattr("service.payments.facilitators.chain_reader._MOST_PAGES", 2)
    assert await it.chain_reader.look(record) == Unknown("The payment is too old to be found on the chain.")


async def test_what_was_used_long_before_it_was_claimed_paid_for_something_else(
    it: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.payments.facilitators.chain_reader._PAGE", 2)
    record = await it.record()
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Settled)
    await it.clock.advance(3_600)
    soon = replace(record, claimed_ms=it.clock.at_ms)
    it.evm.mine()
    assert await it.chain_reader.look(soon) == Cancelled(outcome.transaction), "its event is seen, and it is too old"
    it.evm.mine(10)
    await it.clock.advance(3_600)
    it.evm.mine(2)
    late = replace(record, claimed_ms=it.clock.at_ms)
    assert await it.chain_reader.look(late) == Cancelled(), "its event is too old to be looked for"
    it.evm.final = 100
    assert isinstance(await it.chain_reader.look(late), Unknown), "the word of a block that may be taken back is none"


async def test_a_payment_taken_by_a_clock_that_ran_ahead_of_the_chain_is_known_by_its_own_transfer(
    it: Settling,
) -> None:
    record = await it.record()
    outcome = await it.facilitator.settle(record)
    ahead = replace(record, claimed_ms=record.claimed_ms + 54_000)
    assert await it.chain_reader.look(ahead) == outcome


async def test_a_payment_of_another_chain_is_not_looked_for_on_this_one(it: Settling) -> None:
    record = await it.record()
    foreign = replace(record, payment=replace(record.payment, network=MAINNET))
    assert await it.chain_reader.look(foreign) == OTHER_CHAIN
    assert await it.facilitator.settle(foreign) == OTHER_CHAIN
    assert await it.sent() == []


def no_logs(method: str, _: list[Any]) -> Any:
    return [] if method == "eth_getLogs" else PASS


def other_logs(method: str, _: list[Any]) -> Any:
    """Events that nobody asked for."""
    return [_wire(moved(3)), _wire(log(1, [USED, PAYER, "0x" + "9" * 64]))] if method == "eth_getLogs" else PASS


def removed_logs(method: str, _: list[Any]) -> Any:
    return [_wire(used(3)) | {"removed": True}] if method == "eth_getLogs" else PASS


def pruned(method: str, parameters: list[Any]) -> Any:
    """A node that has forgotten everything but the newest block."""
    if method == "eth_getLogs" or (method == "eth_call" and parameters[1] == "0x0"):
        raise EvmError("missing trie node")
    return PASS


def behind(method: str, parameters: list[Any]) -> Any:
    """Two nodes behind one name, of which one is late."""
    header = {"timestamp": "0x1", "baseFeePerGas": "0x1"}
    return {**header, "number": "0x0"} if method == "eth_getBlockByNumber" and parameters[0] == "latest" else PASS


def without_transactions(method: str, _: list[Any]) -> Any:
    return None if method == "eth_getTransactionReceipt" else PASS


def _wire(one: EventLog) -> dict[str, Any]:
    return {
        "address": one.address,
        "topics": one.topics,
        "data": one.data,
        "blockNumber": one.block_number,
        "transactionHash": one.transaction_hash,
        "logIndex": one.log_index,
    }


def spoilt_receipts(it: Settling, **part: object) -> Callable[[str, list[Any]], Any]:
    """A node that contradicts itself."""

    def spoilt(method: str, parameters: list[Any]) -> Any:
        return it.node.told(method, parameters) | part if method == "eth_getTransactionReceipt" else PASS

    return spoilt


@pytest.mark.parametrize("part", [{"status": "0x0"}, {"logs": []}])
async def test_a_node_that_contradicts_itself_proves_nothing(it: Settling, part: dict[str, Any]) -> None:
    record = await it.record()
    assert isinstance(await it.facilitator.settle(record), Settled)
    it.node.fault = spoilt_receipts(it, **part)
    assert isinstance(await it.chain_reader.look(record), Unknown)


@pytest.mark.parametrize("fault", [no_logs, other_logs, removed_logs, pruned, behind, without_transactions])
async def test_a_node_that_does_not_show_it_proves_nothing(
    it: Settling, fault: Callable[[str, list[Any]], Any]
) -> None:
    record = await it.record()
    assert isinstance(await it.facilitator.settle(record), Settled)
    it.node.fault = fault
    assert isinstance(await it.chain_reader.look(record), Unknown)


async def test_there_is_a_witness_where_there_is_a_node(it: Settling) -> None:
    record = await it.record()
    async with open_chain_reader(it.settings) as chain_reader:
        assert isinstance(await chain_reader.look(record), Unused)


@pytest.mark.promise("pay.chain-endpoint")
def test_the_chain_is_read_through_the_operators_node_or_else_the_networks_public_one() -> None:
    assert node_url(Settings()) == "https://sepolia.base.org"
    assert node_url(Settings(network="eip155:8453", settlement="remote")) == "https://mainnet.base.org"
    assert node_url(Settings(rpc_url="http://127.0.0.1:9/key")) == "http://127.0.0.1:9/key"


@pytest.mark.promise("pay.reports-checked")
async def test_a_reported_settlement_is_confirmed_by_the_receipt_of_its_transaction(it: Settling) -> None:
    record = await it.record()
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Settled)
    it.node.asked.clear()
    assert await it.chain_reader.check(record, outcome.transaction) == outcome
    assert "eth_getLogs" not in it.node.asked
    assert await it.chain_reader.check(record, "0x" + "ab" * 32) == outcome, "another transaction did it"


@pytest.mark.promise("pay.reports-checked")
async def test_a_reported_settlement_that_never_happened_is_unused_as_of_the_newest_block(it: Settling) -> None:
    it.evm.final = 2
    it.evm.mine(5)
    record = await it.record()
    seen = await it.chain_reader.check(record, "0x" + "ab" * 32)
    assert seen == Unused(it.evm.blocks[-3].block.header.timestamp, it.evm.head.block.header.timestamp)


@pytest.mark.promise("pay.reports-checked")
async def test_a_transaction_from_long_before_the_request_is_no_settlement_of_it(it: Settling) -> None:
    record = await it.record()
    outcome = await it.facilitator.settle(record)
    assert isinstance(outcome, Settled)
    await it.clock.advance(3_600)
    it.evm.mine()
    late = replace(record, claimed_ms=it.clock.at_ms)
    assert await it.chain_reader.check(late, outcome.transaction) == Cancelled(outcome.transaction)


async def test_a_report_is_neither_true_nor_false_while_the_node_cannot_be_read_or_the_block_is_young(
    tmp_path: Path,
) -> None:
    async with settling(tmp_path, confirmations=3) as it:
        record = await it.record()
        await it.facilitator.settle(record)
        transaction = "0x" + it.evm.blocks[1].transactions[0].hash.hex()
        assert await it.chain_reader.check(record, transaction) == Unknown(
            "The transaction is not deep enough yet.", transaction
        )
        it.evm.mine(2)
        assert await it.chain_reader.check(record, transaction) == Settled(transaction)

        def silent(_: str, __: list[Any]) -> Any:
            raise EvmError("rate limited")

        it.node.fault = silent
        assert isinstance(await it.chain_reader.check(record, transaction), Unknown)
