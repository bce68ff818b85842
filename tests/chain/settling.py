"""A payment on its way to the chain: ledger, facilitator and a node of our own, where time passes when one waits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from service.payments.facilitators.chain import ChainFacilitator, open_chain
from service.payments.facilitators.chain_reader import ChainReader
from service.payments.records import Payment, PaymentRecord
from service.settings import Secret, Settings
from tests.chain.evm import ETHER, Evm
from tests.chain.node import Node, serving_node
from tests.fakes.clock import FakeClock
from tests.payments.shop import Shop
from tests.payments.signing import PAYEE, payment, wallet

OPERATOR = wallet(0xBEEF)
PAYER = wallet()
PURSE = 1_000_000


class PassingClock(FakeClock):
    """Time passes at once for whoever waits, and something may happen meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    async def sleep(self, seconds: float) -> None:
        self._move(self.elapsed_s + seconds)
        self.meanwhile()
        await asyncio.sleep(0)


class Settling(NamedTuple):
    """Everything a settlement needs."""

    clock: PassingClock
    evm: Evm
    node: Node
    shop: Shop
    settings: Settings
    facilitator: ChainFacilitator
    chain_reader: ChainReader

    async def record(self, paid: Payment | None = None) -> PaymentRecord:
        """A payment that is to be settled now."""
        return await self.shop.begun(paid=paid or payment(now_ms=self.clock.at_ms))

    def moved(self) -> int:
        """Atomic units that have reached the payee."""
        return self.evm.dollars(PAYEE)

    async def sent(self) -> list[tuple[Any, ...]]:
        """Payment, nonce and most that is paid a gas of every transaction that was written down."""
        return await self.shop.database.read("SELECT payment_id, nonce, max_fee FROM chain_transactions ORDER BY id")

    @asynccontextmanager
    async def another_process(self, **changes: Any) -> AsyncIterator[ChainFacilitator]:
        """A second facilitator of the same account on the same database."""
        settings = Settings(**{**_settings(self.node.url), **changes})
        async with open_chain(settings, self.shop.database, self.clock) as (facilitator, _):
            yield facilitator


@asynccontextmanager
async def settling(folder: Path, ether: int = ETHER, **changes: Any) -> AsyncIterator[Settling]:
    """All of it, on a chain where one payer has a dollar and the operator has ether (wei)."""
    clock = PassingClock()
    evm = Evm(lambda: clock.at_ms // 1_000, {PAYER.address: PURSE}, {OPERATOR.address: ether}, PAYER.address)
    shop = await Shop(folder / "shop.db", clock).open()
    with serving_node(evm) as node:
        settings = Settings(**{**_settings(node.url), **changes})
        async with open_chain(settings, shop.database, clock) as (facilitator, chain_reader):
            yield Settling(clock, evm, node, shop, settings, facilitator, chain_reader)
    await shop.close()


def _settings(url: str) -> dict[str, Any]:
    key = "0x" + bytes(OPERATOR.key).hex()
    return {"settlement": "chain", "pay_to": PAYEE, "rpc_url": url, "operator_key": Secret(key)}
