"""Following a chain, case by case: how far back, which ranges, what a fork takes away, who is believed."""

import logging

import pytest

from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection
from service.upstream.failures import UpstreamError
from service.wallets import refresh, scan
from service.wallets.chain import Header
from service.wallets.ledger import WINDOW, OvertakenError, Range, WalletLedger
from service.wallets.refresh import LAG
from service.wallets.scan import FIRST_BLOCKS, LONGEST_RANGE
from tests.wallets.following import Following
from tests.wallets.simulated import ALICE, BLOCK_S, BOB, CAROL, MAINNET, Chain, Sent, SimulatedNode, address

GIFT = (Sent(CAROL, ALICE, 5),)


def two_nodes(chain: Chain) -> list[SimulatedNode]:
    return [SimulatedNode(chain, "node-1"), SimulatedNode(chain, "node-2")]


def ranges(node: SimulatedNode) -> list[tuple[int, int]]:
    """The blocks that were looked through for senders, and forget them."""
    asked = [parameters[0] for method, parameters in node.asked if method == "eth_getLogs"]
    node.asked.clear()
    return [(int(each["fromBlock"], 16), int(each["toBlock"], 16)) for each in asked if each["topics"][1]]


async def test_a_wallet_is_looked_back_a_day_and_then_followed(database: Database) -> None:
    chain = Chain("", 10_000 + LAG)
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    await following.round()
    first = 10_000 - FIRST_BLOCKS + 1
    assert await following.firsts() == {ALICE: first}
    last = [first + LONGEST_RANGE * n for n in range(1, 4)]
    assert ranges(node) == [(first, last[0] - 1), (last[0], last[1] - 1), (last[1], last[2] - 1), (last[2], 10_000)]
    chain.mine(*[()] * 5)
    await following.round()
    assert ranges(node) == [(10_000 - WINDOW + 1, 10_005)]


async def test_a_wallet_that_is_added_is_looked_back_by_itself(database: Database) -> None:
    chain = Chain("", 300)
    chain.blocks[200:202] = [block._replace(sent=(Sent(BOB, CAROL), *GIFT)) for block in chain.blocks[200:202]]
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    await following.round()
    ranges(node)
    following.watched.add(BOB)
    chain.mine(())
    await following.round()
    assert ranges(node) == [(297 - WINDOW + 1, 298), (0, 298)]
    assert await following.seen() == chain.seen({ALICE: 0, BOB: 0}, 298)
    chain.mine(())
    await following.round()
    assert ranges(node) == [(298 - WINDOW + 1, 299)]


async def test_a_wallet_taken_out_for_a_while_loses_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FIRST_BLOCKS", 50)
    chain = Chain("", 20)
    chain.mine(GIFT)
    chain.mine(*[()] * LAG)
    following = Following(database, [SimulatedNode(chain)], [ALICE, BOB])
    await following.round()
    following.watched.remove(ALICE)
    chain.mine(GIFT, *[()] * 49)
    await following.round()
    following.watched.add(ALICE)
    chain.mine(())
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0, BOB: 0}, 72) != []
    assert [each[0] for each in await following.seen()] == [21, 25]


async def test_a_wallet_taken_out_for_longer_is_forgotten(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "FIRST_BLOCKS", 50)
    chain = Chain("", 20)
    chain.mine(GIFT)
    chain.mine(*[()] * LAG)
    following = Following(database, [SimulatedNode(chain)], [ALICE, BOB])
    await following.round()
    following.watched.remove(ALICE)
    chain.mine(*[()] * 51)
    await following.round()
    following.watched.add(ALICE)
    await following.round()
    assert await following.firsts() == {ALICE: 23, BOB: 0}
    assert await following.seen() == []


async def test_ranges_are_halved_until_a_node_takes_them_and_doubled_after(database: Database) -> None:
    chain = Chain("", 1_000 + LAG)
    node = SimulatedNode(chain)
    node.most = 130
    following = Following(database, [node], [ALICE])
    await following.round()
    sizes = [last - first + 1 for first, last in ranges(node)]
    assert sizes[:5] == [1_001, 500, 250, 125, 250]
    assert sum(size for size in sizes if size <= 130) == 1_001
    node.most = 2_000
    chain.mine(*[()] * 2_000)
    await following.round()
    assert max(last - first + 1 for first, last in ranges(node)) == 1_000


async def test_what_was_read_before_a_failure_is_kept(database: Database) -> None:
    chain = Chain("", 10_000)
    chain.blocks[3_000] = chain.blocks[3_000]._replace(sent=GIFT)
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    node.at_call(12, lambda: setattr(node, "down", True))
    with pytest.raises(UpstreamError):
        await following.round()
    (kept,) = await following.ledger.scans(MAINNET)
    assert 3_000 < kept.through < 9_997
    assert len(await following.seen()) == 1
    node.recover()
    ranges(node)
    await following.round()
    assert ranges(node)[0][0] == kept.through - WINDOW + 1
    assert await following.seen() == chain.seen({ALICE: kept.first}, 9_997)


async def test_many_wallets_are_asked_for_a_hundred_at_once(database: Database) -> None:
    wallets = [address(number) for number in range(250)]
    chain = Chain("", 10)
    chain.mine(tuple(Sent(CAROL, wallet) for wallet in wallets))
    chain.mine(*[()] * LAG)
    node = SimulatedNode(chain)
    following = Following(database, [node], wallets)
    await following.round()
    asked = [parameters[0]["topics"] for method, parameters in node.asked if method == "eth_getLogs"]
    assert sorted(len(topics[1] or topics[2]) for topics in asked) == [50, 50, 100, 100, 100, 100]
    assert len(await following.seen()) == 250


async def followed(database: Database, *blocks: tuple[Sent, ...], idle: int = 0) -> tuple[Chain, Following]:
    """A chain of 200 blocks, then these and some quiet ones, followed up to the newest that is not left alone."""
    chain = Chain("", 200)
    chain.mine(*blocks)
    chain.mine(*[()] * (idle + LAG))
    following = Following(database, two_nodes(chain), [ALICE])
    await following.round()
    return chain, following


@pytest.mark.parametrize("depth", [4, 10, 50, 150])
async def test_a_fork_takes_away_what_lay_above_it_and_brings_its_own(database: Database, depth: int) -> None:
    chain, following = await followed(database, *[GIFT] * 100)
    chain.fork(depth, *[(Sent(ALICE, BOB, 7),)] * (depth + 2))
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 302)
    assert following.drawer.current.value is not None
    assert following.drawer.current.value.through == 302


async def test_a_fork_below_all_that_is_known_is_followed_from_the_first_block_on(database: Database) -> None:
    chain, following = await followed(database, *[GIFT] * 5)
    chain.fork(204, *[GIFT, ()] * 110)
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, chain.height - LAG) != []


async def test_a_quiet_fork_is_seen_by_the_block_that_looking_stopped_at(database: Database) -> None:
    """All that was taken back lies below the blocks that are looked through once more."""
    chain, following = await followed(database, GIFT, idle=WINDOW + 10)
    chain.fork(LAG + WINDOW + 11, *[()] * (LAG + WINDOW + 12))
    await following.round()
    assert await following.seen() == []


STALE = "0x" + "00" * 32


def spoil(connection: Connection) -> None:
    """Have what is kept of a block be another fork's."""
    connection.execute("UPDATE wallet_blocks SET hash = ? WHERE number = 201", (STALE,))


async def test_a_fork_that_only_the_logs_tell_of_is_followed_too(database: Database) -> None:
    """What is kept of a block is another fork's, though the block that looking stopped at is not."""
    chain, following = await followed(database, GIFT, idle=3)
    await database.write(spoil)
    chain.mine(())
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 205) != []
    assert STALE not in {block_hash for _, block_hash in await following.ledger.known(MAINNET, 0, 300)}


async def test_what_a_fork_took_away_is_missed_though_nothing_else_tells_of_it(database: Database) -> None:
    chain, following = await followed(database, GIFT, idle=3)
    await database.write(spoil)
    chain.blocks[201] = chain.blocks[201]._replace(sent=())
    chain.mine(())
    await following.round()
    assert await following.seen() == []


async def test_what_was_seen_in_a_block_that_stands_stays_though_a_node_leaves_it_out(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    chain, following = await followed(database, GIFT, (Sent(ALICE, CAROL), Sent(ALICE, BOB)), idle=3)
    before = await following.seen()
    chain.blocks[201] = chain.blocks[201]._replace(sent=())
    chain.blocks[202] = chain.blocks[202]._replace(sent=chain.blocks[202].sent[:1])
    chain.mine(())
    with caplog.at_level(logging.WARNING):
        await following.round()
    assert await following.seen() == before
    assert [record.__dict__["blocks"] for record in caplog.records] == [2]


async def test_logs_that_come_late_are_found_by_looking_once_more(database: Database) -> None:
    chain = Chain("", 200)
    chain.mine(GIFT, *[()] * 10)
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    node.late = 20
    await following.round()
    assert await following.seen() == []
    node.late = 0
    chain.mine(*[()] * 50)
    await following.round()
    assert len(await following.seen()) == 1


async def test_a_block_that_only_the_logs_tell_of_is_no_fork(database: Database) -> None:
    """The node's logs are of another fork than its blocks: it is not believed, and nothing is taken away."""
    chain, following = await followed(database, GIFT, idle=3)
    first, second = two_nodes(chain)
    first.twist = second.twist = lambda method, told: (
        told if method != "eth_getLogs" else [{**log, "blockHash": "0x" + "00" * 32} for log in told]
    )
    following = Following(database, [first, second], [ALICE])
    chain.mine(())
    with pytest.raises(UpstreamError):
        await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 204) != []


async def test_a_deep_fork_is_believed_only_where_no_other_node_holds_to_the_old_chain(database: Database) -> None:
    chain, following = await followed(database, *[GIFT] * 100)
    strange = chain.copy("strange")
    strange.fork(100, *[()] * 120)
    first, second = two_nodes(chain)
    first.chain = strange
    chain.mine(*[GIFT] * 20)
    following = Following(database, [first, second], [ALICE])
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 320)
    second.down = True
    strange.mine(*[()] * 20)
    await Following(database, [first, second], [ALICE]).round()
    assert await following.seen() == strange.seen({ALICE: 0}, 340)


async def test_a_chain_that_forks_again_and_again_is_given_up_for_this_round(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, following = await followed(database, *[GIFT] * 10)
    monkeypatch.setattr(scan, "_TRIES", 1)
    chain.fork(10, *[()] * 11)
    with pytest.raises(UpstreamError) as raised:
        await following.round()
    assert raised.value.body == "the chain changes faster than it can be read"
    assert following.drawer.current.failure is not None
    assert following.drawer.current.failure.body == raised.value.body
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 211)
    assert following.drawer.current.failure is None


async def test_a_node_that_is_behind_takes_nothing_away(database: Database) -> None:
    chain, following = await followed(database, *[GIFT] * 10)
    first, _ = nodes = two_nodes(chain)
    first.behind = 8
    following = Following(database, nodes[:1], [ALICE])
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 210)
    assert following.drawer.current.value is not None
    assert following.drawer.current.value.through == 210


async def test_a_chain_of_a_few_blocks_is_looked_through_from_its_first(database: Database) -> None:
    chain = Chain()
    node = SimulatedNode(chain)
    following = Following(database, [node], [ALICE])
    await following.round()
    assert following.drawer.current.value is not None
    assert following.drawer.current.value.through == 0
    chain.mine(GIFT, *[()] * LAG)
    await following.round()
    assert await following.seen() == chain.seen({ALICE: 0}, 1) != []


async def test_two_processes_at_once_write_nothing_twice(database: Database) -> None:
    chain, following = await followed(database, GIFT)
    ledger = WalletLedger(database)
    (kept,) = await ledger.scans(MAINNET)
    head = chain.blocks[202]
    ahead = Range(MAINNET, [ALICE], kept.through, Header(202, head.hash, 0), [], [])
    await ledger.add(ahead)
    with pytest.raises(OvertakenError):
        await ledger.add(ahead)
    gone = Header(201, "0x" + "11" * 32, 0)
    with pytest.raises(OvertakenError):
        await ledger.add(Range(MAINNET, [ALICE], 202, Header(203, head.hash, 0), [gone], []))
    with pytest.raises(OvertakenError):
        await ledger.roll_back(MAINNET, (202, gone.hash), 100)
    assert [each.through for each in await ledger.scans(MAINNET)] == [202]
    assert len(await following.seen()) == 1


async def test_a_round_that_is_overtaken_ends_quietly(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    chain, following = await followed(database, GIFT)
    nodes = two_nodes(chain)
    late, other = Following(database, nodes, [ALICE]), Following(database, two_nodes(chain), [ALICE])
    chain.mine(())
    scans = await following.ledger.scans(MAINNET)
    stale = late.ledger

    async def remembered(_: int) -> list[object]:
        return list(scans)

    stale.scans = remembered  # type: ignore[method-assign, assignment]
    await other.round()
    with caplog.at_level(logging.WARNING):
        await late.round()
    assert "Another process" in caplog.text
    assert late.drawer.current.value is None


async def test_checkpoints_are_kept_for_the_window_and_one_below(database: Database) -> None:
    chain, following = await followed(database)
    for _ in range(40):
        chain.mine(*[()] * 5)
        await following.round()
    numbers = [number for number, _ in await following.ledger.known(MAINNET, 0, 10_000)]
    through = chain.height - LAG
    assert numbers == list(range(through - 65, through + 1, 5))


async def test_the_block_that_looking_stopped_at_is_kept_however_far_the_others_have_got(database: Database) -> None:
    chain, following = await followed(database)
    following.watched = {ALICE, BOB}
    await following.round()
    stopped = chain.height - LAG
    following.watched = {ALICE}
    for _ in range(40):
        chain.mine(*[()] * 5)
        await following.round()
    assert (stopped, chain.blocks[stopped].hash) in await following.ledger.known(MAINNET, 0, stopped)


async def test_what_is_older_than_is_kept_goes_and_stays_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, following = await followed(database, GIFT, GIFT, idle=3)
    monkeypatch.setattr(refresh, "KEPT_MS", 20 * BLOCK_S * 1000)
    chain.mine(*[()] * 14)
    for _ in range(2):
        await following.round()
        assert [each[0] for each in await following.seen()] == [202]
        assert await following.firsts() == {ALICE: 202}


async def test_the_store_failing_is_told(database: Database) -> None:
    chain, following = await followed(database, GIFT)
    chain.mine(())

    async def full(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "the disk is full")

    following.ledger.add = full  # type: ignore[method-assign, assignment]
    with pytest.raises(ServiceError, match="disk"):
        await following.round()
