"""A node of the recorded chain; mounted under `/ethereum`: JSON-RPC by POST, refusing what public nodes refuse.

Sources: the execution API specification (methods, errors), geth (messages), EIP-1474 (codes); the limits are those that
public nodes publish.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from aiohttp import web

from service.clock import SECOND_MS
from service.upstream.replay.chain import Chain, Log, read_chain, transaction_hash
from service.upstream.replay.stage import Stage

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


def routes(stage: Stage) -> list[web.RouteDef]:
    """What is served, by paths below the mount point."""
    return [web.post("", _Node(stage).serve)]


class _Node:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
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
        told: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            asked = _read(await request.read(), _Request, _PARSE_ERROR)
            told["id"] = asked.id
            told["result"] = self._answer(asked)
        except _RefusalError as refusal:
            told["error"] = {"code": refusal.code, "message": str(refusal)}
        return web.Response(body=msgspec.json.encode(told), headers={"Content-Type": "application/json"})

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
        return [self._told(chain, log, head) for log in found]

    def _told(self, chain: Chain, log: Log, head: int) -> dict[str, object]:
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
