"""Wallets followed on a real EVM over HTTP: a real ERC-20 that is sent, forks that take it back, what it says.

Run by `make chain`.
"""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from eth_account import Account
from eth_utils import keccak

from service.market.past_prices import PastPriceReader
from service.scheduler import already_set
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.wallets.ledger import WalletLedger
from service.wallets.nodes import open_nodes
from service.wallets.prices import TransferPrices
from service.wallets.refresh import LAG, WalletRefresh
from service.wallets.store import Scanned, TokenContract, WalletStore
from tests.chain.evm import CHAIN_ID, ETHER, USDC, Evm
from tests.chain.node import serving_node
from tests.fakes.clock import FakeClock
from tests.payments.signing import wallet

pytestmark = [pytest.mark.chain, pytest.mark.timeout(120)]

SENDER, RECIPIENT = wallet(), wallet(0xBEEF)
CONTRACT = USDC.lower()


class Followed(NamedTuple):
    """A chain on which one wallet has a hundred dollars, and who follows two."""

    evm: Evm
    store: WalletStore
    refresh: WalletRefresh

    def send(self, amount: int) -> str:
        """Send dollars; the transaction's hash."""
        data = keccak(text="transfer(address,uint256)")[:4] + bytes.fromhex(RECIPIENT.address[2:]).rjust(32, b"\0")
        signed = Account.sign_transaction(
            {
                "chainId": CHAIN_ID,
                "nonce": self.evm.pending_nonce(bytes.fromhex(SENDER.address[2:])),
                "to": USDC,
                "value": 0,
                "gas": 200_000,
                "maxFeePerGas": 10**10,
                "maxPriorityFeePerGas": 10**6,
                "data": data + amount.to_bytes(32),
            },
            bytes(SENDER.key),
        )
        return "0x" + self.evm.send(bytes(signed.raw_transaction)).hex()

    async def told(self) -> list[tuple[int, str, bool, int]]:
        """Block, transaction, direction and amount of all that is known of both wallets, the oldest first."""
        both = [who.address.lower() for who in (SENDER, RECIPIENT)]
        moved = await self.store.movements(CHAIN_ID, CONTRACT, both, 1_000)
        return [(each.block, each.tx, each.incoming, each.amount) for each in reversed(moved)]


@pytest.fixture
async def followed(database: Database) -> AsyncIterator[Followed]:
    clock = FakeClock()
    evm = Evm(lambda: clock.at_ms // 1_000, {SENDER.address: 100_000_000}, {SENDER.address: ETHER})
    drawer = DocumentStore(database).document("wallets.scanned", Scanned)

    async def watched() -> set[str]:
        return {who.address.lower() for who in (SENDER, RECIPIENT)}

    with serving_node(evm) as node:
        async with open_nodes([node.url], clock) as nodes:
            refresh = WalletRefresh(
                clock,
                WalletLedger(database),
                nodes,
                TransferPrices(PastPriceReader(clock, database, list, lambda _: None), lambda _: None),
                already_set(),
                drawer,
                watched,
                lambda: "live",
            )
            yield Followed(evm, WalletStore(database), refresh)


async def test_what_is_sent_is_known_to_the_last_unit_as_often_as_it_was_sent(followed: Followed) -> None:
    sent = [(followed.send(amount), amount) for amount in (1, 25_000_000, 0, 25_000_000)]
    followed.evm.mine(LAG)
    await followed.refresh.round()
    await followed.refresh.round()
    assert await followed.told() == [
        (number, tx, incoming, amount) for number, (tx, amount) in enumerate(sent, 1) for incoming in (False, True)
    ]
    received = sum(amount for *_, incoming, amount in await followed.told() if incoming)
    assert received == followed.evm.dollars(RECIPIENT.address)
    assert await followed.store.token(CHAIN_ID, CONTRACT) == TokenContract(CONTRACT, "USDC", 6)


async def test_a_fork_takes_back_what_it_took_back_and_tells_again_what_came_again(followed: Followed) -> None:
    followed.send(5)
    await_again = followed.send(7)
    followed.evm.mine(LAG)
    await followed.refresh.round()
    assert len(await followed.told()) == 4
    followed.evm.take_back(LAG + 1)
    followed.evm.mine(LAG + 3)
    await followed.refresh.round()
    known: list[Any] = await followed.told()
    assert [each[3] for each in known] == [5, 5, 7, 7]
    assert known[-1][:2] == (2, await_again)
    followed.evm.take_back(LAG + 3)
    followed.evm.forget()
    followed.evm.mine(LAG + 4)
    await followed.refresh.round()
    assert [each[3] for each in await followed.told()] == [5, 5]
    assert followed.evm.dollars(RECIPIENT.address) == 5
