"""Several nodes: the next where one fails, and none that tells of another chain."""

import logging

import pytest

from service.upstream.failures import UpstreamError
from service.wallets.chain import Header, Node
from service.wallets.nodes import BEHIND_MS, Nodes, open_nodes
from tests.fakes.clock import START_MS, FakeClock
from tests.wallets.simulated import BLOCK_S, MAINNET, Chain, SimulatedNode


def nodes(*simulated: SimulatedNode, now_ms: int | None = None) -> Nodes:
    newest_ms = max(node.chain.blocks[-1].at_s for node in simulated) * 1000
    return Nodes([Node(node) for node in simulated], FakeClock(now_ms or newest_ms))


def two(height: int = 10) -> tuple[SimulatedNode, SimulatedNode]:
    chain = Chain("", height)
    return SimulatedNode(chain, "node-1"), SimulatedNode(chain, "node-2")


async def test_who_answered_last_is_asked_first() -> None:
    first, second = two()
    asked = nodes(first, second)
    assert await asked.ask(Node.newest) == await Node(first).newest()
    assert second.asked == []
    first.down = True
    await asked.ask(Node.newest)
    first.down = False
    before = len(first.asked)
    await asked.ask(Node.newest)
    assert len(first.asked) == before


async def test_where_no_node_answers_the_last_ones_failure_is_told() -> None:
    first, second = two()
    first.down = second.down = True
    with pytest.raises(UpstreamError, match="node-2"):
        await nodes(first, second).ask(Node.newest)
    with pytest.raises(UpstreamError, match="node-2"):
        await nodes(first, second).head()


async def test_a_node_of_another_chain_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    first, second = two()
    second.chain_id = 8453
    asked = nodes(first, second)
    await asked.ask(Node.newest)
    first.down = True
    with caplog.at_level(logging.ERROR), pytest.raises(UpstreamError, match="node-1"):
        await asked.ask(Node.newest)
    with pytest.raises(UpstreamError, match="node-1"):
        await asked.ask(Node.newest)
    assert [method for method, _ in second.asked] == ["eth_chainId"]
    (record,) = caplog.records
    assert (record.__dict__["upstream"], record.__dict__["chain"], record.__dict__["others"]) == ("node-2", 8453, 1)


async def test_the_first_that_says_a_chain_decides_it() -> None:
    first, second = two()
    first.down, second.chain_id = True, 8453
    asked = nodes(first, second)
    assert (await asked.head())[0] == 8453
    first.down, second.down = False, True
    with pytest.raises(UpstreamError, match="node-2"):
        await asked.head()


async def test_the_head_is_told_by_a_node_that_keeps_up() -> None:
    first, second = two(100)
    first.behind = BEHIND_MS // 1000 // BLOCK_S + 1
    asked = nodes(first, second)
    chain_id, head = await asked.head()
    assert (chain_id, head.number) == (MAINNET, 100)
    first.asked.clear()
    await asked.head()
    assert first.asked == []


async def test_where_none_keeps_up_the_best_tells_the_head() -> None:
    first, second = two(100)
    third = SimulatedNode(first.chain, "node-3")
    first.behind, third.down = 1, True
    asked = nodes(first, second, third, now_ms=START_MS)
    assert (await asked.head())[1].number == 100
    first.asked.clear()
    await asked.ask(Node.newest)
    assert first.asked == []


async def test_whether_another_node_holds_a_block() -> None:
    first, second = two()
    asked = Nodes(of_two := [Node(first), Node(second)], FakeClock())
    block = first.chain.blocks[4]
    header, wrong = Header(4, block.hash, 0), Header(4, "0x" + "00" * 32, 0)
    assert await asked.hold(header, of_two[0])
    assert not await asked.hold(wrong, of_two[0])
    assert not await asked.hold(Header(11, block.hash, 0), of_two[0])
    second.down = True
    assert not await asked.hold(header, of_two[0])
    assert await asked.hold(header, of_two[1])


async def test_nodes_are_reached_over_http_and_their_addresses_never_told(caplog: pytest.LogCaptureFixture) -> None:
    urls = ["http://127.0.0.1:1/a-secret-key", "http://127.0.0.1:1/another-secret-key"]
    async with open_nodes(urls, FakeClock()) as opened:
        with pytest.raises(UpstreamError) as raised:
            await opened.head()
    told = repr(raised.value.details) + str(raised.value) + caplog.text
    assert "node-2" in told
    assert "secret" not in told
