"""What was worth most of all that moved, whatever the token: what questions ask that name no coin."""

import msgspec
import pytest

from service.clock import DAY_MS, iso
from service.errors import ServiceError
from service.storage.database import Database
from service.wallets.service import GONE_MS
from service.wallets.store import Scanned
from service.wire.tools import RecentMovements, RecentQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.wallets.test_service import (
    EXCHANGE,
    FUND,
    HEAD_MS,
    LISTED,
    NAMELESS,
    ROWS,
    STRANGER,
    USDC,
    Front,
    Row,
    write,
)

OLD = 110 - DAY_MS // 12_000
"""A block of a day ago, less than the half minute that the newest is old."""

MORE: list[Row] = [
    (104, 0, 0, EXCHANGE, NAMELESS, STRANGER, "77", 123.46),
    (104, 1, 1, FUND, USDC, STRANGER, "5000000", 5.0),
    (OLD - 3, 0, 1, FUND, USDC, STRANGER, "9000000", 9.0),
]


@pytest.fixture
async def front(database: Database, clock: FakeClock) -> Front:
    made = Front(database, clock, LISTED)
    await write(database, [*ROWS, *MORE])
    await database.write(
        lambda connection: connection.execute(
            "INSERT INTO wallet_tokens (chain_id, contract, symbol, decimals, told) VALUES (1, ?, 'USDC', 6, 1)",
            (USDC.lower(),),
        )
    )
    await made.drawer.put("live", Scanned(1, 110, 107), HEAD_MS)
    return made


async def told(front: Front, **query: int) -> RecentMovements:
    answer = await front.desk.recent(RecentQuery(**query))
    assert answer.counted
    assert answer.as_of_ms == HEAD_MS
    return msgspec.convert(msgspec.to_builtins(answer.data), RecentMovements)


async def test_the_largest_come_first_of_all_tokens_and_of_equals_the_newest(front: Front) -> None:
    recent = await told(front)
    assert [(row.block, row.amount_usd, row.amount, row.token) for row in recent.movements] == [
        (104, 123.46, "77", None),
        (103, 123.46, "123.456789", "USDC"),
        (104, 5.0, "5", "USDC"),
        (101, 2.0, "2", "USDC"),
        (100, 1.5, "1.5", "USDC"),
    ]
    assert (recent.total, recent.wallets, recent.chainId, recent.days) == (5, 2, 1, 1)
    assert recent.since == iso(START_MS - DAY_MS)
    assert (recent.movements[0].label, recent.movements[0].address) == ("An exchange", EXCHANGE)


async def test_between_watched_wallets_a_transfer_is_one_out_of_the_senders(front: Front, database: Database) -> None:
    both: list[Row] = [
        (105, 4, 0, FUND, USDC, EXCHANGE, "1", 50.0),
        (105, 4, 1, EXCHANGE, USDC, FUND, "1", 50.0),
    ]
    await write(database, both)
    found = [row for row in (await told(front)).movements if row.block in {101, 105}]
    assert [(row.address, row.counterparty, row.direction) for row in found] == [
        (FUND, EXCHANGE, "out"),
        (FUND, FUND, "out"),
    ]


async def test_as_many_as_are_asked_for_are_told_and_all_are_counted(front: Front) -> None:
    recent = await told(front, limit=2)
    assert (len(recent.movements), recent.total) == (2, 5)


async def test_further_back_more_has_moved(front: Front) -> None:
    assert [row.block for row in (await told(front, days=2)).movements if row.amount_usd == 9.0] == [OLD - 3]


async def test_where_nothing_of_worth_moved_there_is_nothing(front: Front, clock: FakeClock) -> None:
    clock.set_wall(START_MS + DAY_MS)
    recent = await told(front)
    assert (recent.movements, recent.total, recent.wallets) == ([], 0, 2)


async def test_where_nobody_is_watched_it_is_empty_and_costs_nothing(database: Database, clock: FakeClock) -> None:
    nobody = Front(database, clock, [])
    answer = await nobody.desk.recent(RecentQuery())
    assert not answer.counted
    assert answer.data == RecentMovements(iso(START_MS - DAY_MS), 1, 0, None, 0, [])
    assert nobody.desk.chain_id is None


async def test_the_chain_and_who_is_watched_can_be_asked(front: Front) -> None:
    assert front.desk.chain_id == 1
    assert [wallet.address for wallet in await front.desk.watched()] == [FUND.lower(), EXCHANGE.lower()]


async def test_what_was_read_too_long_ago_is_not_told_as_recent(front: Front, clock: FakeClock) -> None:
    clock.set_wall(HEAD_MS + GONE_MS + 1)
    with pytest.raises(ServiceError):
        await front.desk.recent(RecentQuery())
