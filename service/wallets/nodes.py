"""All nodes of one chain: asked one after another until one answers.

Those that tell logs of every contract come before those that want contracts named. Ranges that a node refuses (-32005,
"block range is too large") or is too slow for are halved by the scanner.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, TypeVar

from service.clock import MINUTE_MS, Clock
from service.upstream.failures import UpstreamError
from service.upstream.session import open_session
from service.wallets.chain import Header, Node

T = TypeVar("T")

BEHIND_MS: Final = 5 * MINUTE_MS
"""A node whose newest block is older is asked only where no other is better: it may have lost the others."""

WEIGHT_PER_MINUTE: Final = 1_200
"""Questions a minute to one node. Public nodes publish no figure; they begin to refuse beyond some twenty a second."""

_log: Final = logging.getLogger("verdict.wallets")


class Nodes:
    """The nodes an operator has named, in their order. The chain is that of the first that says so.

    The node that answered last is asked first. A node of another chain is never asked again.

    Args:
        nodes: At least one.
        clock: Tells how old a block is.
    """

    def __init__(self, nodes: Sequence[Node], clock: Clock) -> None:
        self._nodes = list(nodes)
        self._clock = clock
        self._chain_id: int | None = None
        self._serving: Node | None = None

    def know(self, contracts: Collection[str]) -> None:
        """Name the contracts that nodes are asked for which want them named."""
        for node in self._nodes:
            node.contracts = contracts

    def readiness(self) -> Mapping[str, object]:
        """How many nodes there are, which one served last (null: none), and whether it tells known contracts alone."""
        serving = self._serving
        return {
            "nodes": len(self._nodes),
            "serving": None if serving is None else serving.name,
            "by_contract": serving is not None and serving.by_contract,
        }

    async def ask(self, question: Callable[[Node], Awaitable[T]]) -> T:
        """Ask one node, and the next where that fails.

        Args:
            question: Complete in itself: after a failure the next node gets it whole.

        Raises:
            UpstreamError: If no node of the chain has an answer; the last one's.
        """
        failure = UpstreamError("node", None, b"no node is on the chain")
        for node in self._turns():
            try:
                if await self._is_on_the_chain(node):
                    answer = await question(node)
                    self._prefer(node)
                    self._serving = node
                    return answer
            except UpstreamError as error:
                failure = error
        self._serving = None
        raise failure

    def _turns(self) -> Iterator[Node]:
        """The nodes in turn; those that just turned out to want contracts named come once more."""
        first = sorted(self._nodes, key=lambda node: node.by_contract)
        by_contract = {node.name for node in first if node.by_contract}
        yield from first
        yield from [node for node in first if node.by_contract and node.name not in by_contract]

    async def head(self) -> tuple[int, Header]:
        """The chain, and the newest block of a node that keeps up; where none does, of the one that is best.

        Raises:
            UpstreamError: If no node of the chain has an answer.
        """
        headers: list[tuple[Header, Node]] = []

        async def newest(node: Node) -> None:
            header = await node.newest()
            headers.append((header, node))
            if self._clock.now_ms() - header.at_ms > BEHIND_MS:
                raise node.lie("its newest block is old")

        try:
            await self.ask(newest)
        except UpstreamError:
            if not headers:
                raise
        best, node = max(headers, key=lambda pair: pair[0].at_ms)
        self._prefer(node)
        return await node.chain_id(), best

    async def hold(self, block: Header, other_than: Node) -> bool:
        """Whether any node but one still has a block, by its number and hash; what does not answer has not."""
        for node in self._nodes:
            try:
                found = None if node is other_than else await node.header(block.number)
            except UpstreamError:
                continue
            if found is not None and found.hash == block.hash:
                return True
        return False

    async def _is_on_the_chain(self, node: Node) -> bool:
        chain_id = await node.chain_id()
        if self._chain_id is None:
            self._chain_id = chain_id
        if chain_id != self._chain_id:
            self._nodes.remove(node)
            found = {"upstream": node.name, "chain": chain_id, "others": self._chain_id}
            _log.error("A node of another chain is left out.", extra=found)
        return chain_id == self._chain_id

    def _prefer(self, node: Node) -> None:
        self._nodes.sort(key=lambda each: each is not node)


@asynccontextmanager
async def open_nodes(urls: Sequence[str], clock: Clock) -> AsyncIterator[Nodes]:
    """Open a session to each node; nothing is asked yet.

    Args:
        urls: Of their JSON-RPC, at least one. They may hold keys: these never reach an error or a log.
        clock: Time of the sessions' budgets.
    """
    async with AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(
                open_session(f"node-{place}", url, clock, weight_per_minute=WEIGHT_PER_MINUTE)
            )
            for place, url in enumerate(urls, 1)
        ]
        yield Nodes([Node(session) for session in sessions], clock)
