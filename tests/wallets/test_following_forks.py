"""Whatever a chain, its nodes and its operator do: what moved is known once and only once, as soon as a node tells it.

A slow second look (`Chain.seen`) at the simulated chain says what should be known.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.storage.database import Database
from service.upstream.failures import UpstreamError
from service.wallets import scan
from service.wallets.refresh import LAG
from tests.wallets.following import Following
from tests.wallets.simulated import ALICE, BOB, CAROL, COIN, DAVE, GEM, Chain, Sent, SimulatedNode

WHO = st.sampled_from([ALICE, BOB, CAROL, DAVE])
SENT = st.builds(Sent, WHO, WHO, st.integers(0, 2**256 - 1), st.sampled_from([COIN, GEM]))
BLOCKS = st.lists(st.lists(SENT, max_size=2).map(tuple), min_size=1, max_size=12)
CALL = st.integers(1, 12)

FAILING = {"all_fail"}
INEXACT = {"forked_meanwhile", "late", "behind", "strange"}
"""What a node does not tell, or tells of another fork, can be known only later."""

CHANGES = [
    st.tuples(st.just("mine"), BLOCKS),
    st.tuples(st.just("idle"), st.integers(1, 90)),
    st.tuples(st.just("fork"), st.integers(1, 100), BLOCKS),
    st.tuples(st.just("watch"), WHO),
    st.tuples(st.just("leave"), WHO),
]
ROUNDS = [
    st.tuples(st.just("well")),
    st.tuples(st.just("limited"), st.integers(1, 5), st.integers(1, 200)),
    st.tuples(st.just("first_fails"), CALL),
    st.tuples(st.just("all_fail"), CALL),
    st.tuples(st.just("killed"), CALL),
    st.tuples(st.just("forked_meanwhile"), CALL, st.integers(1, 40), BLOCKS),
    st.tuples(st.just("late"), st.integers(1, 20)),
    st.tuples(st.just("behind"), st.integers(1, 90)),
    st.tuples(st.just("strange"), st.integers(1, 90), BLOCKS),
]


class KilledError(BaseException):
    """The process ends here."""


class World:
    """A chain, two nodes, and a service that is killed and started again now and then."""

    def __init__(self, database: Database, chain_id: int) -> None:
        self.chain = Chain("main", 20)
        self.nodes = [SimulatedNode(self.chain, name, chain_id) for name in ("node-1", "node-2")]
        self.database = database
        self.watched = {ALICE}
        self.start()

    def start(self) -> None:
        self.following = Following(self.database, self.nodes, self.watched, self.nodes[0].chain_id)

    async def do(self, what: str, *rest: Any) -> None:
        """Change the chain or who is watched; or make something be the matter, and follow for a round."""
        getattr(self, what)(*rest)
        if not hasattr(Changes, what):
            await self.round(what)

    async def round(self, what: str = "well") -> None:
        """One round with something the matter, after which all is well again."""
        self.following.watched = set(self.watched)
        exact = what not in INEXACT and await self.has_grown()
        try:
            await self.following.round()
        except KilledError:
            self.start()
            exact = False
        except UpstreamError:
            if exact and what not in FAILING:
                raise
            exact = False
        for node in self.nodes:
            node.chain = self.chain
            node.recover()
        if exact:
            await self.check()

    async def has_grown(self) -> bool:
        """Whether there is more to look through: only then a fork is looked for."""
        scans = await self.following.ledger.scans(self.following.chain_id)
        return all(scan.through < self.chain.height - LAG for scan in scans)

    async def check(self) -> None:
        firsts = await self.following.firsts()
        assert firsts.keys() == self.watched
        assert await self.following.seen() == self.chain.seen(firsts, self.chain.height - LAG)


class Changes(World):
    """What happens between rounds."""

    def mine(self, blocks: list[tuple[Sent, ...]]) -> None:
        self.chain.mine(*blocks)

    def idle(self, blocks: int) -> None:
        self.chain.mine(*[()] * blocks)

    def fork(self, depth: int, blocks: list[tuple[Sent, ...]]) -> None:
        self.chain.fork(depth, *blocks)

    def watch(self, who: str) -> None:
        self.watched.add(who)

    def leave(self, who: str) -> None:
        self.watched -= {who} if len(self.watched) > 1 else set()


class Troubles(Changes):
    """What is the matter during a round."""

    def well(self) -> None:
        """Nothing."""

    def limited(self, most: int, other_most: int) -> None:
        self.nodes[0].most, self.nodes[1].most = most, other_most

    def first_fails(self, call: int) -> None:
        self.nodes[0].at_call(call, fail)

    def all_fail(self, call: int) -> None:
        for node in self.nodes:
            node.at_call(call, fail)

    def killed(self, call: int) -> None:
        for node in self.nodes:
            node.at_call(call, kill)

    def forked_meanwhile(self, call: int, depth: int, blocks: list[tuple[Sent, ...]]) -> None:
        def fork() -> None:
            self.chain.fork(depth, *blocks)
            for node in self.nodes:
                node.recover()

        for node in self.nodes:
            node.at_call(call, fork)

    def late(self, blocks: int) -> None:
        for node in self.nodes:
            node.late = LAG + blocks

    def behind(self, blocks: int) -> None:
        self.nodes[0].behind = min(blocks, self.chain.height)

    def strange(self, depth: int, blocks: list[tuple[Sent, ...]]) -> None:
        self.nodes[0].chain = self.chain.copy("strange")
        self.nodes[0].chain.fork(depth, *blocks)


def fail() -> NoReturn:
    raise UpstreamError("node", None, b"connection failed")


def kill() -> NoReturn:
    raise KilledError


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    """Each try has a chain of its own, and so may share a database with the others."""
    return count(1)


@pytest.mark.slow
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(st.one_of(*CHANGES, *ROUNDS), min_size=3, max_size=25))
async def test_what_moved_is_known_once_and_only_once_whatever_happens(
    actions: list[tuple[Any, ...]], database: Database, numbers: Iterator[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FIRST_BLOCKS", 60)
    world = Troubles(database, next(numbers))
    for action in actions:
        await world.do(*action)
    world.idle(120)
    await world.round()
    await world.check()
