"""Real blocks and real answers: two blocks of Ethereum, and the exchanges that Ethereum's own tests record.

What the blocks should hold was extracted by somebody else (ethereum-etl).
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from service.storage.database import Database
from service.upstream.json_rpc import ANSWERS, NodeError, Quantity, rpc_result
from service.wallets.chain import TRANSFER, _Log
from tests.wallets.following import Following
from tests.wallets.simulated import Block, Chain, Seen, SimulatedNode, word

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
BLOCKS = DATA / "chain"
EXCHANGES = DATA / "wire" / "evm-execution-apis"

pytestmark = [
    pytest.mark.recorded,
    pytest.mark.skipif(not BLOCKS.is_dir(), reason="the recordings in ../shared/data are not there"),
]


def recorded(what: str) -> list[dict[str, Any]]:
    with gzip.open(BLOCKS / f"ethereum-17173049-17173050-{what}.json.gz") as lines:
        return [json.loads(line) for line in lines]


def place(each: dict[str, Any]) -> tuple[int, int]:
    return each["block_number"], each["log_index"]


class Recorded(SimulatedNode):
    """A node that has two real blocks and some empty ones around them."""

    def __init__(self) -> None:
        super().__init__(Chain())
        self.logs = recorded("logs")
        real = {log["block_number"]: (log["block_hash"], log["block_timestamp"]) for log in self.logs}
        first = min(real)
        self.of_number: dict[int, Block] = {}
        for number in range(first - 7_300, first + 5):
            block_hash, at_s = real.get(number, (word(number), real[first][1] + 12 * (number - first)))
            self.of_number[number] = Block(number, block_hash, at_s, ())
        self._METHODS = {**self._METHODS, "eth_getBlockByNumber": Recorded.block, "eth_getLogs": Recorded.find}  # type: ignore[misc]

    def block(self, tag: str, _: bool) -> dict[str, str] | None:
        found = self.of_number.get(max(self.of_number) if tag == "latest" else int(tag, 16))
        return found and {"number": hex(found.number), "hash": found.hash, "timestamp": hex(found.at_s)}

    def find(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        first, last = int(wanted["fromBlock"], 16), int(wanted["toBlock"], 16)
        places = [(place, set(any_of)) for place, any_of in enumerate(wanted["topics"]) if isinstance(any_of, list)]
        return [
            {
                "address": log["address"],
                "topics": log["topics"],
                "data": log["data"],
                "blockNumber": hex(log["block_number"]),
                "blockHash": log["block_hash"],
                "blockTimestamp": hex(log["block_timestamp"]),
                "transactionHash": log["transaction_hash"],
                "logIndex": hex(log["log_index"]),
            }
            for log in self.logs
            if first <= log["block_number"] <= last
            and log["topics"][:1] == [TRANSFER]
            and all(len(log["topics"]) > place and log["topics"][place] in any_of for place, any_of in places)
        ]


async def test_all_transfers_of_two_real_blocks_are_found_to_the_last_unit(database: Database) -> None:
    """All but nine, which are pictures' (ERC-721): the recorded extraction tells those of tokens and pictures alike."""
    node = Recorded()
    pictures = {place(log) for log in node.logs if log["topics"][:1] == [TRANSFER] and len(log["topics"]) == 4}
    told = [each for each in recorded("token_transfers") if place(each) not in pictures]
    assert (len(told), len(pictures)) == (282, 9)
    expected: list[Seen] = [
        (*place(each), incoming, each[mine], each["token_address"], each[other], each["value"])
        for each in told
        for incoming, mine, other in ((False, "from_address", "to_address"), (True, "to_address", "from_address"))
    ]
    wallets = {each[mine] for each in told for mine in ("from_address", "to_address")}
    following = Following(database, [node], wallets)
    await following.round()
    assert await following.seen() == sorted(expected, key=lambda each: each[:3])
    txs = {place(each): each["transaction_hash"] for each in told}
    times = {each["block_number"]: each["block_timestamp"] * 1000 for each in told}
    for moved in await following.moved():
        assert moved.tx == txs[moved.block, moved.log_index]
        assert moved.at_ms == times[moved.block]


def exchanges(name: str) -> list[tuple[dict[str, Any], bytes]]:
    """Questions and answers of a recorded exchange."""
    lines = (EXCHANGES / name).read_text().splitlines()
    asked = [json.loads(line[3:]) for line in lines if line.startswith(">> ")]
    answered = [line[3:].encode() for line in lines if line.startswith("<< ")]
    return list(zip(asked, answered, strict=True))


@pytest.mark.parametrize("path", sorted(EXCHANGES.glob("eth_getLogs-*.io")), ids=lambda path: path.stem)
def test_the_recorded_logs_are_read_and_the_recorded_errors_are_errors(path: Path) -> None:
    for asked, answered in exchanges(path.name):
        said, answer = json.loads(answered), ANSWERS.decode(answered)
        if "error" in said:
            with pytest.raises(NodeError, match=asked["method"]):
                rpc_result(answer, asked["id"], asked["method"], list[_Log])
            continue
        logs: list[_Log] = rpc_result(answer, asked["id"], asked["method"], list[_Log])
        assert [log.block_hash for log in logs] == [log["blockHash"] for log in said["result"]]
        assert [log.block_timestamp for log in logs] == [log["blockTimestamp"] for log in said["result"]]
        assert not any(log.removed for log in logs)


def test_a_recorded_number_is_read() -> None:
    ((asked, answered),) = exchanges("eth_blockNumber-simple-test.io")
    assert rpc_result(ANSWERS.decode(answered), asked["id"], asked["method"], Quantity) == "0x36"
