"""One node: what it tells is read exactly, and what cannot be is not taken."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream.failures import UpstreamError
from service.upstream.json_rpc import RevertedError
from service.wallets.chain import TRANSFER, Header, Node, Transfer
from tests.wallets.simulated import ALICE, BOB, CAROL, COIN, Chain, NodeError, Sent, SimulatedNode, word

HASH = "0x" + "AB" * 32
TX = "0x" + "cd" * 32


def log(**changes: Any) -> dict[str, Any]:
    return {
        "address": COIN,
        "topics": [TRANSFER, word(ALICE), word(BOB)],
        "data": word(2**256 - 1),
        "blockNumber": "0x10",
        "blockHash": HASH,
        "transactionHash": TX,
        "logIndex": "0x3",
        "removed": False,
        **changes,
    }


def answering(answer: Any) -> Node:
    node = SimulatedNode(Chain())
    node.twist = lambda method, told: told if method == "eth_chainId" else answer
    return Node(node)


async def transfers(*logs: dict[str, Any]) -> list[Transfer]:
    node = SimulatedNode(Chain("", 32))
    node.twist = lambda *_: logs
    return await Node(node).transfers(1, 20, out_of=[ALICE], into=())


async def test_a_transfer_is_read_to_the_last_unit() -> None:
    told = log(address=COIN.upper().replace("X", "x"), blockTimestamp="0x64")
    assert await transfers(told, log(logIndex="0x4")) == [
        Transfer(16, HASH.lower(), 100_000, 3, TX, COIN, ALICE, BOB, 2**256 - 1),
        Transfer(16, HASH.lower(), None, 4, TX, COIN, ALICE, BOB, 2**256 - 1),
    ]


@pytest.mark.parametrize(
    "other",
    [
        log(removed=True),
        log(topics=[TRANSFER, word(ALICE), word(BOB), word(7)]),
        log(topics=[TRANSFER]),
        log(data="0x"),
        log(data=word(1) + "00" * 32),
        log(topics=[TRANSFER, word(ALICE), "0x" + "ff" * 32]),
    ],
    ids=["taken back", "a picture's", "of another kind", "no amount", "two amounts", "no address"],
)
async def test_what_is_no_transfer_of_a_fungible_token_is_left_out(other: dict[str, Any]) -> None:
    assert await transfers(other) == []


@pytest.mark.parametrize(
    "lie",
    [
        log(topics=["0x" + "11" * 32, word(ALICE), word(BOB)]),
        log(topics=[]),
        log(topics=[TRANSFER, word(CAROL), word(BOB)]),
        log(blockNumber="0x0"),
        log(blockNumber="0x15"),
        log(blockNumber="0x" + "f" * 60),
        log(blockTimestamp="0x" + "f" * 16),
        log(logIndex="0x" + "f" * 64),
        log(address="0x12"),
        log(blockHash="0x12"),
        log(data="none"),
        log(blockNumber=None),
        {},
        None,
    ],
)
async def test_a_node_that_tells_something_else_is_not_believed(lie: Any) -> None:
    with pytest.raises(UpstreamError) as raised:
        await transfers(log(), lie)
    assert raised.value.details is not None
    assert raised.value.details["upstream"] == "node-1"


async def test_recipients_are_looked_for_as_senders_are() -> None:
    chain = Chain()
    chain.mine((Sent(ALICE, BOB), Sent(BOB, ALICE), Sent(CAROL, BOB)))
    node = SimulatedNode(chain)
    told = await Node(node).transfers(0, 1, out_of=(), into=[BOB, CAROL])
    assert [(each.sender, each.log_index) for each in told] == [(ALICE, 0), (CAROL, 2)]
    assert node.asked[-1][1][0]["topics"] == [TRANSFER, None, [word(BOB), word(CAROL)]]
    node.twist = lambda *_: [log(blockNumber="0x1")]
    with pytest.raises(UpstreamError):
        await Node(node).transfers(0, 1, out_of=(), into=[CAROL])


async def test_blocks_are_read_by_number_and_by_name() -> None:
    chain = Chain("", 5)
    node = Node(SimulatedNode(chain))
    of_chain = [Header(block.number, block.hash, block.at_s * 1000) for block in chain.blocks]
    assert await node.newest() == of_chain[5]
    assert await node.header(3) == of_chain[3]
    assert await node.header(6) is None


@pytest.mark.parametrize("block", [None, {}, [], {"number": "0x7", "hash": HASH, "timestamp": "0x" + "f" * 12}])
async def test_a_block_that_is_none_is_not_taken(block: Any) -> None:
    with pytest.raises(UpstreamError):
        await answering(block).newest()


async def test_another_block_than_was_asked_for_is_not_taken() -> None:
    with pytest.raises(UpstreamError):
        await answering({"number": "0x7", "hash": HASH, "timestamp": "0x1"}).header(8)


async def test_the_chain_is_asked_for_once() -> None:
    simulated = SimulatedNode(Chain(), chain_id=8453)
    node = Node(simulated)
    assert [await node.chain_id(), await node.chain_id()] == [8453, 8453]
    assert [method for method, _ in simulated.asked] == ["eth_chainId"]
    simulated.twist = lambda *_: "0x" + "f" * 64
    with pytest.raises(UpstreamError):
        await Node(simulated).chain_id()


async def test_a_contracts_refusal_is_told_from_a_nodes() -> None:
    simulated = SimulatedNode(Chain())
    simulated.says[COIN, "0x01"] = "0x00ff"
    node = Node(simulated)
    assert await node.call(COIN, "0x01") == b"\x00\xff"
    with pytest.raises(RevertedError):
        await node.call(COIN, "0x02")

    def refuse(code: int) -> Any:
        def meddle(*_: object) -> Any:
            raise NodeError(code, "no")

        return meddle

    simulated.twist = refuse(-32_000)
    with pytest.raises(UpstreamError):
        await node.call(COIN, "0x01")
    simulated.twist = refuse(3)
    with pytest.raises(UpstreamError):
        await node.newest()


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(said=json_values)
async def test_whatever_a_node_says_it_is_an_answer_or_a_failure(said: Any) -> None:
    node = answering(json.loads(json.dumps(said)))
    for question in (node.newest(), node.header(3), node.transfers(0, 9, out_of=[ALICE], into=())):
        with suppress(UpstreamError):
            await question
