"""How far a chain was looked through for whom, and what was found: written whole or not at all."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from service.clock import HOUR_MS
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.wallets.chain import Header
from service.wallets.prices import UnvaluedTransfer
from service.wallets.store import AMONG, Moved, TokenContract, listed

WINDOW: Final = 64
"""Blocks below the newest that are looked at again each round, and whose checkpoints are all kept: two epochs, after
which Ethereum makes a block final."""

_OLDEST: Final = 50
"""Blocks that are let go in one transaction, where they are old: more than come in a round."""

_TABLES: Final = ("wallet_movements", "wallet_blocks", "wallet_checkpoints", "wallet_scans", "wallet_tokens")

_TELL_OF: Final = "INSERT INTO wallet_origin VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET origin = excluded.origin"
_UNLESS_KEPT: Final = "ON CONFLICT DO NOTHING"
_KNOWN: Final = """
    SELECT number, hash FROM wallet_blocks WHERE chain_id = ?1 AND number BETWEEN ?2 AND ?3
    UNION SELECT number, hash FROM wallet_checkpoints WHERE chain_id = ?1 AND number BETWEEN ?2 AND ?3
    ORDER BY number
"""
_KEPT: Final = f"""
    SELECT DISTINCT block, log_index FROM wallet_movements WHERE chain_id = ? AND block BETWEEN ? AND ? AND {AMONG}
"""  # noqa: S608 - a constant
_UNVALUED: Final = """
    SELECT DISTINCT block, log_index, tx, contract, amount, at_ms FROM wallet_movements
    JOIN wallet_blocks ON wallet_blocks.chain_id = wallet_movements.chain_id AND number = block
    WHERE wallet_movements.chain_id = ? AND amount_usd IS NULL AND contract IN (SELECT value FROM json_each(?))
        AND (block, log_index) > (?, ?)
    ORDER BY block, log_index LIMIT ?
"""
_VALUED_AT_ONCE: Final = 1_000
_VALUE: Final = (
    "UPDATE wallet_movements SET amount_usd = ? WHERE chain_id = ? AND block = ? AND log_index = ? AND tx = ?"
)
_TELL: Final = """
    UPDATE wallet_tokens SET symbol = ?, decimals = ?, told = ?, asked_ms = ? WHERE chain_id = ? AND contract = ?
"""
_ADVANCE: Final = f"""
    UPDATE wallet_scans SET through_block = ? WHERE chain_id = ? AND through_block = ? AND {AMONG}
"""  # noqa: S608 - a constant


class Scan(Struct, frozen=True):
    """A wallet, and the blocks looked through for it: from `first` to `through`, none where that is one before."""

    address: str
    first: int
    through: int


class Range(Struct, frozen=True):
    """What was found in a range of blocks, for wallets that had all been looked through as far.

    Attributes:
        chain_id: The chain.
        addresses: The wallets.
        before: How far they had been looked through.
        last: The block that the range ends with: they are now, unless they had been further.
        blocks: Those in which something moved.
        moved: What moved.
    """

    chain_id: int
    addresses: Sequence[str]
    before: int
    last: Header
    blocks: Sequence[Header]
    moved: Sequence[Moved]


class OvertakenError(Exception):
    """Somebody else has written meanwhile: what was found does not fit what is kept any more. Nothing was changed."""


class WalletLedger:
    """Writes the package's tables, except the watchlist.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, origin: str) -> None:
        """Let go of what was read from another history.

        Raises:
            ServiceError: `UNAVAILABLE` if the store does not answer; so all of them.
        """

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM wallet_origin WHERE origin = ?", (origin,)).fetchone():
                return
            for table in _TABLES:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
            connection.execute(_TELL_OF, (origin,))

        await self._database.write(work)

    async def scans(self, chain_id: int) -> list[Scan]:
        """How far was looked for whom."""
        rows = await self._database.read(
            "SELECT address, first_block, through_block FROM wallet_scans WHERE chain_id = ? ORDER BY address",
            (chain_id,),
        )
        return [Scan(*row) for row in rows]

    async def follow(self, chain_id: int, added: Collection[str], first: int, dropped: Collection[str]) -> None:
        """Begin with wallets, and let go of others with all that moved there.

        Args:
            chain_id: The chain.
            added: Wallets not looked through yet.
            first: The block they begin with.
            dropped: Wallets that are not watched any more.
        """

        def work(connection: Connection) -> None:
            rows = [(address, first, first - 1) for address in added]
            insert_rows(connection, "INSERT INTO wallet_scans", rows, _UNLESS_KEPT, shared=(chain_id,))
            for table in ("wallet_scans", "wallet_movements"):
                gone = f"DELETE FROM {table} WHERE chain_id = ? AND {AMONG}"  # noqa: S608 - a constant
                connection.execute(gone, (chain_id, listed(dropped)))

        await self._database.write(work)

    async def known(self, chain_id: int, first: int, last: int) -> list[tuple[int, str]]:
        """Number and hash of the blocks known from one to another, both included, the lowest first."""
        return [
            (number, block_hash) for number, block_hash in await self._database.read(_KNOWN, (chain_id, first, last))
        ]

    async def moved_in(self, chain_id: int, addresses: Collection[str], first: int, last: int) -> list[tuple[int, int]]:
        """Block and log of each movement that is kept of these wallets in a range of blocks."""
        rows = await self._database.read(_KEPT, (chain_id, first, last, listed(addresses)))
        return [(block, log_index) for block, log_index in rows]

    async def add(self, found: Range) -> None:
        """Keep what was found, and that it was looked for, at once; what is kept already stays as it is.

        Raises:
            OvertakenError: If the wallets are not where they were, or a block is known by another hash.
        """

        def work(connection: Connection) -> None:
            _advance(connection, found)
            _add_blocks(connection, found)
            rows = [_row(each) for each in found.moved]
            shared = (found.chain_id,)
            insert_rows(connection, "INSERT INTO wallet_movements", rows, _UNLESS_KEPT, shared=shared)
            contracts = [(contract,) for contract in sorted({each.contract for each in found.moved})]
            head = "INSERT INTO wallet_tokens (chain_id, contract)"
            insert_rows(connection, head, contracts, _UNLESS_KEPT, shared=shared)

        await self._database.write(work)

    async def unvalued(
        self, chain_id: int, contracts: Collection[str], after: tuple[int, int] = (-1, -1)
    ) -> list[UnvaluedTransfer]:
        """The next thousand transfers of some contracts that have no value, the lowest block first.

        Args:
            chain_id: The chain.
            contracts: Addresses, in lower case.
            after: Block and place in the log of the last transfer that was read.
        """
        rows = await self._database.read(_UNVALUED, (chain_id, listed(contracts), *after, _VALUED_AT_ONCE))
        return [
            UnvaluedTransfer(block, log, tx, contract, int(amount), at_ms)
            for block, log, tx, contract, amount, at_ms in rows
        ]

    async def put_values(self, chain_id: int, values: Sequence[tuple[UnvaluedTransfer, float]]) -> None:
        """Store what transfers were worth, USD; one that is not there any more is passed over."""

        def work(connection: Connection) -> None:
            for transfer, value in values:
                connection.execute(_VALUE, (value, chain_id, transfer.block, transfer.log_index, transfer.tx))

        await self._database.write(work)

    async def roll_back(self, chain_id: int, wrong: tuple[int, str], fork: int) -> None:
        """Forget all that lies above a block, for the chain has gone on differently from there.

        Args:
            chain_id: The chain.
            wrong: Number and hash of a block that the chain does not hold any more.
            fork: The newest block that it still holds; -1 if none is known.

        Raises:
            OvertakenError: If the wrong block is not known (any more).
        """

        def work(connection: Connection) -> None:
            if wrong not in _known(connection, chain_id, wrong[0], wrong[0]):
                raise OvertakenError
            for table, column in (
                ("wallet_movements", "block"),
                ("wallet_blocks", "number"),
                ("wallet_checkpoints", "number"),
            ):
                above = f"DELETE FROM {table} WHERE chain_id = ? AND {column} > ?"  # noqa: S608 - a constant
                connection.execute(above, (chain_id, fork))
            connection.execute(
                "UPDATE wallet_scans SET through_block = max(?2, first_block - 1)"
                " WHERE chain_id = ?1 AND through_block > ?2",
                (chain_id, fork),
            )

        await self._database.write(work)

    async def prune(self, chain_id: int, before_ms: int) -> None:
        """Let go of checkpoints below the window but one, and of the oldest blocks that are older than an instant."""

        def work(connection: Connection) -> None:
            connection.execute(
                "DELETE FROM wallet_checkpoints WHERE chain_id = ?1 AND number <"
                " (SELECT max(number) FROM wallet_checkpoints WHERE chain_id = ?1 AND number <="
                " (SELECT max(number) FROM wallet_checkpoints WHERE chain_id = ?1) - ?2)"
                " AND number NOT IN (SELECT through_block FROM wallet_scans WHERE chain_id = ?1)",
                (chain_id, WINDOW),
            )
            (last,) = connection.execute(
                "SELECT max(number) FROM (SELECT number, at_ms FROM wallet_blocks WHERE chain_id = ?"
                " ORDER BY number LIMIT ?) AS oldest WHERE at_ms < ?",
                (chain_id, _OLDEST, before_ms),
            ).fetchone()
            if last is not None:
                _drop_through(connection, chain_id, last)

        await self._database.write(work)

    async def unasked(self, chain_id: int, now_ms: int, most: int) -> list[str]:
        """Contracts without known details that were not asked within an hour; never asked ones come first."""
        rows = await self._database.read(
            "SELECT contract FROM wallet_tokens WHERE chain_id = ?1 AND told = 0"
            " AND (asked_ms IS NULL OR asked_ms NOT BETWEEN ?2 - ?3 AND ?2)"
            " ORDER BY asked_ms NULLS FIRST, contract LIMIT ?4",
            (chain_id, now_ms, HOUR_MS, most),
        )
        return [contract for (contract,) in rows]

    async def contracts(self, chain_id: int, most: int) -> set[str]:
        """Contracts of which transfers were seen, those asked last first."""
        rows = await self._database.read(
            "SELECT contract FROM wallet_tokens WHERE chain_id = ? ORDER BY asked_ms DESC, contract LIMIT ?",
            (chain_id, most),
        )
        return {contract for (contract,) in rows}

    async def tell(self, chain_id: int, contract: str, token: TokenContract | None, now_ms: int) -> None:
        """Keep what a contract says of itself; null where no node had an answer."""
        said = (None, None, 0) if token is None else (token.symbol, token.decimals, 1)
        await self._database.write(lambda connection: connection.execute(_TELL, (*said, now_ms, chain_id, contract)))


def _row(moved: Moved) -> tuple[object, ...]:
    return (
        moved.block,
        moved.log_index,
        int(moved.incoming),
        moved.address,
        moved.contract,
        moved.counterparty,
        str(moved.amount),
        moved.amount_usd,
        moved.tx,
    )


def _known(connection: Connection, chain_id: int, first: int, last: int) -> list[tuple[int, str]]:
    return [(number, block_hash) for number, block_hash in connection.execute(_KNOWN, (chain_id, first, last))]


def _advance(connection: Connection, found: Range) -> None:
    """Move the wallets on, if they all are where they were."""
    through = max(found.before, found.last.number)
    values = (through, found.chain_id, found.before, listed(found.addresses))
    if connection.execute(_ADVANCE, values).rowcount != len(found.addresses):
        raise OvertakenError


def _add_blocks(connection: Connection, found: Range) -> None:
    numbers = {block.number: block.hash for block in (*found.blocks, found.last)}
    for number, block_hash in _known(connection, found.chain_id, min(numbers), max(numbers)):
        if numbers.get(number, block_hash) != block_hash:
            raise OvertakenError
    rows = [(block.number, block.hash, block.at_ms) for block in found.blocks]
    shared = (found.chain_id,)
    insert_rows(connection, "INSERT INTO wallet_blocks", rows, _UNLESS_KEPT, shared=shared)
    last = [(found.last.number, found.last.hash)]
    insert_rows(connection, "INSERT INTO wallet_checkpoints", last, _UNLESS_KEPT, shared=shared)


def _drop_through(connection: Connection, chain_id: int, last: int) -> None:
    connection.execute("DELETE FROM wallet_movements WHERE chain_id = ? AND block <= ?", (chain_id, last))
    connection.execute("DELETE FROM wallet_blocks WHERE chain_id = ? AND number <= ?", (chain_id, last))
    connection.execute(
        "UPDATE wallet_scans SET first_block = max(first_block, ?2 + 1), through_block = max(through_block, ?2)"
        " WHERE chain_id = ?1",
        (chain_id, last),
    )
