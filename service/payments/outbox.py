"""The outbox: every transaction, written down before it is sent.

Choosing a nonce, signing and writing are one transaction of the database, so that neither a second process nor a crash
can give one nonce to two payments, or two nonces to one payment.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from service.clock import Clock
from service.ethereum.transactions import Call
from service.payments.operator_account import OperatorAccount
from service.storage.database import Database
from service.storage.engine import Connection

_SENT: Final = "SELECT id, hash, payment_id, nonce, tip, max_fee, gas, data, raw FROM chain_transactions"
_OF: Final = f"{_SENT} WHERE payment_id = ? ORDER BY id"
_UNMINED: Final = f"{_SENT} WHERE chain_id = ? AND sender = ? AND nonce >= ? AND nonce <= ? ORDER BY nonce, id"
_HIGHEST: Final = "SELECT max(nonce) FROM chain_transactions WHERE chain_id = ? AND sender = ?"
_NEWEST: Final = "SELECT max(id) FROM chain_transactions WHERE chain_id = ? AND sender = ? AND nonce = ?"
_ENTER: Final = """
INSERT INTO chain_transactions (hash, payment_id, chain_id, sender, nonce, tip, max_fee, gas, data, raw, made_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""


class Sent(Struct, frozen=True):
    """A transaction that was or is to be sent; the columns of its row."""

    id: int
    hash: str
    payment_id: int
    nonce: int
    tip: int
    max_fee: int
    gas: int
    data: bytes
    raw: bytes


class Outbox:
    """The transactions of one account on one chain.

    Args:
        database: Where they stand.
        account: Signs them.
        clock: Stamps them.
    """

    def __init__(self, database: Database, account: OperatorAccount, clock: Clock) -> None:
        self._database = database
        self._account = account
        self._clock = clock

    async def of(self, payment_id: int) -> list[Sent]:
        """The transactions of a payment, whoever sent them, in the order they were made."""
        return [Sent(*row) for row in await self._database.read(_OF, (payment_id,))]

    async def unmined(self, chain_id: int, first: int, last: int) -> list[Sent]:
        """The newest transaction of each nonce, from one nonce to another, both included."""
        rows = await self._database.read(_UNMINED, (chain_id, self._account.address, first, last))
        return list({sent.nonce: sent for sent in (Sent(*row) for row in rows)}.values())

    async def enter(self, payment_id: int, call: Call) -> list[Sent]:
        """Sign a payment's transaction and write it down, under the next nonce that nobody has.

        Args:
            payment_id: Row of the payment.
            call: Its nonce is how many transactions the account has sent, as far as the node knows.

        Returns:
            The payment's transactions: this one, or those that another process has entered meanwhile.
        """

        def work(connection: Connection) -> list[Sent]:
            found = [Sent(*row) for row in connection.execute(_OF, (payment_id,))]
            if found:
                return found
            ((highest,),) = connection.execute(_HIGHEST, (call.chain_id, self._account.address))
            nonce = call.nonce if highest is None else max(call.nonce, highest + 1)
            return [self._enter(connection, payment_id, replace(call, nonce=nonce))]

        return await self._database.write(work)

    async def outbid(self, sent: Sent, call: Call) -> Sent | None:
        """Write down a transaction that takes another's place; nothing if somebody else was faster.

        Args:
            sent: What is not mined.
            call: The same with higher fees.
        """

        def work(connection: Connection) -> Sent | None:
            ((newest,),) = connection.execute(_NEWEST, (call.chain_id, self._account.address, sent.nonce))
            return self._enter(connection, sent.payment_id, call) if newest == sent.id else None

        return await self._database.write(work)

    def _enter(self, connection: Connection, payment_id: int, call: Call) -> Sent:
        signed = self._account.sign(call)
        row = (
            *(signed.hash, payment_id, call.chain_id, self._account.address, call.nonce),
            *(call.tip, call.max_fee, call.gas, call.data, signed.raw, self._clock.now_ms()),
        )
        (number,) = connection.execute(_ENTER, row).fetchone()
        return Sent(
            number, signed.hash, payment_id, call.nonce, call.tip, call.max_fee, call.gas, call.data, signed.raw
        )
