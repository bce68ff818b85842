"""A node of the recorded EVM chain, mounted under `/ethereum`: JSON-RPC by POST with the limits of public nodes.

Sources: the execution API specification (methods, errors), geth (messages), EIP-1474 (codes).
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

import msgspec
from aiohttp import web

from service.clock import SECOND_MS
from service.upstream.replay.history import ReplayContext

SEGMENT_FILE: Final = "chain/segment.json"
LOGS_FILE: Final = "chain/logs.json"
ORPHANS_FILE: Final = "chain/orphans.json"
WALLETS_FILE: Final = "chain/wallets.toml"
"""The wallets that are watched unless another file is named."""

BLOCK_S: Final = 12


class Log(msgspec.Struct, frozen=True, array_like=True):
    """An event in a block. `transaction` numbers it through the recording, `place` within its block, from 0."""

    block: int
    place: int
    index: int
    transaction: int
    address: str
    topics: list[str]
    data: str


class RecordedRange(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded beside the events.

    Attributes:
        chain_id: The chain's number (EIP-155).
        first_block: The first block recorded; one follows in `BLOCK_S` seconds.
        first_s: Its recorded time, epoch seconds.
        fork: The last block that both branches share.
        orphaned: Blocks after it that were replaced once the next one was there: `logs` has what replaced them,
            `orphans` what stood there before.
        answers: Contract → call data → what the call returns. A contract reverts on everything else.
    """

    chain_id: int
    first_block: int
    first_s: int
    fork: int
    orphaned: int
    answers: Mapping[str, Mapping[str, str]]


class Chain:
    """The chain as a node tells it.

    Args:
        segment: What is recorded beside the events.
        logs: Events of the chain, by block and index.
        orphans: Events of the blocks that were replaced, likewise.
    """

    def __init__(self, segment: RecordedRange, logs: Sequence[Log], orphans: Sequence[Log]) -> None:
        self.segment = segment
        self._logs = logs
        fork = _count_before(logs, segment.fork + 1)
        self._logs_before = [*logs[:fork], *orphans]

    def head(self, now_ms: int) -> int:
        """The newest block at an instant of recorded time."""
        return self.segment.first_block + (now_ms // SECOND_MS - self.segment.first_s) // BLOCK_S

    def time_s(self, block: int) -> int:
        """When a block was made, recorded time in epoch seconds."""
        return self.segment.first_s + (block - self.segment.first_block) * BLOCK_S

    def hash(self, block: int, head: int) -> str:
        """A block's hash, as long as the head is there."""
        stands = block <= self.segment.fork or self._is_settled(head)
        return _digest(f"block {block}" if stands else f"orphan {block}")

    def logs(self, first: int, last: int, head: int) -> Sequence[Log]:
        """Events from one block to another, both included, as long as the head is there."""
        logs = self._logs if self._is_settled(head) else self._logs_before
        return logs[_count_before(logs, first) : _count_before(logs, last + 1)]

    def _is_settled(self, head: int) -> bool:
        return head > self.segment.fork + self.segment.orphaned


def read_chain(files: Mapping[str, bytes]) -> Chain | None:
    """The chain of a fixture set; none where the set has none.

    Args:
        files: Path below the fixture set → content, unpacked.
    """
    if SEGMENT_FILE not in files:
        return None
    logs, orphans = (msgspec.json.decode(files[file], type=list[Log]) for file in (LOGS_FILE, ORPHANS_FILE))
    return Chain(msgspec.json.decode(files[SEGMENT_FILE], type=RecordedRange), logs, orphans)


def transaction_hash(transaction: int) -> str:
    """The hash of a transaction: the same in whatever block it is."""
    return _digest(f"transaction {transaction}")


def _count_before(logs: Sequence[Log], block: int) -> int:
    return bisect_left(logs, block, key=lambda log: log.block)


def _digest(named: str) -> str:
    """Recorded blocks are not whole, so what they would hash to is made up: of 32 bytes, and never twice."""
    return "0x" + sha256(f"verdict fixtures, {named}".encode()).hexdigest()


MOST_BLOCKS: Final = 2_000
MOST_LOGS: Final = 10_000

_LATEST: Final = "latest"
_PARSE_ERROR: Final = -32_700
_METHOD_NOT_FOUND: Final = -32_601
_INVALID_PARAMS: Final = -32_602
_LIMIT_EXCEEDED: Final = -32_005
_REVERTED: Final = 3
_GAS_LIMIT: Final = hex(45_000_000)
_NOTHING: Final = "0x"
_QUANTITY: Final = re.compile(r"0x[0-9a-f]{1,16}\Z")


class _Request(msgspec.Struct):
    method: str
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw(b"[]")


class _Filter(msgspec.Struct, rename="camel"):
    from_block: str = _LATEST
    to_block: str = _LATEST
    address: str | list[str] | None = None
    topics: Sequence[str | list[str] | None] = ()


class _Call(msgspec.Struct):
    to: str
    data: str


class _RefusalError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, by paths below the mount point."""
    return [web.post("", _Node(context).serve)]


class _Node:
    def __init__(self, context: ReplayContext) -> None:
        self._stage = context
        self._methods: Mapping[str, Callable[[Chain, msgspec.Raw], object]] = {
            "eth_chainId": lambda chain, _: hex(chain.segment.chain_id),
            "eth_blockNumber": lambda chain, _: hex(self._head(chain)),
            "eth_getBlockByNumber": self._block,
            "eth_getLogs": self._logs,
            "eth_call": _call,
        }

    @cached_property
    def _chain(self) -> Chain | None:
        return read_chain(self._stage.files)

    async def serve(self, request: web.Request) -> web.Response:
        """Answer one question; status 200 whatever the answer is."""
        response: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = _read(await request.read(), _Request, _PARSE_ERROR)
            response["id"] = asked.id
            response["result"] = self._answer(asked)
        except _RefusalError as refusal:
            response["error"] = {"code": refusal.code, "message": str(refusal)}
        return web.Response(body=msgspec.json.encode(response), headers={"Content-Type": "application/json"})

    def _answer(self, asked: _Request) -> object:
        method = self._methods.get(asked.method)
        if self._chain is None or method is None:
            raise _RefusalError(_METHOD_NOT_FOUND, f"the method {asked.method} does not exist/is not available")
        return method(self._chain, asked.params)

    def _head(self, chain: Chain) -> int:
        return chain.head(self._stage.now()[0])

    def _block(self, chain: Chain, params: msgspec.Raw) -> object:
        tag, _ = _read(params, tuple[str, bool])
        head = self._head(chain)
        number = _number(tag, head)
        return None if number > head else self._written(chain, number, head)

    def _written(self, chain: Chain, number: int, head: int) -> dict[str, object]:
        """A block with the hashes of its transactions, as far as it is recorded."""
        logs = chain.logs(number, number, head)
        return {
            "number": hex(number),
            "hash": chain.hash(number, head),
            "parentHash": chain.hash(number - 1, head),
            "timestamp": hex(self._time_s(chain, number)),
            "baseFeePerGas": hex(10**9),
            "gasLimit": _GAS_LIMIT,
            "gasUsed": hex(65_000 * len(logs)),
            "transactions": list(dict.fromkeys(transaction_hash(log.transaction) for log in logs)),
        }

    def _time_s(self, chain: Chain, number: int) -> int:
        return chain.time_s(number) + self._stage.now()[1] // SECOND_MS

    def _logs(self, chain: Chain, params: msgspec.Raw) -> object:
        (asked,) = _read(params, tuple[_Filter])
        head = self._head(chain)
        first, last = _number(asked.from_block, head), _number(asked.to_block, head)
        if first > last:
            raise _RefusalError(_INVALID_PARAMS, "invalid block range params")
        if last > head:
            raise _RefusalError(_INVALID_PARAMS, "block range extends beyond current head block")
        if last - first >= MOST_BLOCKS:
            raise _RefusalError(_INVALID_PARAMS, f"exceed maximum block range: {MOST_BLOCKS}")
        found = [log for log in chain.logs(first, last, head) if _matches(log, asked)]
        if len(found) > MOST_LOGS:
            raise _RefusalError(_LIMIT_EXCEEDED, f"query returned more than {MOST_LOGS} results")
        return [self._log_json(chain, log, head) for log in found]

    def _log_json(self, chain: Chain, log: Log, head: int) -> dict[str, object]:
        return {
            "address": log.address,
            "topics": log.topics,
            "data": log.data,
            "blockNumber": hex(log.block),
            "transactionHash": transaction_hash(log.transaction),
            "transactionIndex": hex(log.place),
            "blockHash": chain.hash(log.block, head),
            "blockTimestamp": hex(self._time_s(chain, log.block)),
            "logIndex": hex(log.index),
            "removed": False,
        }


def _call(chain: Chain, params: msgspec.Raw) -> str:
    asked, _ = _read(params, tuple[_Call, str])
    answers = chain.segment.answers.get(asked.to.lower())
    if answers is None:
        return _NOTHING  # where there is no code, every call succeeds and returns nothing
    if asked.data not in answers:
        raise _RefusalError(_REVERTED, "execution reverted")
    return answers[asked.data]


def _matches(log: Log, asked: _Filter) -> bool:
    """Whether an event is wanted: nothing stands for any address or topic, a list for each of its members."""
    if len(log.topics) < len(asked.topics):
        return False
    return _is_among(log.address, asked.address) and all(
        _is_among(topic, wanted) for topic, wanted in zip(log.topics, asked.topics, strict=False)
    )


def _is_among(value: str, wanted: str | list[str] | None) -> bool:
    if wanted is None or wanted == []:
        return True
    return value in ([wanted.lower()] if isinstance(wanted, str) else [each.lower() for each in wanted])


def _read(text: bytes | msgspec.Raw, kind: Any, code: int = _INVALID_PARAMS) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _RefusalError(code, f"invalid argument: {error}") from error


def _number(tag: str, head: int) -> int:
    if tag == _LATEST:
        return head
    if not _QUANTITY.match(tag):
        raise _RefusalError(_INVALID_PARAMS, "invalid argument: cannot unmarshal hex number")
    return int(tag, 16)
