"""What a transfer is worth: the price of its block's time, recounted from the stored prices by other code."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.models import Bar
from service.market.store import MarketStore
from service.storage.database import Database
from service.storage.rows import insert_rows
from service.wallets.prices import COINS, UnvaluedTransfer
from tests.fakes.clock import START_MS
from tests.wallets.following import Following
from tests.wallets.simulated import ALICE, BOB, CAROL, COIN, MAINNET, Chain, Sent, SimulatedNode

CONTRACTS = {coin.symbol: (contract, coin.decimals) for (chain, contract), coin in COINS.items() if chain == MAINNET}
WETH, WBTC, UNI, LINK = (CONTRACTS[symbol][0] for symbol in ("ETH", "BTC", "UNI", "LINK"))
COINS_HERE = ("ETH", "BTC", "UNI")


class Stored(NamedTuple):
    """Prices in the store by coin: accepted ones by snapshot, and closes by the open of their hour."""

    accepted: dict[str, list[tuple[int, float, int]]]
    hours: dict[str, dict[int, float]]

    def price(self, coin: str, at_ms: int) -> float | None:
        """The newest that was known at the whole minute by an instant, an hour older at most."""
        minute = at_ms - at_ms % 60_000
        snapshots = [row for rows in self.accepted.values() for row in rows if row[0] <= minute]
        newest = max((row[0] for row in snapshots), default=None)
        known = [
            (price_ms, usd)
            for snapshot, usd, price_ms in self.accepted[coin]
            if snapshot == newest and price_ms >= minute - 3_600_000
        ]
        for open_ms, close in self.hours[coin].items():
            if minute - 3_600_000 <= open_ms + 3_600_000 <= minute:
                known.append((open_ms + 3_600_000, close))
        return max(known)[1] if known else None


async def store_prices(database: Database, seed: int, now_ms: int) -> Stored:
    """Put random prices with gaps into the store."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    store = MarketStore(database)
    await store.claim("live")
    known = Stored({}, {})
    for coin in COINS_HERE:
        base = chance.uniform(1, 60_000)
        opens = range((now_ms - 20 * DAY_MS) // HOUR_MS * HOUR_MS, now_ms - HOUR_MS + 1, HOUR_MS)
        known.hours[coin] = {open_ms: base * chance.uniform(0.8, 1.2) for open_ms in opens if chance.random() < 0.8}
        bars = [Bar(open_ms, close, close, close, close, 1.0, 1) for open_ms, close in known.hours[coin].items()]
        await store.put_bars("live", coin, bars, now_ms, interval="1h")
        known.accepted[coin] = [
            (minute, base * chance.uniform(0.9, 1.1), minute - chance.randrange(1, 100_000))
            for minute in range((now_ms - 2 * DAY_MS) // MINUTE_MS * MINUTE_MS, now_ms + MINUTE_MS, 7 * MINUTE_MS)
            if chance.random() < 0.5
        ]
        await snapshots(database, {coin: known.accepted[coin]})
    return known


async def snapshots(database: Database, prices: Mapping[str, Sequence[tuple[int, float, int]]]) -> None:
    rows = [(minute, coin, usd, at_ms) for coin, found in prices.items() for minute, usd, at_ms in found]
    head = "INSERT INTO price_snapshots (minute_ms, venue_symbol, price, price_ms)"
    await database.write(lambda connection: insert_rows(connection, head, rows))


@pytest.mark.parametrize("seed", range(6))
async def test_a_transfer_is_worth_its_amount_at_the_last_price_known_at_its_block(
    database: Database, seed: int
) -> None:
    following = Following(database, [], [])
    now_ms = START_MS + 17_123
    following.clock.set_wall(now_ms)
    known = await store_prices(database, seed, now_ms)
    chance = random.Random(-seed)  # noqa: S311 - not for secrets
    transfers, expected = [], []
    for number in range(300):
        coin = chance.choice(COINS_HERE)
        contract, decimals = CONTRACTS[coin]
        age_ms = chance.choice([MINUTE_MS, HOUR_MS, DAY_MS, 6 * DAY_MS, 9 * DAY_MS, 30 * DAY_MS]) * chance.random()
        amount = int(10 ** chance.uniform(0, 24))
        transfers.append(UnvaluedTransfer(number, 0, "0x", contract, amount, now_ms - int(age_ms)))
        price = known.price(coin, now_ms - int(age_ms))
        expected.append(None if price is None else float(Decimal(amount) / 10**decimals * Decimal(price)))
    values = await following.prices.value(MAINNET, transfers)
    assert [value is None for value in values] == [value is None for value in expected]
    assert 20 < sum(value is None for value in values) < 200
    for value, exact in zip(values, expected, strict=True):
        assert value == (None if exact is None else pytest.approx(exact, rel=1e-9, abs=0.00501))


async def test_what_has_no_price_here_has_no_value(database: Database) -> None:
    following = Following(database, [], [])
    await snapshots(database, {"ETH": [(START_MS, 2_000.0, START_MS - 1)], "BTC": [(START_MS, 60_000.0, START_MS - 1)]})

    async def value(chain_id: int, contract: str, amount: int) -> float | None:
        (found,) = await following.prices.value(chain_id, [UnvaluedTransfer(1, 0, "0x", contract, amount, START_MS)])
        return found

    assert await value(1, WETH, 15 * 10**17) == 3_000.0
    assert await value(1, WETH, 10**15 + 2_400_000_000_000) == 2.0
    assert await value(1, WBTC, 5 * 10**7) == 30_000.0
    assert await value(1, WETH, 2**256 - 1) == pytest.approx(2.3158e62, rel=1e-3)
    assert await value(8453, WETH, 10**18) is None
    assert await value(1, COIN, 10**18) is None
    assert await value(1, UNI, 10**18) is None
    assert await value(1, LINK, 10**18) is None


def hour_of(chain: Chain, block: int, close: float, hours: int = -1) -> Bar:
    """The hour that closed last before a block, or others after it."""
    open_ms = (chain.blocks[block].at_s * 1_000 // HOUR_MS + hours) * HOUR_MS
    return Bar(open_ms, close, close, close, close, 1.0, 1)


async def test_a_block_found_late_is_valued_at_its_own_time_and_once(database: Database) -> None:
    chain = Chain("", 20)
    chain.mine(
        (Sent(CAROL, ALICE, 2 * 10**18, WETH), Sent(ALICE, BOB, 10**7, WBTC), Sent(ALICE, BOB, 5, COIN)), *[()] * 4
    )
    following = Following(database, [SimulatedNode(chain)], [ALICE, BOB])
    store = MarketStore(database)
    await store.claim("live")
    later = [hour_of(chain, 21, 9_000.0, hours) for hours in range(300)]
    await store.put_bars("live", "ETH", [hour_of(chain, 21, 2_000.0), *later], START_MS, interval="1h")
    await snapshots(database, {"ETH": [(START_MS, 9_000.0, START_MS - 1)], "BTC": [(START_MS, 1.0, START_MS - 1)]})
    await following.round()
    assert [each.amount_usd for each in await following.moved()] == [4_000.0, None, None, None, None]
    await store.put_bars("live", "BTC", [hour_of(chain, 21, 60_000.0)], START_MS, interval="1h")
    await snapshots(
        database, {"ETH": [(chain.blocks[21].at_s * 1_000 // MINUTE_MS * MINUTE_MS, 1.0, START_MS - 20 * DAY_MS)]}
    )
    for _ in range(2):
        chain.mine(())
        await following.round()
        assert [each.amount_usd for each in await following.moved()] == [4_000.0, 6_000.0, 6_000.0, None, None]


async def test_many_transfers_are_valued_a_few_at_a_time_past_those_without_a_price(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.wallets.ledger._VALUED_AT_ONCE", 2)
    chain = Chain("", 20)
    sent = [Sent(CAROL, ALICE, number * 10**18, WETH) for number in range(1, 6)]
    chain.mine([Sent(CAROL, ALICE, number, UNI) for number in range(1, 6)], sent, *[()] * 4)
    following = Following(database, [SimulatedNode(chain)], [ALICE])
    store = MarketStore(database)
    await store.claim("live")
    await store.put_bars("live", "ETH", [hour_of(chain, 21, 2_000.0)], START_MS, interval="1h")
    await following.round()
    values = [each.amount_usd for each in await following.moved()]
    assert sorted(value or 0.0 for value in values) == [0.0] * 5 + [2_000.0 * number for number in range(1, 6)]


class Waited(asyncio.Event):
    """An event; `waited` is set once somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.waited.set()
        return await super().wait()


async def test_a_round_waits_for_past_prices_before_it_values_and_tells(database: Database) -> None:
    chain = Chain("", 20)
    chain.mine((Sent(CAROL, ALICE, 2 * 10**18, WETH),), *[()] * 4)
    loaded = Waited()
    following = Following(database, [SimulatedNode(chain)], [ALICE], prices_loaded=loaded)
    store = MarketStore(database)
    await store.claim("live")
    running = asyncio.create_task(following.round())
    await loaded.waited.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not running.done()
    assert following.drawer.current.value is None
    await store.put_bars("live", "ETH", [hour_of(chain, 21, 2_000.0)], START_MS, interval="1h")
    loaded.set()
    await running
    assert [each.amount_usd for each in await following.moved()] == [4_000.0]
    assert following.drawer.current.value is not None
