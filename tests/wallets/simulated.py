"""A chain made up block by block, which forks when it is told to, and nodes that tell of it well or badly."""

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from service.upstream.failures import UpstreamError
from service.upstream.json_rpc import RpcAnswer
from service.upstream.session import Decoder, Fetched
from service.wallets.chain import TRANSFER
from tests.fakes.clock import START_MS

BLOCK_S = 12
MAINNET = 1


def address(name: object) -> str:
    return "0x" + sha256(f"address {name}".encode()).hexdigest()[:40]


ALICE, BOB, CAROL, DAVE = (address(name) for name in ("alice", "bob", "carol", "dave"))
COIN, GEM = address("a coin"), address("a gem")


class Sent(NamedTuple):
    """A transfer as somebody made it."""

    sender: str
    recipient: str
    amount: int = 1
    contract: str = COIN


class Block(NamedTuple):
    number: int
    hash: str
    at_s: int
    sent: tuple[Sent, ...]


Seen = tuple[int, int, bool, str, str, str, int]
"""Block, log, whether it came in, whose, of which contract, from or to whom, how much."""


class Chain:
    """Blocks one after another. Those that a fork took out are gone."""

    def __init__(self, name: str = "", height: int = 0) -> None:
        self.name = name
        self.blocks: list[Block] = []
        self._made = 0
        self.mine(*[()] * (height + 1))

    @property
    def height(self) -> int:
        return len(self.blocks) - 1

    def mine(self, *blocks: Sequence[Sent]) -> None:
        for sent in blocks:
            self._made += 1
            number = len(self.blocks)
            block_hash = "0x" + sha256(f"{self.name} {self._made} {number}".encode()).hexdigest()
            at_s = START_MS // 1000 - (100_000 - number) * BLOCK_S
            self.blocks.append(Block(number, block_hash, at_s, tuple(sent)))

    def fork(self, depth: int, *blocks: Sequence[Sent]) -> None:
        """Replace the newest blocks by others."""
        del self.blocks[max(1, len(self.blocks) - depth) :]
        self.mine(*blocks)

    def copy(self, name: str) -> "Chain":
        """The same blocks, to go on by themselves."""
        other = Chain(name, -1)
        other.blocks = list(self.blocks)
        return other

    def seen(self, wallets: dict[str, int], through: int) -> list[Seen]:
        """What should be known of wallets, each from its first block on, in the chain's order."""
        found: list[Seen] = []
        for block in self.blocks[: through + 1]:
            for index, sent in enumerate(block.sent):
                for incoming, mine, other in (
                    (False, sent.sender, sent.recipient),
                    (True, sent.recipient, sent.sender),
                ):
                    if mine in wallets and block.number >= wallets[mine]:
                        found.append((block.number, index, incoming, mine, sent.contract, other, sent.amount))
        return found


class NodeError(Exception):
    """What the node says instead of an answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def word(value: int | str) -> str:
    return f"0x{int(value, 16) if isinstance(value, str) else value:064x}"


class SimulatedNode:
    """A node, reached as a session is.

    Attributes:
        chain: What it tells of.
        asked: Methods and parameters, in order.
        down: It does not answer.
        most: The most blocks it looks through at once.
        late: The newest blocks of which it does not have the logs yet.
        behind: The newest blocks it has not heard of.
        dated: Whether it tells times with its logs.
        meddle: Called before each answer; may change things, or raise.
        twist: May change an answer.
        says: Answers of contracts by address and selector.
        wants_contracts: It refuses `eth_getLogs` without an address, as publicnode does.
    """

    def __init__(self, chain: Chain, name: str = "node-1", chain_id: int = MAINNET) -> None:
        self.name = name
        self.chain = chain
        self.chain_id = chain_id
        self.asked: list[tuple[str, list[Any]]] = []
        self.down = False
        self.most = 2_000
        self.late = 0
        self.behind = 0
        self.dated = True
        self.meddle: Callable[[], None] = lambda: None
        self.twist: Callable[[str, Any], Any] = lambda _, answer: answer
        self.says: dict[tuple[str, str], str] = {}
        self.wants_contracts = False

    async def post_json(
        self, path: str, payload: object, *, weight: int, decoder: Decoder[RpcAnswer]
    ) -> Fetched[RpcAnswer]:
        assert (path, weight) == ("", 1)
        asked = json.loads(json.dumps(payload))
        self.asked.append((asked["method"], asked["params"]))
        self.meddle()
        if self.down:
            raise UpstreamError(self.name, None, b"connection failed")
        head = {"jsonrpc": "2.0", "id": asked["id"]}
        try:
            answer = self._METHODS[asked["method"]](self, *asked["params"])
            said = {**head, "result": self.twist(asked["method"], answer)}
        except NodeError as error:
            said = {**head, "error": {"code": error.code, "message": str(error)}}
        return Fetched(decoder.decode(json.dumps(said).encode()), START_MS)

    def at_call(self, call: int, do: Callable[[], None]) -> None:
        """Have something done when it is asked for the given time from now on, and each time after that."""
        first = len(self.asked) + call

        def meddle() -> None:
            if len(self.asked) >= first:
                do()

        self.meddle = meddle

    def recover(self) -> None:
        """Be well again."""
        self.down, self.most, self.late, self.behind = False, 2_000, 0, 0
        self.meddle = lambda: None

    @property
    def _height(self) -> int:
        return self.chain.height - self.behind

    def _block(self, tag: str, whole: bool) -> Any:
        assert not whole
        number = self._height if tag == "latest" else int(tag, 16)
        if not 0 <= number <= self._height:
            return None
        block = self.chain.blocks[number]
        return {"number": hex(block.number), "hash": block.hash, "timestamp": hex(block.at_s), "transactions": []}

    def _found(self, wanted: dict[str, Any]) -> list[Any]:
        first, last = int(wanted["fromBlock"], 16), int(wanted["toBlock"], 16)
        if last > self._height:
            raise NodeError(-32602, "block range extends beyond current head block")
        if last - first >= self.most:
            raise NodeError(-32005, "block range is too large")
        contracts = wanted.get("address")
        if self.wants_contracts and not contracts:
            raise NodeError(-32701, "Please specify an address in your request or, to remove restrictions, order ...")
        blocks = self.chain.blocks[first : min(last, self._height - self.late) + 1]
        logs = [log for block in blocks for log in self._logs(block)]
        told = [log for log in logs if not contracts or log["address"] in contracts]
        return [log for log in told if _matches(log["topics"], wanted["topics"])]

    def _logs(self, block: Block) -> Iterable[dict[str, Any]]:
        for index, sent in enumerate(block.sent):
            log = {
                "address": sent.contract,
                "topics": [TRANSFER, word(sent.sender), word(sent.recipient)],
                "data": word(sent.amount),
                "blockNumber": hex(block.number),
                "blockHash": block.hash,
                "transactionHash": word(index + 1),
                "transactionIndex": "0x0",
                "logIndex": hex(index),
                "removed": False,
            }
            yield {**log, "blockTimestamp": hex(block.at_s)} if self.dated else log

    def _call(self, call: dict[str, str], tag: str) -> str:
        assert tag == "latest"
        said = self.says.get((call["to"], call["data"]))
        if said is None:
            raise NodeError(3, "execution reverted")
        return said

    _METHODS: ClassVar[dict[str, Callable[..., Any]]] = {
        "eth_chainId": lambda self: hex(self.chain_id),
        "eth_getBlockByNumber": _block,
        "eth_getLogs": _found,
        "eth_call": _call,
    }


def _matches(topics: list[str], wanted: list[Any]) -> bool:
    return all(
        topic in any_of for topic, any_of in zip(topics, (_listed(each) for each in wanted), strict=True) if any_of
    )


def _listed(wanted: str | list[str] | None) -> list[str]:
    return [wanted] if isinstance(wanted, str) else wanted or []
