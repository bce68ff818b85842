"""One node of a chain, asked by JSON-RPC: blocks, transfers of tokens, calls. It may be anybody's, and is not believed.

Sources: https://ethereum.github.io/execution-apis, https://eips.ethereum.org/EIPS/eip-20.

Some public nodes refuse `eth_getLogs` without `address`: publicnode answers error -32701, "Please specify an address
in your request" (reported in 2025 and 2026). Such a node is asked by contract, in chunks, for the known contracts.
"""

import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from service.clock import LATEST_MS, SECOND_MS
from service.upstream.failures import UpstreamError
from service.upstream.json_rpc import (
    ANSWERS,
    Data,
    Hash,
    NodeError,
    Quantity,
    RevertedError,
    RpcAnswer,
    rpc_question,
    rpc_result,
)
from service.upstream.session import Decoder, Fetched

TRANSFER: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""`Transfer(address,address,uint256)`: of ERC-20 with three topics, of ERC-721 with four."""

LARGEST: Final = 2**53
"""Block and log numbers lie below: what is larger is no chain's, and not every reader of JSON could hold it."""

_WEIGHT: Final = 1
_QUESTION: Final = 1
_ANSWERED: Final = 200
_WITHOUT_TRANSACTIONS: Final = False
_TOPICS: Final = 3
_WORD: Final = 66
"""Characters of 32 bytes in hexadecimal, with 0x."""

CONTRACTS_AT_ONCE: Final = 50
"""Contracts in one request to a node that wants them named."""

_WANTS_ADDRESS: Final = re.compile(r"-32701|specify an address|missing field .?address", re.IGNORECASE)
_log: Final = logging.getLogger("verdict.wallets")

_PADDING: Final = "0x" + 24 * "0"


class Header(Struct, frozen=True):
    """A block: its number, its hash in lower case, and its own time."""

    number: int
    hash: str
    at_ms: int


class Transfer(Struct, frozen=True):
    """An ERC-20 transfer as its contract logged it; addresses and hashes in lower case.

    `log_index` counts within the block; `amount` is in the contract's smallest units; `at_ms` is the block's time,
    null where the node does not tell it with its logs (geth does since 1.16).
    """

    block: int
    block_hash: str
    at_ms: int | None
    log_index: int
    tx: str
    contract: str
    sender: str
    recipient: str
    amount: int


class NodeSession(Protocol):
    """How a node is reached: what is used of `UpstreamSession`."""

    name: str

    async def post_json(
        self, path: str, payload: object, *, weight: int, decoder: Decoder[RpcAnswer]
    ) -> Fetched[RpcAnswer]:
        """Ask, and decode the answer."""


class _Header(Struct):
    number: Quantity
    hash: Hash
    timestamp: Quantity


class _Log(Struct, rename="camel"):
    address: Data
    topics: list[Hash]
    data: Data
    block_number: Quantity
    block_hash: Hash
    transaction_hash: Hash
    log_index: Quantity
    block_timestamp: Quantity | None = None
    removed: bool = False


class Node:
    """One node.

    Args:
        session: The way to it.

    Attributes:
        by_contract: Whether it refuses `eth_getLogs` without contracts; then it tells of `contracts` alone.
        contracts: Addresses in lower case that such a node is asked for.
    """

    def __init__(self, session: NodeSession) -> None:
        self.name = session.name
        self.by_contract = False
        self.contracts: Collection[str] = ()
        self._session = session
        self._chain_id: int | None = None

    async def chain_id(self) -> int:
        """Which chain it is on (EIP-155); asked once.

        Raises:
            UpstreamError: If there is no usable answer; so all of them.
        """
        if self._chain_id is None:
            self._chain_id = self._small(await self._ask("eth_chainId", Quantity))
        return self._chain_id

    async def newest(self) -> Header:
        """Its newest block."""
        found = await self._block("latest")
        if found is None:
            raise self.lie("the node has no newest block")
        return found

    async def header(self, number: int) -> Header | None:
        """A block; none where the node has not got that far."""
        found = await self._block(hex(number))
        if found is not None and found.number != number:
            raise self.lie("the node told of another block")
        return found

    async def transfers(self, first: int, last: int, *, out_of: Sequence[str], into: Sequence[str]) -> list[Transfer]:
        """ERC-20 transfers in blocks from one to another, both included.

        Args:
            first: The first block.
            last: The last block.
            out_of: Senders looked for; none for any.
            into: Recipients looked for; none for any.
        """
        topics = [TRANSFER, _padded(out_of), _padded(into)]
        asked = {"fromBlock": hex(first), "toBlock": hex(last), "topics": topics}
        logs = await (self._logs_by_contract(asked) if self.by_contract else self._logs(asked))
        transfers = [transfer for log in logs if not log.removed and (transfer := self._transfer(log)) is not None]
        for transfer in transfers:
            sought = (not out_of or transfer.sender in out_of) and (not into or transfer.recipient in into)
            if not sought or not first <= transfer.block <= last:
                raise self.lie("the node told of a transfer that it was not asked for")
        return transfers

    async def _logs(self, asked: Mapping[str, object]) -> list[_Log]:
        """Logs of every contract."""
        try:
            logs: list[_Log] = await self._ask("eth_getLogs", list[_Log], asked)
        except UpstreamError as error:
            if _WANTS_ADDRESS.search(error.body):
                self.by_contract = True
                _log.warning("%s answers eth_getLogs only by contract", self.name, extra={"upstream": self.name})
            raise
        return logs

    async def _logs_by_contract(self, asked: Mapping[str, object]) -> list[_Log]:
        """Logs of the known contracts, a chunk of them at a time."""
        found: list[_Log] = []
        contracts = sorted(self.contracts)
        for start in range(0, len(contracts), CONTRACTS_AT_ONCE):
            some = contracts[start : start + CONTRACTS_AT_ONCE]
            logs: list[_Log] = await self._ask("eth_getLogs", list[_Log], {**asked, "address": some})
            if any(log.address.lower() not in some for log in logs):
                raise self.lie("the node told of a contract that it was not asked for")
            found += logs
        return found

    async def call(self, to: str, data: str) -> bytes:
        """Run a call after the newest block.

        Raises:
            RevertedError: If the contract refuses it.
            UpstreamError: If the node does not tell.
        """
        try:
            answer: str = await self._put("eth_call", Data, {"to": to, "data": data}, "latest")
        except RevertedError:
            raise
        except NodeError as error:
            raise self.lie(str(error)) from error
        return bytes.fromhex(answer[2:])

    def lie(self, what: str) -> UpstreamError:
        """What is raised when it has answered, and that cannot be so; ours to say, and safe to repeat."""
        return UpstreamError(self.name, _ANSWERED, what.encode())

    async def _block(self, tag: str) -> Header | None:
        found: _Header | None = await self._ask("eth_getBlockByNumber", _Header | None, tag, _WITHOUT_TRANSACTIONS)
        if found is None:
            return None
        return Header(self._small(found.number), found.hash.lower(), self._time_ms(found.timestamp))

    def _transfer(self, log: _Log) -> Transfer | None:
        """Read a log; none where it is no transfer of a fungible token: an NFT's, or of a contract of its own mind."""
        topics = [topic.lower() for topic in log.topics]
        if not topics or topics[0] != TRANSFER:
            raise self.lie("the node told of an event that it was not asked for")
        fungible = len(topics) == _TOPICS and len(log.data) == _WORD
        if not fungible or not all(topic.startswith(_PADDING) for topic in topics[1:]):
            return None
        return Transfer(
            block=self._small(log.block_number),
            block_hash=log.block_hash.lower(),
            at_ms=None if log.block_timestamp is None else self._time_ms(log.block_timestamp),
            log_index=self._small(log.log_index),
            tx=log.transaction_hash.lower(),
            contract=self._address(log.address),
            sender="0x" + topics[1][len(_PADDING) :],
            recipient="0x" + topics[2][len(_PADDING) :],
            amount=int(log.data, 16),
        )

    def _address(self, text: str) -> str:
        if len(text) != _WORD - len(_PADDING) + 2:
            raise self.lie("the node told of no address")
        return text.lower()

    def _time_ms(self, quantity: str) -> int:
        at_ms = int(quantity, 16) * SECOND_MS
        if at_ms > LATEST_MS:
            raise self.lie("the node told of no time")
        return at_ms

    def _small(self, quantity: str) -> int:
        number = int(quantity, 16)
        if number >= LARGEST:
            raise self.lie("the node told a number that is none of a chain's")
        return number

    async def _ask(self, method: str, kind: Any, *parameters: object) -> Any:
        try:
            return await self._put(method, kind, *parameters)
        except NodeError as error:
            raise self.lie(str(error)) from error

    async def _put(self, method: str, kind: Any, *parameters: object) -> Any:
        payload = rpc_question(_QUESTION, method, *parameters)
        fetched = await self._session.post_json("", payload, weight=_WEIGHT, decoder=ANSWERS)
        return rpc_result(fetched.value, _QUESTION, method, kind)


def _padded(addresses: Iterable[str]) -> list[str] | None:
    """Addresses as topics; none stand for any."""
    return [_PADDING + address[2:] for address in addresses] or None
