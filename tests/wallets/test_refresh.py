"""A round: what it tells of itself, whom it asks, what it learns of tokens."""

import pytest

from service.clock import HOUR_MS
from service.storage.database import Database
from service.upstream.failures import UpstreamError
from service.wallets.refresh import LAG
from service.wallets.store import Scanned, TokenContract, TokenMoved
from service.wallets.tokens import DECIMALS, SYMBOL
from tests.wallets.following import Following
from tests.wallets.simulated import ALICE, BOB, CAROL, COIN, GEM, MAINNET, Chain, NodeError, Sent, SimulatedNode, word
from tests.wallets.test_tokens import string


async def test_where_nobody_is_watched_no_node_is_asked_anything(database: Database) -> None:
    node = SimulatedNode(Chain("", 10))
    following = Following(database, [node], [])
    await following.round()
    assert node.asked == []
    assert following.drawer.current.value is None


async def test_what_was_read_is_as_old_as_the_newest_block(database: Database) -> None:
    chain = Chain("", 10)
    following = Following(database, [SimulatedNode(chain)], [ALICE])
    await following.round()
    kept, head_ms = following.drawer.current, chain.blocks[10].at_s * 1000
    assert (kept.value, kept.origin, kept.observed_ms) == (Scanned(MAINNET, 10, 7), "live", head_ms)
    following.clock.set_wall(head_ms - 5)
    await following.round()
    assert following.drawer.current.observed_ms == head_ms - 5


async def test_a_failure_is_told_and_what_was_known_stays(database: Database) -> None:
    node = SimulatedNode(Chain("", 10))
    following = Following(database, [node], [ALICE])
    await following.round()
    before = following.drawer.current
    node.down = True
    with pytest.raises(UpstreamError):
        await following.round()
    kept = following.drawer.current
    assert (kept.value, kept.observed_ms) == (before.value, before.observed_ms)
    assert kept.failure is not None
    assert (kept.failure.at_ms, kept.failure.status, kept.failure.body) == (
        following.clock.now_ms(),
        None,
        "connection failed",
    )


async def test_another_history_begins_with_nothing_of_the_last(database: Database) -> None:
    chain = Chain("", 20)
    chain.mine((Sent(CAROL, ALICE),), *[()] * LAG)
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    await following.round()
    assert len(await following.seen()) == 1
    node.chain = Chain("another", 22)
    following.origin = "replay"
    await following.round()
    assert await following.seen() == []
    assert following.drawer.current.origin == "replay"
    assert await following.store.token(MAINNET, COIN) == TokenContract(COIN, None, None)


async def test_a_history_that_changes_during_a_round_is_not_told_as_the_new_one(database: Database) -> None:
    node = SimulatedNode(Chain("", 20))
    following = Following(database, [node], [ALICE])
    node.at_call(4, lambda: setattr(following, "origin", "replay"))
    await following.round()
    assert following.drawer.current.value is None
    await following.round()
    assert following.drawer.current.origin == "replay"


async def test_tokens_are_asked_once_what_they_are(database: Database) -> None:
    chain = Chain("", 20)
    chain.mine((Sent(CAROL, ALICE), Sent(ALICE, BOB, 3, GEM), Sent(BOB, ALICE, 3, GEM)), *[()] * LAG)
    chain.mine((Sent(ALICE, BOB, 3, GEM),), *[()] * LAG)
    node = SimulatedNode(chain)
    node.says = {(GEM, SYMBOL): "0x" + string(b"GEM").hex(), (GEM, DECIMALS): word(9)}
    following = Following(database, [node], [ALICE, BOB])
    await following.round()
    await following.round()
    asked = [(said[0]["to"], said[0]["data"]) for method, said in node.asked if method == "eth_call"]
    assert sorted(asked) == sorted((token, what) for token in (COIN, GEM) for what in (SYMBOL, DECIMALS))
    assert await following.store.token(MAINNET, GEM) == TokenContract(GEM, "GEM", 9)
    at_ms = [chain.blocks[number].at_s * 1000 for number in (21, 25)]
    assert await following.store.tokens(MAINNET, [ALICE, BOB]) == {
        ALICE: [TokenMoved(GEM, "GEM", 9, 3, at_ms[1]), TokenMoved(COIN, None, None, 1, at_ms[0])],
        BOB: [TokenMoved(GEM, "GEM", 9, 3, at_ms[1])],
    }
    assert await following.store.tokens(MAINNET, [CAROL]) == {}


@pytest.mark.parametrize("wait_ms", [HOUR_MS + 1, -1], ids=["an hour later", "the clock set back"])
async def test_a_token_that_no_node_has_an_answer_of_is_asked_again_after_an_hour(
    database: Database, wait_ms: int
) -> None:
    chain = Chain("", 20)
    chain.mine((Sent(CAROL, ALICE, 1, GEM),), *[()] * LAG)
    node = SimulatedNode(chain)
    broken = True

    def twist(method: str, answer: object) -> object:
        if broken and method == "eth_call":
            raise NodeError(-32_000, "out of gas")
        return answer

    node.twist = twist
    node.says = {(GEM, SYMBOL): "0x" + string(b"GEM").hex()}
    following = Following(database, [node], [ALICE])
    await following.round()
    broken = False
    await following.round()
    assert (await following.store.token(MAINNET, GEM)).symbol is None
    following.clock.set_wall(following.clock.now_ms() + wait_ms)
    await following.round()
    assert (await following.store.token(MAINNET, GEM)).symbol == "GEM"


async def test_pages_go_on_where_the_last_one_ended(database: Database) -> None:
    chain = Chain("", 20)
    chain.mine(*[(Sent(ALICE, BOB, number), Sent(BOB, CAROL, number)) for number in range(7)], *[()] * LAG)
    following = Following(database, [SimulatedNode(chain)], [ALICE, BOB])
    await following.round()
    store, both, before, pages = following.store, [ALICE, BOB], None, []
    while page := await store.movements(MAINNET, COIN, both, 4, before):
        pages.append(page)
        before = page[-1].position
    told = [each for page in pages for each in page]
    assert told == list(reversed(await following.moved()))
    assert [len(page) for page in pages] == [4, 4, 4, 4, 4, 1]
    assert await store.count(MAINNET, COIN, both) == 21
    assert await store.count(MAINNET, COIN, [ALICE]) == 7
    assert await store.count(8453, COIN, both) == 0
    of_alice = await store.movements(MAINNET, COIN, [ALICE], 100)
    assert of_alice == [each for each in told if each.address == ALICE]
    assert await store.movements(MAINNET, COIN, [ALICE], 3, of_alice[2].position) == of_alice[3:6]
