"""The chain behind JSON-RPC on loopback, as web3 and viem ask for it; a thread of its own, so that anybody may ask."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from eth_utils import to_canonical_address, to_checksum_address

from tests.chain.evm import CHAIN_ID, GAS_OF_A_CALL, Evm, EvmError, Mined

Fault = Callable[[str, list[Any]], Any]
"""Given method and parameters: `PASS` to have it answered, or what to answer instead. It may raise: an `EvmError` is
told as such; `HungUp` closes the connection without a word, after the thing is done if it says so.
"""

PASS = object()


class HungUp(Exception):  # noqa: N818 it is what the node does
    """The node does not answer."""

    def __init__(self, *, done: bool = False) -> None:
        super().__init__()
        self.done = done


class Node:
    """JSON-RPC over one chain.

    Attributes:
        asked: The methods that were asked for, in order.
        fault: May answer in the chain's stead.
    """

    def __init__(self, evm: Evm) -> None:
        self.evm = evm
        self.url = ""
        self.asked: list[str] = []
        self.fault: Fault = lambda _method, _parameters: PASS
        self._lock = threading.RLock()

    @contextmanager
    def held(self) -> Iterator[Evm]:
        """The chain, while nobody else asks it."""
        with self._lock:
            yield self.evm

    def answer(self, question: Any) -> dict[str, Any]:
        """Answer one question.

        Raises:
            HungUp: If it is not to be answered.
        """
        head = {"jsonrpc": "2.0", "id": question.get("id")}
        with self._lock:
            try:
                return {**head, "result": self._do(question["method"], question.get("params") or [])}
            except EvmError as error:
                said: dict[str, Any] = {"code": error.code, "message": str(error)}
                if error.data is not None:
                    said["data"] = _hex(error.data) if isinstance(error.data, bytes) else error.data
                return {**head, "error": said}

    def _do(self, method: str, parameters: list[Any]) -> Any:
        self.asked.append(method)
        try:
            instead = self.fault(method, parameters)
        except HungUp as hung_up:
            if hung_up.done:
                self.told(method, parameters)
            raise
        return self.told(method, parameters) if instead is PASS else instead

    def told(self, method: str, parameters: list[Any]) -> Any:
        """What the chain itself answers."""
        asked = self._METHODS.get(method)
        if asked is None:
            raise EvmError(f"the method {method} does not exist/is not available", -32601)
        return asked(self, *parameters)

    def _number(self, tag: str) -> int:
        evm = self.evm
        named = {"latest": len(evm.blocks) - 1, "pending": len(evm.blocks) - 1, "earliest": 0}
        named |= {"safe": evm.finalized, "finalized": evm.finalized}
        return named[tag] if tag in named else int(tag, 16)

    def _block(self, tag: str, whole: bool = False) -> dict[str, Any] | None:
        number = self._number(tag)
        return _block(self.evm.blocks[number], whole) if number < len(self.evm.blocks) else None

    def _block_by_hash(self, block_hash: str, whole: bool = False) -> dict[str, Any] | None:
        found = [mined for mined in self.evm.blocks if _hex(mined.block.hash) == block_hash]
        return _block(found[0], whole) if found else None

    def _nonce(self, address: str, tag: str = "latest") -> str:
        account = to_canonical_address(address)
        if tag == "pending":
            return hex(self.evm.pending_nonce(account))
        return hex(self.evm.state_at(self._number(tag)).get_nonce(account))

    def _call(self, asked: dict[str, Any], tag: str = "latest", *_: Any) -> str:
        return _hex(self._run(asked, tag).output)

    def _run(self, asked: dict[str, Any], tag: str) -> Any:
        computation = (
            self.evm.create(_data(asked))
            if "to" not in asked
            else self.evm.call(
                to_canonical_address(asked["to"]),
                _data(asked),
                to_canonical_address(asked.get("from") or "0x" + "00" * 20),
                gas=int(asked.get("gas", hex(GAS_OF_A_CALL)), 16),
                number=self._number(tag),
            )
        )
        if computation.is_error:
            output = bytes(computation.output)
            raise EvmError(_reason(output), 3, output)
        return computation

    def _estimate(self, asked: dict[str, Any], tag: str = "latest", *_: Any) -> str:
        computation = self._run({**asked, "gas": hex(GAS_OF_A_CALL)}, tag)
        data = bytes.fromhex((asked.get("data") or asked.get("input") or "0x")[2:])
        return hex((computation.get_gas_used() + 21_000 + 16 * len(data)) * 11 // 10)

    def _send(self, raw: str) -> str:
        return _hex(self.evm.send(bytes.fromhex(raw[2:])))

    def _transaction(self, transaction_hash: str) -> dict[str, Any] | None:
        wanted = bytes.fromhex(transaction_hash[2:])
        found = self.evm.block_of(wanted)
        if found:
            return _transaction(found[0].transactions[found[1]], found[0], found[1])
        waiting = [one for one in self.evm.waiting.values() if one.hash == wanted]
        return _transaction(waiting[0], None, None) if waiting else None

    def _receipt(self, transaction_hash: str) -> dict[str, Any] | None:
        found = self.evm.block_of(bytes.fromhex(transaction_hash[2:]))
        return _receipt(*found) if found else None

    def _logs(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        first = self._number(wanted.get("fromBlock", "latest"))
        last = self._number(wanted.get("toBlock", "latest"))
        logs = [log for mined in self.evm.blocks[first : last + 1] for log in _logs(mined)]
        return [log for log in logs if _wanted(log, wanted.get("address"), wanted.get("topics", []))]

    def _fee_history(self, count: str, newest: str, percentiles: list[float] | None = None) -> dict[str, Any]:
        last = self._number(newest)
        first = max(0, last - int(count, 16) + 1)
        headers = [mined.block.header for mined in self.evm.blocks[first : last + 1]]
        return {
            "oldestBlock": hex(first),
            "baseFeePerGas": [hex(header.base_fee_per_gas) for header in headers] + [hex(self.evm.base_fee())],
            "gasUsedRatio": [header.gas_used / header.gas_limit for header in headers],
            "reward": [[hex(1_000_000) for _ in percentiles or []] for _ in headers],
        }

    _METHODS: ClassVar[dict[str, Callable[..., Any]]] = {
        "eth_chainId": lambda _: hex(CHAIN_ID),
        "net_version": lambda _: str(CHAIN_ID),
        "web3_clientVersion": lambda _: "py-evm",
        "eth_blockNumber": lambda self: hex(len(self.evm.blocks) - 1),
        "eth_getBlockByNumber": _block,
        "eth_getBlockByHash": _block_by_hash,
        "eth_getBalance": lambda self, who, tag="latest": hex(
            self.evm.state_at(self._number(tag)).get_balance(to_canonical_address(who))
        ),
        "eth_getCode": lambda self, who, tag="latest": _hex(
            self.evm.state_at(self._number(tag)).get_code(to_canonical_address(who))
        ),
        "eth_getTransactionCount": _nonce,
        "eth_call": _call,
        "eth_estimateGas": _estimate,
        "eth_gasPrice": lambda self: hex(self.evm.base_fee() + 1_000_000),
        "eth_maxPriorityFeePerGas": lambda _: hex(1_000_000),
        "eth_feeHistory": _fee_history,
        "eth_sendRawTransaction": _send,
        "eth_getTransactionByHash": _transaction,
        "eth_getTransactionReceipt": _receipt,
        "eth_getLogs": _logs,
    }


@contextmanager
def serving_node(evm: Evm) -> Iterator[Node]:
    """A node on a port of its own, at `Node.url`."""
    node = Node(evm)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one piece: the second of two waits 40 ms for the first to be acknowledged

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                answered = [node.answer(one) for one in asked] if isinstance(asked, list) else node.answer(asked)
            except HungUp:
                self.close_connection = True
                return
            body = json.dumps(answered).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    node.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield node
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _data(asked: dict[str, Any]) -> bytes:
    return bytes.fromhex((asked.get("data") or asked.get("input") or "0x")[2:])


def _hex(data: bytes) -> str:
    return "0x" + bytes(data).hex()


def _reason(output: bytes) -> str:
    """What `Error(string)` says, as geth puts it."""
    if output[:4].hex() != "08c379a0":
        return "execution reverted"
    size = int.from_bytes(output[36:68])
    return "execution reverted: " + output[68 : 68 + size].decode()


def _block(mined: Mined, whole: bool) -> dict[str, Any]:
    header = mined.block.header
    transactions = [
        _transaction(transaction, mined, place) if whole else _hex(transaction.hash)
        for place, transaction in enumerate(mined.transactions)
    ]
    return {
        "number": hex(header.block_number),
        "hash": _hex(header.hash),
        "parentHash": _hex(header.parent_hash),
        "nonce": _hex(header.nonce),
        "sha3Uncles": _hex(header.uncles_hash),
        "logsBloom": "0x" + "00" * 256,
        "transactionsRoot": _hex(header.transaction_root),
        "stateRoot": _hex(header.state_root),
        "receiptsRoot": _hex(header.receipt_root),
        "miner": to_checksum_address(header.coinbase),
        "difficulty": "0x0",
        "totalDifficulty": "0x0",
        "extraData": "0x",
        "mixHash": _hex(header.mix_hash),
        "size": "0x400",
        "gasLimit": hex(header.gas_limit),
        "gasUsed": hex(header.gas_used),
        "timestamp": hex(header.timestamp),
        "baseFeePerGas": hex(header.base_fee_per_gas),
        "transactions": transactions,
        "uncles": [],
    }


def _transaction(transaction: Any, mined: Mined | None, place: int | None) -> dict[str, Any]:
    return {
        "hash": _hex(transaction.hash),
        "nonce": hex(transaction.nonce),
        "from": to_checksum_address(transaction.sender),
        "to": to_checksum_address(transaction.to) if transaction.to else None,
        "value": hex(transaction.value),
        "gas": hex(transaction.gas),
        "gasPrice": hex(transaction.max_fee_per_gas),
        "maxFeePerGas": hex(transaction.max_fee_per_gas),
        "maxPriorityFeePerGas": hex(transaction.max_priority_fee_per_gas),
        "input": _hex(transaction.data),
        "chainId": hex(CHAIN_ID),
        "type": "0x2",
        "blockHash": _hex(mined.block.hash) if mined else None,
        "blockNumber": hex(mined.block.number) if mined else None,
        "transactionIndex": hex(place) if place is not None else None,
    }


def _receipt(mined: Mined, place: int) -> dict[str, Any]:
    transaction, receipt = mined.transactions[place], mined.receipts[place]
    before = mined.receipts[place - 1].gas_used if place else 0
    return {
        "transactionHash": _hex(transaction.hash),
        "transactionIndex": hex(place),
        "blockHash": _hex(mined.block.hash),
        "blockNumber": hex(mined.block.number),
        "from": to_checksum_address(transaction.sender),
        "to": to_checksum_address(transaction.to) if transaction.to else None,
        "cumulativeGasUsed": hex(receipt.gas_used),
        "gasUsed": hex(receipt.gas_used - before),
        "contractAddress": None,
        "effectiveGasPrice": hex(_price(transaction, mined)),
        "logs": [log for log in _logs(mined) if log["transactionIndex"] == hex(place)],
        "logsBloom": "0x" + "00" * 256,
        "status": "0x1" if receipt.state_root == b"\x01" else "0x0",
        "type": "0x2",
    }


def _price(transaction: Any, mined: Mined) -> int:
    tipped = mined.block.header.base_fee_per_gas + transaction.max_priority_fee_per_gas
    return int(min(transaction.max_fee_per_gas, tipped))


def _logs(mined: Mined) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place, (transaction, receipt) in enumerate(zip(mined.transactions, mined.receipts, strict=True)):
        for log in receipt.logs:
            found.append(
                {
                    "address": to_checksum_address(log.address),
                    "topics": ["0x" + topic.to_bytes(32).hex() for topic in log.topics],
                    "data": _hex(log.data),
                    "blockHash": _hex(mined.block.hash),
                    "blockNumber": hex(mined.block.number),
                    "transactionHash": _hex(transaction.hash),
                    "transactionIndex": hex(place),
                    "logIndex": hex(len(found)),
                    "removed": False,
                }
            )
    return found


def _wanted(log: dict[str, Any], address: str | None, topics: list[Any]) -> bool:
    if address is not None and log["address"].lower() != address.lower():
        return False
    return len(log["topics"]) >= len(topics) and all(
        wanted is None or given in (wanted if isinstance(wanted, list) else [wanted])
        for wanted, given in zip(topics, log["topics"], strict=False)
    )
