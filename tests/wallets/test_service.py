"""The room's front over a store written by hand: what is told, page by page, and what is refused."""

from typing import Any

import msgspec
import pytest

from service.clock import HOUR_MS, iso
from service.errors import ServiceError
from service.ethereum.addresses import checksum_address
from service.storage.database import Database
from service.storage.documents import DocumentStore, FetchFailure
from service.storage.engine import Connection
from service.wallets.service import WalletService
from service.wallets.store import Scanned, WalletStore
from service.wallets.watchlist import Watched, WatchedWallets
from service.wire.cursor import Cursors
from service.wire.envelope import Answer, encode
from service.wire.wallets import Movements, WalletsQuery
from service.wire.wallets import Watchlist as Told
from tests.fakes.clock import START_MS, FakeClock

# EIP-55's own examples, so that what is written has checksums that somebody else has worked out.
EXCHANGE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
FUND = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
STRANGER = "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"
USDC = "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"
NAMELESS = "0xde709f2102306220921060314715629080e2fb77"
LISTED = [Watched(EXCHANGE.lower(), "An exchange", "exchange"), Watched(FUND.lower())]
HEAD_MS = START_MS - 30_000

Row = tuple[int, int, int, str, str, str, str, float | None]
"""Block, log, incoming, wallet, contract, counterparty, amount, USD."""

ROWS: list[Row] = [
    (100, 0, 1, EXCHANGE, USDC, STRANGER, "1500000", 1.5),
    (100, 1, 0, EXCHANGE, USDC, FUND, "1", None),
    (100, 1, 1, FUND, USDC, EXCHANGE, "1", None),
    (101, 0, 0, FUND, USDC, FUND, "2000000", 2.0),
    (101, 0, 1, FUND, USDC, FUND, "2000000", 2.0),
    (102, 7, 1, FUND, NAMELESS, STRANGER, str(2**256 - 1), None),
    (103, 2, 0, EXCHANGE, USDC, STRANGER, "123456789", 123.46),
]


def tx(block: int) -> str:
    return f"0x{block:064x}"


def block_ms(block: int) -> int:
    return HEAD_MS - (110 - block) * 12_000


async def write(database: Database, rows: list[Row], chain: int = 1) -> None:
    def work(connection: Connection) -> None:
        for block in {row[0] for row in rows}:
            connection.execute(
                "INSERT INTO wallet_blocks VALUES (?, ?, ?, ?)", (chain, block, tx(block), block_ms(block))
            )
        for block, log, incoming, wallet, contract, other, amount, usd in rows:
            connection.execute(
                "INSERT INTO wallet_movements (chain_id, block, log_index, incoming, address, contract, counterparty,"
                " amount, amount_usd, tx) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (chain, block, log, incoming, wallet.lower(), contract.lower(), other.lower(), amount, usd, tx(block)),
            )

    await database.write(work)


class Front:
    def __init__(self, database: Database, clock: FakeClock, listed: list[Watched]) -> None:
        self.clock = clock
        self.watchlist = WatchedWallets(database, listed, clock)
        self.drawer = DocumentStore(database).document("wallets.scanned", Scanned)
        cursors = Cursors(bytes(32))
        self.desk = WalletService(clock, self.watchlist, WalletStore(database), self.drawer, cursors)

    async def told(self, **query: Any) -> Any:
        asked = WalletsQuery(**query)
        answer = await self.desk.wallets(asked)
        kind = Told if asked.action == "watchlist" else Movements
        return msgspec.json.decode(encode(answer.data), type=kind)

    async def refused(self, **query: Any) -> ServiceError:
        with pytest.raises(ServiceError) as caught:
            await self.desk.wallets(WalletsQuery(**query))
        return caught.value

    async def pages(self, **query: Any) -> list[Any]:
        """Every entry of a list, page by page."""
        entries: list[Any] = []
        while True:
            page = await self.told(**query)
            told = page.watchlist if isinstance(page, Told) else page.movements
            entries += told
            if page.meta.next_cursor is None:
                return entries
            assert len(told) == query["limit"]
            query["cursor"] = page.meta.next_cursor


@pytest.fixture
async def front(database: Database, clock: FakeClock) -> Front:
    made = Front(database, clock, LISTED)
    await write(database, ROWS)
    await database.write(
        lambda connection: connection.execute(
            "INSERT INTO wallet_tokens (chain_id, contract, symbol, decimals, told) VALUES (1, ?, 'USDC', 6, 1)",
            (USDC.lower(),),
        )
    )
    await made.drawer.put("live", Scanned(1, 110, 107), HEAD_MS)
    return made


def moved(**query: Any) -> dict[str, Any]:
    return {"action": "movements", "contract": USDC, **query}


@pytest.mark.promise("wallets.watchlist")
async def test_a_watched_wallet_is_told_with_its_words_and_the_tokens_that_moved_the_last_first(front: Front) -> None:
    told = {wallet.address: wallet for wallet in (await front.told()).watchlist}
    exchange, fund = told[EXCHANGE], told[FUND]
    assert (exchange.chainId, exchange.label, exchange.kind) == (1, "An exchange", "exchange")
    assert (fund.label, fund.kind) == (None, None)
    assert [(token.contract, token.symbol, token.decimals, token.movements) for token in fund.tokens] == [
        (checksum_address(NAMELESS), None, None, 1), (USDC, "USDC", 6, 3)
    ]  # fmt: skip
    assert [(token.movements, token.last_moved_at) for token in exchange.tokens] == [(3, iso(block_ms(103)))]


@pytest.mark.promise("wallets.as-of")
async def test_the_answer_is_as_old_as_the_head_that_was_read(front: Front) -> None:
    for query in (WalletsQuery(), WalletsQuery(action="movements", contract=USDC)):
        answer = await front.desk.wallets(query)
        assert (answer.as_of_ms, answer.counted) == (HEAD_MS, True)
    meta = (await front.told()).meta
    assert (meta.total, meta.chainId, meta.through_block, meta.next_cursor) == (2, 1, 107, None)


@pytest.mark.promise("wallets.movements")
async def test_movements_come_newest_first_with_exact_amounts(front: Front) -> None:
    told = await front.told(**moved())
    assert [(each.block, each.direction, each.amount) for each in told.movements] == [
        (103, "out", "123.456789"),
        (101, "in", "2"), (101, "out", "2"),
        (100, "in", "0.000001"), (100, "out", "0.000001"),
        (100, "in", "1.5"),
    ]  # fmt: skip
    assert msgspec.to_builtins(told.movements[0]) == {
        "id": f"{tx(103)}-2-out", "contract": USDC, "token": "USDC", "address": EXCHANGE, "counterparty": STRANGER,
        "direction": "out", "amount": "123.456789", "amount_usd": 123.46, "tx": tx(103), "block": 103,
        "ts": iso(block_ms(103)), "label": "An exchange",
    }  # fmt: skip
    assert (told.meta.total, told.meta.contract, told.meta.chainId, told.meta.next_cursor) == (6, USDC, 1, None)
    assert len({each.id for each in told.movements}) == 6


@pytest.mark.promise("wallets.movements")
async def test_what_a_contract_does_not_tell_is_null_and_the_amount_is_in_its_smallest_units(front: Front) -> None:
    (only,) = (await front.told(**moved(contract=NAMELESS))).movements
    assert (only.token, only.amount, only.amount_usd) == (None, str(2**256 - 1), None)


async def test_the_largest_amounts_of_a_token_with_decimals_keep_every_digit(front: Front, database: Database) -> None:
    await write(database, [(104, 0, 1, FUND, USDC, STRANGER, str(10**77 + 1), None)])
    assert (await front.told(**moved(limit=1))).movements[0].amount == "1" + "0" * 71 + ".000001"


@pytest.mark.promise("wallets.parameters")
async def test_an_address_narrows_both_down_in_any_case(front: Front) -> None:
    for address in (FUND, FUND.lower(), "0x" + FUND[2:].upper()):
        told = await front.told(address=address)
        assert ([wallet.address for wallet in told.watchlist], told.meta.total) == ([FUND], 1)
        narrowed = await front.told(**moved(address=address, contract=USDC.lower()))
        assert ({each.address for each in narrowed.movements}, narrowed.meta.total) == ({FUND}, 3)


async def test_a_token_that_never_moved_has_no_movements(front: Front) -> None:
    told = await front.told(**moved(contract=STRANGER))
    assert (told.movements, told.meta.total, told.meta.contract) == ([], 0, STRANGER)


async def test_an_address_that_is_not_watched_is_not_found(front: Front) -> None:
    for query in ({"address": STRANGER}, moved(address=STRANGER)):
        error = await front.refused(**query)
        assert (error.code, error.message) == ("NOT_FOUND", f"{STRANGER} is not watched.")


@pytest.mark.slow
@pytest.mark.promise("wallets.parameters")
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 200])
async def test_pages_hold_every_movement_once_whatever_their_size(front: Front, limit: int) -> None:
    whole = (await front.told(**moved())).movements
    assert await front.pages(**moved(limit=limit)) == whole


async def test_what_comes_while_pages_are_read_is_neither_told_twice_nor_pushes_anything_out(
    front: Front, database: Database
) -> None:
    whole = (await front.told(**moved())).movements
    first = await front.told(**moved(limit=2))
    await write(database, [(105, 0, 1, FUND, USDC, STRANGER, "5", None)])
    rest = await front.pages(**moved(limit=2, cursor=first.meta.next_cursor))
    assert [*first.movements, *rest] == whole


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
async def test_pages_of_the_watchlist_hold_every_wallet_once(database: Database, clock: FakeClock, limit: int) -> None:
    front = Front(database, clock, [Watched(f"0x{number:040x}") for number in range(20)])
    await front.drawer.put("live", Scanned(1, 110, 107), HEAD_MS)
    whole = (await front.told(limit=200)).watchlist
    assert len({wallet.address for wallet in whole}) == 20
    assert await front.pages(limit=limit) == whole


async def test_a_page_goes_on_after_the_last_one_though_wallets_went_meanwhile(
    database: Database, clock: FakeClock
) -> None:
    front = Front(database, clock, [Watched(f"0x{number:040x}") for number in range(20)])
    await front.drawer.put("live", Scanned(1, 110, 107), HEAD_MS)
    whole = (await front.told(limit=200)).watchlist
    cursor = (await front.told(limit=7)).meta.next_cursor
    for gone in (whole[2], whole[6], whole[-1]):
        await front.watchlist.remove(gone.address.lower())
    assert await front.pages(limit=2, cursor=cursor) == whole[7:-1]


@pytest.mark.promise("cursors.foreign")
async def test_a_cursor_is_good_for_its_own_list_alone(front: Front) -> None:
    of_movements = (await front.told(**moved(limit=1))).meta.next_cursor
    of_wallets = (await front.told(limit=1)).meta.next_cursor
    assert of_movements
    assert of_wallets
    for query in (
        {"cursor": of_movements},
        moved(cursor=of_wallets),
        moved(cursor=of_movements, address=FUND),
        moved(cursor=of_movements, contract=NAMELESS),
        moved(cursor=of_movements[:-1] + ("A" if of_movements[-1] != "A" else "B")),
    ):
        error = await front.refused(**query)
        assert (error.code, error.details) == ("BAD_REQUEST", {"parameter": "cursor"})
    assert (await front.told(**moved(cursor=of_movements, contract=USDC.lower()))).meta.total == 6


async def test_a_wallet_that_was_removed_is_told_of_no_longer_at_once(front: Front) -> None:
    await front.watchlist.remove(EXCHANGE.lower())
    assert {each.address for each in (await front.told(**moved())).movements} == {FUND}
    assert (await front.told(**moved())).meta.total == 3
    assert [wallet.address for wallet in (await front.told()).watchlist] == [FUND]


async def test_a_label_by_command_is_told_at_once(front: Front) -> None:
    await front.watchlist.label(EXCHANGE.lower(), "Renamed")
    assert (await front.told(**moved(limit=1))).movements[0].label == "Renamed"


async def test_where_nobody_is_watched_the_answer_is_empty_of_now_and_costs_nothing(
    database: Database, clock: FakeClock
) -> None:
    front = Front(database, clock, [])
    answers: list[Answer] = [
        await front.desk.wallets(WalletsQuery()),
        await front.desk.wallets(WalletsQuery(**moved())),
    ]
    assert {(answer.as_of_ms, answer.counted) for answer in answers} == {(START_MS, False)}
    told, movements = (msgspec.to_builtins(answer.data) for answer in answers)
    assert told == {
        "watchlist": [], "meta": {"total": 0, "chainId": None, "through_block": None, "next_cursor": None}
    }  # fmt: skip
    assert movements == {
        "movements": [], "meta": {"total": 0, "contract": USDC, "chainId": None, "next_cursor": None}
    }  # fmt: skip
    assert (await front.refused(address=FUND)).code == "NOT_FOUND"


async def test_before_the_chain_was_read_and_where_that_fails_nothing_is_made_up(
    database: Database, clock: FakeClock
) -> None:
    front = Front(database, clock, LISTED)
    for query in ({}, moved()):
        early = await front.refused(**query)
        assert (early.code, early.headers) == ("UNAVAILABLE", {"Retry-After": "5"})
    await front.drawer.fail(FetchFailure(START_MS, 429, "slow down"))
    failed = await front.refused()
    assert failed.code == "UPSTREAM_4XX"
    assert failed.details == {"upstream": "ethereum", "upstreamStatus": 429, "upstreamBody": "slow down"}


async def test_what_was_read_is_told_with_its_age_until_it_is_two_days_old(front: Front, clock: FakeClock) -> None:
    await front.drawer.fail(FetchFailure(START_MS, None, "no answer"))
    clock.set_wall(HEAD_MS + 48 * HOUR_MS)
    assert (await front.desk.wallets(WalletsQuery())).as_of_ms == HEAD_MS
    clock.set_wall(HEAD_MS + 48 * HOUR_MS + 1)
    assert (await front.refused()).code == "UPSTREAM_UNREACHABLE"


async def test_what_moved_on_another_chain_is_not_told(front: Front, database: Database) -> None:
    await write(database, [(900, *ROWS[0][1:])], chain=10)
    assert (await front.told(**moved())).meta.total == 6
