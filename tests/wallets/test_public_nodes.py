"""Public nodes with their limits: contracts to be named, short ranges, silence; one that serves is found and named."""

import pytest

from service.storage.database import Database
from service.upstream.failures import UpstreamError
from service.wallets.chain import CONTRACTS_AT_ONCE, Node
from service.wallets.prices import known_contracts
from tests.wallets.following import Following
from tests.wallets.simulated import ALICE, BOB, COIN, MAINNET, Chain, Sent, SimulatedNode, address

USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"


def chain() -> Chain:
    made = Chain(height=5)
    made.mine([Sent(ALICE, BOB, 5, USDC)], [Sent(BOB, ALICE, 7, COIN)], *[()] * 20)
    return made


@pytest.fixture
def node() -> SimulatedNode:
    return SimulatedNode(chain())


def ranges(node: SimulatedNode) -> list[int]:
    """How many blocks each request for logs was about."""
    asked = [params[0] for method, params in node.asked if method == "eth_getLogs"]
    return [int(each["toBlock"], 16) - int(each["fromBlock"], 16) + 1 for each in asked]


@pytest.mark.promise("chain.nodes")
async def test_a_node_that_refuses_logs_without_an_address_gives_way_to_one_that_has_all(
    database: Database, node: SimulatedNode
) -> None:
    other = SimulatedNode(node.chain, "node-2")
    node.wants_contracts = True
    following = Following(database, [node, other], {ALICE})
    await following.round()
    assert [(seen[4], seen[6]) for seen in await following.seen()] == [(USDC, 5), (COIN, 7)]
    assert following.nodes.readiness() == {"nodes": 2, "serving": "node-2", "by_contract": False}
    node.asked.clear()
    node.chain.mine([])
    await following.round()
    assert ranges(node) == []


@pytest.mark.promise("chain.nodes")
async def test_where_every_node_wants_contracts_the_known_ones_are_asked_for_and_that_is_said(
    database: Database, node: SimulatedNode, caplog: pytest.LogCaptureFixture
) -> None:
    node.wants_contracts = True
    following = Following(database, [node], {ALICE})
    await following.round()
    assert [(seen[4], seen[6]) for seen in await following.seen()] == [(USDC, 5)]
    assert following.nodes.readiness() == {"nodes": 1, "serving": "node-1", "by_contract": True}
    assert [record.getMessage() for record in caplog.records] == ["node-1 answers eth_getLogs only by contract"]


@pytest.mark.promise("chain.nodes")
async def test_contracts_are_asked_for_in_chunks_and_those_seen_before_are_among_them(
    database: Database, node: SimulatedNode
) -> None:
    following = Following(database, [node], {ALICE})
    await following.round()
    node.wants_contracts = True
    node.asked.clear()
    node.chain.mine([Sent(ALICE, BOB, 9, COIN)], *[()] * 3)
    await following.round()
    assert (await following.seen())[-1][4:] == (COIN, BOB, 9)
    told = Node(node)
    told.by_contract, told.contracts = True, [address(number) for number in range(2 * CONTRACTS_AT_ONCE + 1)]
    node.asked.clear()
    await told.transfers(1, 2, out_of=[ALICE], into=())
    assert [len(params[0]["address"]) for _, params in node.asked] == [CONTRACTS_AT_ONCE, CONTRACTS_AT_ONCE, 1]


@pytest.mark.promise("chain.nodes")
async def test_a_range_that_is_too_large_is_halved_and_a_silent_node_passed_over(
    database: Database, node: SimulatedNode
) -> None:
    limited = SimulatedNode(node.chain, "node-2")
    node.down, limited.most = True, 4
    following = Following(database, [node, limited], {ALICE})
    await following.round()
    assert len(await following.seen()) == 2
    assert following.nodes.readiness()["serving"] == "node-2"
    assert max(ranges(limited)) > 4 >= min(ranges(limited))


async def test_where_no_node_serves_that_is_said(database: Database, node: SimulatedNode) -> None:
    following = Following(database, [node], {ALICE})
    assert following.nodes.readiness()["serving"] is None
    await following.round()
    node.down = True
    with pytest.raises(UpstreamError):
        await following.round()
    assert following.nodes.readiness() == {"nodes": 1, "serving": None, "by_contract": False}


async def test_a_refusal_with_an_http_status_is_understood_too(node: SimulatedNode) -> None:
    def refuse() -> None:
        raise UpstreamError("node-1", 403, b'{"error":{"code":-32701,"message":"Please specify an address"}}')

    told = Node(node)
    node.meddle = refuse
    with pytest.raises(UpstreamError):
        await told.transfers(1, 2, out_of=[ALICE], into=())
    assert told.by_contract


async def test_another_refusal_of_logs_is_not_taken_for_that(node: SimulatedNode) -> None:
    told = Node(node)
    node.down = True
    with pytest.raises(UpstreamError):
        await told.transfers(1, 2, out_of=[ALICE], into=())
    assert not told.by_contract


async def test_logs_of_a_contract_that_was_not_asked_for_are_refused(node: SimulatedNode) -> None:
    told = Node(node)
    told.by_contract, told.contracts = True, [USDC]
    node.twist = lambda _, answer: [{**log, "address": COIN} for log in answer] if answer else answer
    with pytest.raises(UpstreamError, match="usable") as refused:
        await told.transfers(1, 20, out_of=[ALICE], into=())
    assert refused.value.body == "the node told of a contract that it was not asked for"


def test_coins_and_dollars_of_a_chain_are_known_before_anything_was_seen() -> None:
    assert USDC in known_contracts(MAINNET)
    assert "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" in known_contracts(8453)
    assert known_contracts(5) == set()
