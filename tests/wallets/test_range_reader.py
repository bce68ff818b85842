"""A range is of one piece, or it is none."""

from collections.abc import Callable
from typing import Any

import pytest

from service.upstream.failures import UpstreamError
from service.wallets import range_reader as reading
from service.wallets.chain import Header, Node
from service.wallets.range_reader import RangeTransfers, TooMuchError, read_header, read_range
from tests.wallets.simulated import ALICE, BOB, CAROL, Block, Chain, Sent, SimulatedNode


def chain() -> Chain:
    made = Chain("", 10)
    made.mine((Sent(ALICE, BOB), Sent(CAROL, CAROL)), (), (Sent(CAROL, ALICE), Sent(ALICE, ALICE)))
    return made


def header(block: Block) -> Header:
    return Header(block.number, block.hash, block.at_s * 1000)


async def read(node: SimulatedNode, first: int = 0) -> RangeTransfers:
    asked = Node(node)
    return await read_range(asked, [ALICE, BOB], first, await read_header(asked, node.chain.height))


@pytest.mark.parametrize("dated", [True, False])
async def test_each_transfer_is_told_once_with_its_block(dated: bool) -> None:
    node = SimulatedNode(chain())
    node.dated = dated
    told = await read(node)
    blocks = node.chain.blocks
    assert told.last == header(blocks[13])
    assert told.blocks == {11: header(blocks[11]), 13: header(blocks[13])}
    assert [(each.block, each.log_index, each.sender, each.recipient) for each in told.transfers] == [
        (11, 0, ALICE, BOB),
        (13, 0, CAROL, ALICE),
        (13, 1, ALICE, ALICE),
    ]
    assert ("eth_getBlockByNumber", ["0xb", False]) in node.asked or dated


async def test_a_node_that_has_not_got_that_far_is_a_failure() -> None:
    with pytest.raises(UpstreamError, match="node-1"):
        await read_header(Node(SimulatedNode(chain())), 14)


@pytest.mark.parametrize("call", [2, 3, 4])
async def test_a_chain_that_changes_meanwhile_is_read_again(call: int) -> None:
    node = SimulatedNode(chain())

    def fork() -> None:
        node.recover()
        node.chain.fork(5, (), (), (), (), (), ())

    node.at_call(call, fork)
    with pytest.raises(UpstreamError):
        await read(node)
    assert (await read(node)).transfers == []


def changed(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda log: {**log, **changes}


@pytest.mark.parametrize(
    "lie",
    [
        changed(blockHash="0x" + "00" * 32),
        changed(blockTimestamp="0xffffffff"),
        changed(blockNumber="0xc"),
        changed(blockNumber="0xd", blockTimestamp="0x1"),
    ],
    ids=["another hash", "younger than the last", "one log in two blocks", "two times"],
)
async def test_what_contradicts_itself_is_not_believed(lie: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    node = SimulatedNode(chain())
    found: list[int] = []

    def twist(method: str, answer: Any) -> Any:
        if method != "eth_getLogs":
            return answer
        found.append(1)
        return answer if len(found) == 1 else [lie(log) for log in answer]

    node.twist = twist
    with pytest.raises(UpstreamError):
        await read(node)


async def test_undated_logs_of_a_block_that_is_not_the_chains_are_not_believed() -> None:
    node = SimulatedNode(chain())
    node.dated = False
    node.twist = lambda method, told: (
        told if method != "eth_getLogs" else [{**log, "blockHash": "0x" + "00" * 32} for log in told]
    )
    with pytest.raises(UpstreamError):
        await read(node)


async def test_too_much_at_once_is_to_be_divided_but_one_block_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    node = SimulatedNode(chain())
    monkeypatch.setattr(reading, "MOST_TRANSFERS", 2)
    with pytest.raises(TooMuchError):
        await read(node)
    monkeypatch.setattr(reading, "MOST_TRANSFERS", 1)
    assert len((await read(node, 13)).transfers) == 2
    monkeypatch.setattr(reading, "MOST_TRANSFERS", 3)
    monkeypatch.setattr(reading, "MOST_HEADERS", 0)
    assert len((await read(node)).transfers) == 3
    node.dated = False
    with pytest.raises(TooMuchError):
        await read(node)
    assert len((await read(node, 13)).transfers) == 2
