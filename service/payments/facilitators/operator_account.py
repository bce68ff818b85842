"""The operator's account: signs settlement transactions and stores each before it is sent.

Choosing a nonce, signing and storing are one database transaction. So neither a second process nor a crash can use one
nonce for two payments, or two nonces for one payment.
"""

import asyncio
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from service.clock import Clock
from service.ethereum.keystore import open_keystore
from service.ethereum.signatures import address_of, private_key
from service.ethereum.transactions import ContractCall, SignedTransaction, sign_call
from service.settings import Settings, SettingsError
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


class OperatorAccount:
    """An account by its private key. Only this service may send from it.

    Args:
        secret: Private key, 32 bytes.

    Attributes:
        address: In lower case.

    Raises:
        ValueError: If the key is not valid.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = private_key(secret)
        self.address = address_of(self._key.public_key).lower()

    def sign(self, call: ContractCall) -> SignedTransaction:
        """Sign a call."""
        return sign_call(call, self._key)


async def open_operator_account(settings: Settings) -> OperatorAccount:
    """Take the key from where the operator keeps it; off the loop, since a keystore takes a second or so.

    Raises:
        SettingsError: If there is no key there; the message names the variable.
    """
    return await asyncio.to_thread(_open_account, settings)


def _open_account(settings: Settings) -> OperatorAccount:
    if settings.operator_key is not None:
        try:
            return OperatorAccount(bytes.fromhex(settings.operator_key.text[2:]))
        except ValueError as error:
            raise SettingsError("VERDICT_OPERATOR_KEY is not a private key of secp256k1.") from error
    if settings.operator_keystore is None or settings.operator_password is None:
        raise SettingsError("VERDICT_OPERATOR_KEY or VERDICT_OPERATOR_KEYSTORE must name the operator's key.")
    try:
        content = settings.operator_keystore.read_bytes()
        return OperatorAccount(open_keystore(content, settings.operator_password.text))
    except OSError as error:
        raise SettingsError(f"VERDICT_OPERATOR_KEYSTORE cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SettingsError(f"VERDICT_OPERATOR_KEYSTORE cannot be used. {error}") from error


class OutboxTransaction(Struct, frozen=True):
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
    """The stored transactions of one account on one chain.

    Args:
        database: Where they are stored.
        account: Signs them.
        clock: Time.
    """

    def __init__(self, database: Database, account: OperatorAccount, clock: Clock) -> None:
        self._database = database
        self._account = account
        self._clock = clock

    async def of(self, payment_id: int) -> list[OutboxTransaction]:
        """The transactions of a payment, in the order they were made."""
        return [OutboxTransaction(*row) for row in await self._database.read(_OF, (payment_id,))]

    async def unmined(self, chain_id: int, first: int, last: int) -> list[OutboxTransaction]:
        """The newest transaction of each nonce, from one nonce to another, both included."""
        rows = await self._database.read(_UNMINED, (chain_id, self._account.address, first, last))
        return list({sent.nonce: sent for sent in (OutboxTransaction(*row) for row in rows)}.values())

    async def enter(self, payment_id: int, call: ContractCall) -> list[OutboxTransaction]:
        """Sign and store a payment's transaction under the next free nonce.

        Args:
            payment_id: Row of the payment.
            call: Its nonce is the account's transaction count as the node knows it.

        Returns:
            The payment's transactions: this one, or those another process stored first.
        """

        def work(connection: Connection) -> list[OutboxTransaction]:
            found = [OutboxTransaction(*row) for row in connection.execute(_OF, (payment_id,))]
            if found:
                return found
            ((highest,),) = connection.execute(_HIGHEST, (call.chain_id, self._account.address))
            nonce = call.nonce if highest is None else max(call.nonce, highest + 1)
            return [self._enter(connection, payment_id, replace(call, nonce=nonce))]

        return await self._database.write(work)

    async def outbid(self, sent: OutboxTransaction, call: ContractCall) -> OutboxTransaction | None:
        """Store a replacement with higher fees; None if another process was faster.

        Args:
            sent: The unmined transaction.
            call: The same call with higher fees.
        """

        def work(connection: Connection) -> OutboxTransaction | None:
            ((newest,),) = connection.execute(_NEWEST, (call.chain_id, self._account.address, sent.nonce))
            return self._enter(connection, sent.payment_id, call) if newest == sent.id else None

        return await self._database.write(work)

    def _enter(self, connection: Connection, payment_id: int, call: ContractCall) -> OutboxTransaction:
        signed = self._account.sign(call)
        row = (
            *(signed.hash, payment_id, call.chain_id, self._account.address, call.nonce),
            *(call.tip, call.max_fee, call.gas, call.data, signed.raw, self._clock.now_ms()),
        )
        (number,) = connection.execute(_ENTER, row).fetchone()
        return OutboxTransaction(
            number, signed.hash, payment_id, call.nonce, call.tip, call.max_fee, call.gas, call.data, signed.raw
        )
