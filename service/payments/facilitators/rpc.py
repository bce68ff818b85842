"""JSON-RPC client of an Ethereum node. Answers are decoded strictly."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct

from service.payments.networks import ChainId
from service.upstream.http_client import HttpClient, open_http_client
from service.upstream.json_rpc import Data, Hash, NodeError, Quantity, RpcNode

_DEADLINE_S: Final = 5.0
_LARGEST_ANSWER: Final = 1024 * 1024
_WITHOUT_TRANSACTIONS: Final = False


class Block(Struct, frozen=True):
    """The head of a block: `time_s` is epoch seconds, `base_fee` wei a gas."""

    number: int
    time_s: int
    base_fee: int


class EventLog(Struct, frozen=True, rename="camel"):
    """An event of a contract."""

    address: Data
    topics: list[Hash]
    data: Data
    block_number: Quantity
    transaction_hash: Hash
    log_index: Quantity
    removed: bool = False


class MinedTransaction(Struct, frozen=True):
    """What came of a transaction that is in a block."""

    succeeded: bool
    block: int
    logs: list[EventLog]


class _Header(Struct, rename="camel"):
    number: Quantity
    timestamp: Quantity
    base_fee_per_gas: Quantity


class _Receipt(Struct, rename="camel"):
    transaction_hash: Hash
    status: Quantity
    block_number: Quantity
    logs: list[EventLog]


class EthereumRpc:
    """One node. Its chain id is checked before anything else is asked.

    Args:
        node: HTTP client of the node.
        chain: The expected chain.
    """

    def __init__(self, node: HttpClient, chain: ChainId) -> None:
        self.chain = chain
        self.chain_id = int(chain.removeprefix("eip155:"))
        self._node = RpcNode(node, self.chain_id)

    async def call(self, to: str, data: bytes, *, sender: str | None = None, at: int | None = None) -> bytes:
        """Run a call after a block (the newest by default) without sending it; what it returned.

        Raises:
            RevertedError: If the contract refuses it.
            NodeError: If the node does not tell.
        """
        answer = await self._node.ask("eth_call", Data, _call(to, data, sender), "latest" if at is None else hex(at))
        return bytes.fromhex(answer[2:])

    async def estimate(self, to: str, data: bytes, sender: str) -> int:
        """Gas that a call needs; raises as `call`."""
        return int(await self._node.ask("eth_estimateGas", Quantity, _call(to, data, sender)), 16)

    async def block(self, which: str | int) -> Block:
        """The head of a block, by number or by name (`latest`, `finalized`)."""
        tag = which if isinstance(which, str) else hex(which)
        header = await self._node.ask("eth_getBlockByNumber", _Header, tag, _WITHOUT_TRANSACTIONS)
        return Block(int(header.number, 16), int(header.timestamp, 16), int(header.base_fee_per_gas, 16))

    async def tip(self) -> int:
        """What block makers are given beside the base fee these days, wei a gas."""
        return int(await self._node.ask("eth_maxPriorityFeePerGas", Quantity), 16)

    async def balance(self, address: str) -> int:
        """An account's ether, in wei."""
        return int(await self._node.ask("eth_getBalance", Quantity, address, "latest"), 16)

    async def sent_by(self, address: str, *, waiting: bool) -> int:
        """How many transactions of an account are in blocks; with those that wait to be, if asked so."""
        tag = "pending" if waiting else "latest"
        return int(await self._node.ask("eth_getTransactionCount", Quantity, address, tag), 16)

    async def send(self, raw: bytes) -> None:
        """Hand a signed transaction over.

        Raises:
            NodeError: If the node did not say that it took it. It may have: only the chain tells.
        """
        await self._node.ask("eth_sendRawTransaction", Hash, "0x" + raw.hex())

    async def mined(self, transaction: str) -> MinedTransaction | None:
        """What came of a transaction; nothing if it is in no block."""
        receipt = await self._node.ask("eth_getTransactionReceipt", _Receipt | None, transaction)
        if receipt is None:
            return None
        if receipt.transaction_hash.lower() != transaction:
            raise NodeError("The node returned another transaction.")
        return MinedTransaction(int(receipt.status, 16) == 1, int(receipt.block_number, 16), receipt.logs)

    async def logs(self, address: str, topics: Sequence[str | Sequence[str]], first: int, last: int) -> list[EventLog]:
        """Events of a contract from one block to another, both included; a list of topics stands for any of them."""
        wanted = {"address": address, "topics": topics, "fromBlock": hex(first), "toBlock": hex(last)}
        found: list[EventLog] = await self._node.ask("eth_getLogs", list[EventLog], wanted)
        return found


@asynccontextmanager
async def open_rpc(url: str, chain: ChainId) -> AsyncIterator[EthereumRpc]:
    """Open a way to a node; nothing is asked yet.

    Args:
        url: Of its JSON-RPC. It may hold a key: it never reaches an error or a log.
        chain: The chain it should be on.
    """
    async with open_http_client("node", url, deadline_s=_DEADLINE_S, most=_LARGEST_ANSWER) as node:
        yield EthereumRpc(node, chain)


def _call(to: str, data: bytes, sender: str | None) -> dict[str, str]:
    call = {"to": to, "data": "0x" + data.hex()}
    return call if sender is None else {**call, "from": sender}
