"""The whole service with somebody else's facilitator, which is real but for its money."""

from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from service.access.quota import STARTER
from service.payments.audit import audit_payments
from service.storage.database import DATABASE, open_database
from tests.fakes.asgi import Reply, ask
from tests.fakes.facilitator import Facilitator, facilitator
from tests.payments.signing import ANOTHER_VERSION, PAYEE, answer, wallet
from tests.service.indoors import RISK, Indoors, Kept


def outcome_of(reply: Reply) -> Any:
    """What an answer says became of the payment, alike for both versions but for the network's name."""
    outcome, of_v1 = (
        msgspec.json.decode(b64decode(reply.headers[name], validate=True))
        for name in ("payment-response", "x-payment-response")
    )
    assert outcome | {"network": of_v1["network"]} == of_v1
    assert (outcome["network"], of_v1["network"]) == ("eip155:84532", "base-sepolia")
    return outcome


def read(payment: Mapping[str, str]) -> Any:
    """What a payment header says."""
    (value,) = payment.values()
    return msgspec.json.decode(b64decode(value, validate=True))


def payer_of(payment: Mapping[str, str]) -> str:
    """Who signed, in lower case."""
    payer: str = read(payment)["payload"]["authorization"]["from"]
    return payer.lower()


class Selling(NamedTuple):
    """A service that sells, and who settles for it; `key` is one without a limit."""

    house: Indoors
    facilitator: Facilitator
    key: str

    async def signed(self, target: str = RISK, payer: int = 1) -> dict[str, str]:
        """Answer a route's challenge as a client does."""
        due = await self.ask(target, payment={"x-payment": ANOTHER_VERSION})
        return answer(wallet(payer), due.headers["payment-required"], now_ms=self.house.clock.now_ms())

    async def ask(
        self, target: str = RISK, method: str = "GET", *, payment: Mapping[str, str] | None = None, key: str = ""
    ) -> Reply:
        return await ask(self.house.service.app, target, method, key=key or self.key, headers=payment)

    async def spent_key(self) -> str:
        """A key whose questions are spent."""
        key = await self.house.make_key()
        for _ in range(STARTER):
            assert (await self.ask(key=key)).status == 200
        return key

    async def states(self) -> list[tuple[str, int]]:
        """States of payments, and how many are in each."""
        async with open_database(self.house.data_dir / DATABASE, self.house.clock) as database:
            rows = await database.read("SELECT state, count(*) FROM payments GROUP BY state ORDER BY state")
        return [(str(state), int(count)) for state, count in rows]

    async def books(self) -> list[tuple[str, int]]:
        """The same, after money that moved, receipts and usage have been compared."""
        async with open_database(self.house.data_dir / DATABASE, self.house.clock) as database:
            assert await database.inspect(audit_payments) == []
            ((paid,),) = await database.read(
                "SELECT coalesce(sum(value), 0) FROM payments WHERE state IN ('settled', 'delivered')"
            )
        assert paid == self.facilitator.got.total()
        return await self.states()


@asynccontextmanager
async def selling(kept: Kept, folder: Path, **settings: Any) -> AsyncIterator[Selling]:
    """Go on from what is kept, and sell."""
    async with facilitator() as it:
        remote = {"settlement": "remote", "facilitator_url": it.url, "rpc_url": it.rpc_url, "pay_to": PAYEE, **settings}
        async with kept.reopened(folder / "data", **remote) as house:
            it.clock = house.clock
            yield Selling(house, it, kept.key)
