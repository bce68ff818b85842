"""Nodes of chains, which may be anybody's."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import msgspec

from service.payments.facilitators.rpc import EthereumRpc
from service.upstream.failures import UpstreamError
from service.upstream.http_client import Reply
from service.upstream.json_rpc import NodeError
from service.wallets.chain import TRANSFER, Header, Node
from service.wallets.range_reader import TooMuchError, read_range
from service.wallets.tokens import describe
from tests.fakes.clock import START_MS
from tests.fuzz.target import LARGEST, Target, check_sound, run
from tests.fuzz.targets.venues import Told

_HASH: Final = "0x" + "12" * 32
_WALLET: Final = "0x" + "34" * 20
_LAST: Final = Header(100, _HASH, START_MS)


class _Node:
    """Answers everything alike, but for the question's number."""

    def __init__(self, result: bytes) -> None:
        self._result = result

    async def post(self, _target: str, body: bytes) -> Reply:
        number = msgspec.json.decode(body)["id"]
        return Reply(200, b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (number, self._result))


class _Whole(_Node):
    async def post(self, _target: str, _body: bytes) -> Reply:
        return Reply(200, self._result)


def read_answers(data: bytes) -> None:
    """An answer, whole, and as the result of every question that payments ask."""
    for kind in (_Whole, _Node):
        for ask in _QUESTIONS:
            rpc = EthereumRpc(kind(data), "eip155:84532")  # type: ignore[arg-type]
            rpc._node._known = True
            with suppress(NodeError):
                run(ask(rpc))  # type: ignore[arg-type]


_QUESTIONS: Final[tuple[Callable[[EthereumRpc], Awaitable[Any]], ...]] = (
    lambda rpc: rpc.call(_WALLET, b""),
    lambda rpc: rpc.estimate(_WALLET, b"", _WALLET),
    lambda rpc: rpc.block("latest"),
    lambda rpc: rpc.tip(),
    lambda rpc: rpc.sent_by(_WALLET, waiting=True),
    lambda rpc: rpc.mined(_HASH),
    lambda rpc: rpc.logs(_WALLET, [TRANSFER], 0, 100),
)


def read_transfers(data: bytes) -> None:
    """What wallets are followed by: blocks, transfers, tokens."""
    for body in (data, b'{"jsonrpc":"2.0","id":1,"result":%b}' % data):
        for ask in (_head, _range, _token):
            with suppress(UpstreamError, NodeError, TooMuchError):
                run(ask(Node(Told(body))))


async def _head(node: Node) -> None:
    check_sound(await node.newest())


async def _range(node: Node) -> None:
    reading = await read_range(node, [_WALLET], 0, _LAST)
    for transfer in reading.transfers:
        # Amounts are of 256 bits, and are kept as text.
        assert 0 <= transfer.amount < 2**256
        assert 0 <= transfer.log_index < LARGEST
        check_sound([transfer.block, transfer.at_ms, transfer.tx])


async def _token(node: Node) -> None:
    check_sound(await describe(node, _WALLET))


def _log(**changed: object) -> dict[str, object]:
    return {
        "address": _WALLET,
        "topics": [TRANSFER, "0x" + "0" * 24 + _WALLET[2:], "0x" + "0" * 24 + "56" * 20],
        "data": "0x" + "0" * 60 + "1234",
        "blockNumber": "0x64",
        "blockHash": _HASH,
        "transactionHash": _HASH,
        "logIndex": "0x1",
        "blockTimestamp": hex(START_MS // 1_000),
        **changed,
    }


def _answers() -> Iterable[bytes]:
    results: list[object] = [
        "0x1234",
        None,
        [_log()],
        {"number": "0x64", "hash": _HASH, "timestamp": "0x64000000", "baseFeePerGas": "0x7"},
        {"transactionHash": _HASH, "status": "0x1", "blockNumber": "0x64", "logs": [_log()]},
    ]
    yield from map(msgspec.json.encode, results)
    yield from (msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "result": result}) for result in results)
    failure = {"code": 3, "message": "execution reverted", "data": "0x08c379a0" + "00" * 31 + "20" + "00" * 31 + "0161"}
    yield msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "error": failure})


TARGETS = (
    Target("chains.answers", read_answers, _answers, is_json=True),
    Target("chains.transfers", read_transfers, _answers, is_json=True),
)
