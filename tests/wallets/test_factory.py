"""The room, opened on the recorded chain: what it has read is what the recording holds, through its reorganisation."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from fixtures import chain
from service.clock import HOUR_MS, SECOND_MS
from service.market.factory import MarketData
from service.market.models import Bar
from service.market.past_prices import PastPriceReader
from service.market.store import MarketStore
from service.scheduler import Leadership, already_set
from service.settings import Settings
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.upstream.fixture_set import read_files
from service.upstream.replay.ethereum import BLOCK_S, LOGS_FILE, ORPHANS_FILE, Log
from service.upstream.replay.server import Replay, replay_server
from service.wallets.factory import WalletSources, open_wallets
from service.wallets.refresh import EVERY_S
from service.wallets.service import WalletService
from service.wallets.watchlist import Watched, read_listed
from service.wire.cursor import Cursors
from service.wire.envelope import encode
from service.wire.wallets import Movements, WalletsQuery, Watchlist
from tests.fakes.clock import FakeClock
from tests.upstream.conftest import FIXTURES

LOGS = msgspec.json.decode(read_files(FIXTURES)[LOGS_FILE], type=list[Log])
ORPHANS = msgspec.json.decode(read_files(FIXTURES)[ORPHANS_FILE], type=list[Log])
WATCHED = {wallet.address for wallet in chain.WALLETS}
WETH = chain.TOKENS[1].address
A_DAY = 7_200


def at_block(number: int) -> int:
    return (chain.FIRST_S + (number - chain.FIRST_BLOCK) * BLOCK_S) * SECOND_MS


def eth_at(hour: int) -> float:
    """The price of ETH when an hour since 1970 begins."""
    return 3_000.0 + hour % 24


class Pausing(FakeClock):
    """A clock that can be waited for: `rounds` counts the pauses between two rounds of the room's loop."""

    def __init__(self, at_ms: int) -> None:
        super().__init__(at_ms)
        self.rounds = 0
        self._paused = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds >= EVERY_S / 2:
            self.rounds += 1
            self._paused.set()
        await super().sleep(seconds)

    async def paused(self, times: int) -> None:
        async with asyncio.timeout(30):
            while self.rounds < times:
                self._paused.clear()
                await self._paused.wait()


@pytest.fixture
def clock() -> Pausing:
    """The last second in which the blocks that will be replaced are there."""
    return Pausing(at_block(chain.FORK + chain.ORPHANED))


@pytest.fixture
async def replay(clock: FakeClock) -> AsyncIterator[Replay]:
    async with replay_server(FIXTURES, clock, "frozen") as opened:
        yield opened


@asynccontextmanager
async def opened(
    database: Database, clock: FakeClock, url: str, *, listed: list[Watched], leads: bool = True
) -> AsyncIterator[WalletService]:
    coins = SimpleNamespace(view=lambda: {"ETH": SimpleNamespace(venue_symbol="ETH")})
    past = PastPriceReader(clock, database, list, lambda _: None)
    market = cast(
        "MarketData",
        SimpleNamespace(coins=coins, past_prices=past, funding_loaded=already_set(), series_loaded=already_set()),
    )
    store = MarketStore(database)
    await store.claim("fixtures")
    hours = range(clock.now_ms() // HOUR_MS - 30, clock.now_ms() // HOUR_MS + 1)
    bars = [Bar(hour * HOUR_MS, price, price, price, price, 1.0, 1) for hour in hours if (price := eth_at(hour + 1))]
    await store.put_bars("fixtures", "ETH", bars, bars[-2].open_ms, interval="1h")
    followed = WalletSources(listed, [url], lambda: "fixtures")
    async with open_wallets(
        database, DocumentStore(database), Cursors(bytes(32)), market, clock, followed, Leadership(lambda: leads)
    ) as desk:
        yield desk


LISTED = read_listed(Settings(source="fixtures"))


async def told(desk: WalletService, **query: Any) -> Any:
    asked = WalletsQuery(**query)
    kind = Watchlist if asked.action == "watchlist" else Movements
    return msgspec.json.decode(encode((await desk.wallets(asked)).data), type=kind)


def counted(watchlist: Watchlist) -> Counter[tuple[str, str]]:
    return Counter(
        {
            (wallet.address.lower(), token.contract.lower()): token.movements
            for wallet in watchlist.watchlist
            for token in wallet.tokens
        }
    )


def recorded(logs: list[Log], first: int, last: int) -> Counter[tuple[str, str]]:
    """Movements by wallet and token, straight from the recorded logs."""
    return Counter(
        (wallet, log.address)
        for log in logs
        if first <= log.block <= last and log.topics[0] == chain.TRANSFER
        if len(log.topics) == 3 and len(log.data) == 66
        for topic in log.topics[1:]
        if (wallet := "0x" + topic[-40:]) in WATCHED
    )


@pytest.mark.promise("wallets.as-of", "wallets.watchlist", "wallets.movements")
async def test_what_moved_in_the_last_day_is_told_as_recorded_and_again_rightly_where_the_chain_thought_better(
    database: Database, clock: Pausing, replay: Replay
) -> None:
    async with opened(database, clock, replay.base("ethereum"), listed=LISTED) as desk:
        await clock.paused(1)
        young = await told(desk)
        through = chain.FORK + chain.ORPHANED - 3
        first = through - A_DAY + 1
        before = [*(log for log in LOGS if log.block <= chain.FORK), *ORPHANS]
        assert (young.meta.chainId, young.meta.through_block) == (1, through)
        assert counted(young) == recorded(before, first, through)

        await clock.advance(EVERY_S)
        await clock.paused(2)
        settled = await told(desk)
        assert settled.meta.through_block == through + EVERY_S // BLOCK_S
        assert counted(settled) == recorded(LOGS, first, settled.meta.through_block) != counted(young)
        await check_words_and_amounts(desk, settled, first)
        assert (await desk.wallets(WalletsQuery())).as_of_ms == clock.now_ms()


async def check_words_and_amounts(desk: WalletService, watchlist: Watchlist, first: int) -> None:
    named = {
        token.contract.lower(): (token.symbol, token.decimals) for each in watchlist.watchlist for token in each.tokens
    }
    assert {named[token.address] for token in chain.TOKENS} == {
        (token.symbol, token.decimals) for token in chain.TOKENS
    }
    assert named[chain.SCAM.address] == ("USDC", 18)
    assert named[chain.NAMELESS.address] == (None, None)
    assert "\x1b" not in str(named[chain.SPAM.address][0])
    last = watchlist.meta.through_block or 0
    page = await told(desk, action="movements", contract=WETH, address=chain.WALLETS[0].address, limit=200)
    values = [
        (int(log.data, 16), eth_at(at_block(log.block) // HOUR_MS))
        for log in LOGS
        if first <= log.block <= last and log.address == WETH and log.topics[0] == chain.TRANSFER
        for topic in log.topics[1:]
        if topic.endswith(chain.WALLETS[0].address[2:])
    ]
    assert page.meta.total == len(values)
    newest = values[: -len(page.movements) - 1 : -1]
    assert [Decimal(each.amount) * 10**18 for each in page.movements] == [value for value, _ in newest]
    assert len({price for _, price in newest}) > 1
    assert [each.amount_usd for each in page.movements] == [round(value / 10**18 * price, 2) for value, price in newest]


async def test_a_process_that_does_not_lead_asks_nobody_and_tells_what_the_leader_keeps(
    database: Database, clock: Pausing, replay: Replay
) -> None:
    async with opened(database, clock, replay.base("ethereum"), listed=LISTED):
        await clock.paused(1)
    async with opened(database, clock, "http://127.0.0.1:1", listed=LISTED, leads=False) as follower:
        await clock.paused(2)
        assert sum(counted(await told(follower)).values()) > 1_000


async def test_where_nobody_is_watched_no_node_is_asked(database: Database, clock: Pausing) -> None:
    async with opened(database, clock, "http://127.0.0.1:1", listed=[]) as desk:
        await clock.paused(1)
        assert (await told(desk)).watchlist == []
        assert desk._document.current.failure is None


async def test_a_coin_without_a_price_gives_no_value(database: Database, clock: Pausing, replay: Replay) -> None:
    async with opened(database, clock, replay.base("ethereum"), listed=LISTED[:1]) as desk:
        await clock.paused(1)
        for token in chain.TOKENS:
            page = await told(desk, action="movements", contract=token.address)
            assert page.movements
            assert all((each.amount_usd is None) is (token.coin != "ETH") for each in page.movements)
