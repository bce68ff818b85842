"""What moved in and out of wallets, and what tokens say of themselves, as it is read from the database."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from service.storage.database import Database
from service.wire.cursor import Position
from service.wire.envelope import encode

_NEWEST: Final = (2**62, 0)
AMONG: Final = "address IN (SELECT value FROM json_each(?))"
_MOVEMENTS: Final = """
    SELECT block, log_index, incoming, address, contract, counterparty, amount, amount_usd, tx, at_ms
    FROM wallet_movements INDEXED BY {index} JOIN wallet_blocks
        ON wallet_blocks.chain_id = wallet_movements.chain_id AND number = block
    WHERE wallet_movements.chain_id = ? AND contract = ? AND {whose}
        AND (block, 2 * log_index + incoming) < (?, ?) AND block <= ?
    ORDER BY block DESC, log_index DESC, incoming DESC LIMIT ?
"""
# Named, since SQLite takes the table's own order for this: right for what moves often, all rows for what never did.
_OF_ONE: Final = _MOVEMENTS.format(index="wallet_movements_of_wallet", whose="address = ?")
_OF_MANY: Final = _MOVEMENTS.format(index="wallet_movements_of_contract", whose=AMONG)
_LARGEST: Final = f"""
    SELECT block, log_index, incoming, address, moved.contract, counterparty, amount, amount_usd, tx, at_ms,
        symbol, decimals, count(*) OVER ()
    FROM wallet_movements AS moved
    JOIN wallet_blocks ON wallet_blocks.chain_id = ?1 AND number = block
    LEFT JOIN wallet_tokens ON wallet_tokens.chain_id = ?1 AND wallet_tokens.contract = moved.contract
    WHERE moved.chain_id = ?1 AND at_ms >= ?3 AND amount_usd IS NOT NULL AND {AMONG.replace("?", "?2")}
        AND NOT (incoming = 1 AND counterparty IN (SELECT value FROM json_each(?2)))
    ORDER BY amount_usd DESC, block DESC, log_index DESC, address LIMIT ?4
"""  # noqa: S608 - a constant
_COUNT: Final = f"SELECT count(*) FROM wallet_movements WHERE chain_id = ? AND contract = ? AND {AMONG}"  # noqa: S608
_TOKENS: Final = f"""
    SELECT address, moved.contract, symbol, decimals, movements, at_ms
    FROM (
        SELECT address, contract, count(*) AS movements, max(block) AS last
        FROM wallet_movements WHERE chain_id = ?1 AND {AMONG.replace("?", "?2")} GROUP BY address, contract
    ) AS moved
    JOIN wallet_blocks ON wallet_blocks.chain_id = ?1 AND number = last
    LEFT JOIN wallet_tokens ON wallet_tokens.chain_id = ?1 AND wallet_tokens.contract = moved.contract
    ORDER BY last DESC, moved.contract, address
"""  # noqa: S608 - a constant


class Scanned(Struct, frozen=True):
    """How far a chain has been read: its head, and the block up to which every watched wallet was looked through."""

    chain_id: int
    head: int
    through: int


class Moved(Struct, frozen=True):
    """A transfer in or out of a watched wallet; `amount` in the contract's smallest units, `at_ms` the block's time."""

    block: int
    log_index: int
    incoming: bool
    address: str
    contract: str
    counterparty: str
    amount: int
    amount_usd: float | None
    tx: str
    at_ms: int

    @property
    def position(self) -> Position:
        """Where it stands among all of a chain's, for cursors."""
        return self.block, 2 * self.log_index + self.incoming


class TokenContract(Struct, frozen=True):
    """What a contract says of itself; null where it does not, or was not asked yet."""

    contract: str
    symbol: str | None
    decimals: int | None


class TokenMoved(Struct, frozen=True):
    """A token that moved in or out of one wallet."""

    contract: str
    symbol: str | None
    decimals: int | None
    movements: int
    last_ms: int


class WalletStore:
    """Reads the package's tables, except the watchlist.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def movements(
        self, chain_id: int, contract: str, addresses: Collection[str], limit: int, before: Position | None = None
    ) -> list[Moved]:
        """Movements of a token in and out of wallets, the newest first.

        Args:
            chain_id: The chain.
            contract: The token's, in lower case.
            addresses: The wallets, in lower case.
            limit: The most that are wanted.
            before: The position of the last one seen; null to begin with the newest.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read; so all of them.
        """
        block, place = before or _NEWEST
        statement, whose = _OF_MANY, listed(addresses)
        if len(addresses) == 1:
            statement, (whose,) = _OF_ONE, addresses
        rows = await self._database.read(statement, (chain_id, contract, whose, block, place, block, limit))
        return [_moved(row) for row in rows]

    async def largest(
        self, chain_id: int, addresses: Collection[str], since_ms: int, limit: int
    ) -> tuple[list[tuple[Moved, TokenContract]], int]:
        """Movements of any token in and out of wallets that are worth most, and how many have a worth.

        A transfer between two of the wallets is one, out of the sender's.

        Args:
            chain_id: The chain.
            addresses: The wallets, in lower case.
            since_ms: The first instant that counts.
            limit: The most that are wanted.
        """
        rows = await self._database.read(_LARGEST, (chain_id, listed(addresses), since_ms, limit))
        found = [(_moved(row), TokenContract(row[4], row[10], row[11])) for *row, _ in rows]
        return found, int(rows[0][-1]) if rows else 0

    async def count(self, chain_id: int, contract: str, addresses: Collection[str]) -> int:
        """How many movements of a token in and out of wallets there are."""
        ((count,),) = await self._database.read(_COUNT, (chain_id, contract, listed(addresses)))
        return int(count)

    async def tokens(self, chain_id: int, addresses: Collection[str]) -> Mapping[str, list[TokenMoved]]:
        """What moved in and out of each wallet, by its address, the last moved first."""
        tokens: dict[str, list[TokenMoved]] = {}
        for address, *rest in await self._database.read(_TOKENS, (chain_id, listed(addresses))):
            tokens.setdefault(address, []).append(TokenMoved(*rest))
        return tokens

    async def token(self, chain_id: int, contract: str) -> TokenContract:
        """What a contract says of itself."""
        rows = await self._database.read(
            "SELECT contract, symbol, decimals FROM wallet_tokens WHERE chain_id = ? AND contract = ?",
            (chain_id, contract),
        )
        return TokenContract(*rows[0]) if rows else TokenContract(contract, None, None)


def listed(addresses: Collection[str]) -> str:
    """Addresses as `AMONG` takes them: one parameter, however many they are."""
    return encode(list(addresses)).decode()


def _moved(row: Sequence[Any]) -> Moved:
    block, log_index, incoming, address, contract, counterparty, amount, amount_usd, tx, at_ms = row[:10]
    return Moved(block, log_index, bool(incoming), address, contract, counterparty, int(amount), amount_usd, tx, at_ms)
