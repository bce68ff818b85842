"""Forged bars and payments of funding, of either venue: none of them is stored, and honest ones are, once they come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from tests.fakes.clock import START_MS
from tests.hostile.market import TrueMarket, daily, hourly, payments
from tests.hostile.world import World, expect_none, hours_later, open_world
from tests.market.recordings import size_of

BEGIN_MS = START_MS // DAY_MS * DAY_MS - 2 * HOUR_MS
"""Two hours before the last recorded midnight."""

SAME = 0.01
"""Two venues' closes of a day, as a share; what was forged is further away."""

Rows = list[dict[str, Any]]
COIN = "SOL"
COINS = ("BTC", "ETH", COIN, "DOGE", "HYPE", "kPEPE")
ROUND_HOURS = 0.1
"""Longer than a coin without progress is left alone after its first two failures."""


class SeriesForgery(Struct, frozen=True):
    """A forgery: of which series of whom, and what it makes of an honest answer about one coin."""

    change: Callable[[str, Rows], Rows]
    kinds: tuple[str, ...] = ("1d", "1h", "klines")


def _of_bars(edit: Callable[[dict[str, Any]], None], *, only: str | None = None, last: int = 2) -> Callable[..., Rows]:
    """Change the newest closed bar, the open one too."""

    def change(coin: str, rows: Rows) -> Rows:
        rows = [dict(row) for row in rows]
        for row in rows[-last:] if only in {None, coin} else ():
            edit(row)
        return rows

    return change


def _scale(factor: float, *names: str) -> Callable[[dict[str, Any]], None]:
    def edit(row: dict[str, Any]) -> None:
        row |= {name: repr(float(row[name]) * factor) for name in names or ("o", "h", "l", "c")}

    return edit


def _write(name: str, text: str) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update({name: text})


def _shift(by_ms: int) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update({"t": row["t"] + by_ms, "T": row["T"] + by_ms})


def _of_another(coin: str, rows: Rows) -> Rows:
    """The bars of ETH in the place of all others'."""
    if coin == "ETH" or not rows:
        return rows
    read = daily if rows[0]["T"] - rows[0]["t"] > HOUR_MS else hourly
    return [{**row, "s": coin} for row in read("ETH", rows[-1]["T"], rows[0]["t"])]


BARS = {
    "all prices x10": SeriesForgery(_of_bars(_scale(10))),
    "all prices /10 of one coin": SeriesForgery(_of_bars(_scale(0.1), only=COIN)),
    "the whole answer x1.5": SeriesForgery(_of_bars(_scale(1.5), last=10_000)),
    "close x1.5": SeriesForgery(_of_bars(_scale(1.5, "h", "c"))),
    "close 1e99": SeriesForgery(_of_bars(_scale(1e99, "c"))),
    "close 0": SeriesForgery(_of_bars(_write("c", "0"))),
    "close NaN": SeriesForgery(_of_bars(_write("c", "NaN"))),
    "close negative": SeriesForgery(_of_bars(_write("c", "-1.0"))),
    "a wick of x100": SeriesForgery(_of_bars(_scale(100, "h"))),
    "volume 1e30": SeriesForgery(_of_bars(_write("v", "1e30"))),
    "volume negative": SeriesForgery(_of_bars(_write("v", "-5.0"))),
    "bars of another coin": SeriesForgery(_of_another),
    "a bar left out": SeriesForgery(lambda _, rows: rows[:-2] + rows[-1:], ("1h",)),
    "opened an hour late": SeriesForgery(_of_bars(_shift(HOUR_MS)), ("1d",)),
}
PAYMENTS = {
    "500 % an hour": lambda rows: [{**row, "fundingRate": "5.0"} for row in rows],
    "-500 % an hour": lambda rows: [{**row, "fundingRate": "-5.0"} for row in rows],
    "sign flipped x1000": lambda rows: [
        {**row, "fundingRate": repr(-1_000 * float(row["fundingRate"]))} for row in rows
    ],
    "NaN": lambda rows: [{**row, "fundingRate": "NaN"} for row in rows],
    "half past the hour": lambda rows: [{**row, "time": row["time"] + HOUR_MS // 2} for row in rows],
    "a day ahead": lambda rows: [{**row, "time": row["time"] + DAY_MS} for row in rows],
}  # fmt: skip


@pytest.fixture(scope="session")
def before_midnight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with everything up to two hours before midnight."""
    path = tmp_path_factory.mktemp("midnight") / "verdict.db"

    async def make() -> None:
        async with open_world(path, TrueMarket(coins=COINS), BEGIN_MS) as world:
            await world.warm_up()
            await world.do("hours", "funding")
            assert await wrong(world) == []

    asyncio.run(make())
    return path


@pytest.fixture
async def world(before_midnight: Path, tmp_path: Path) -> AsyncIterator[World]:
    """The market of a quarter past four in the morning after."""
    path = tmp_path / "verdict.db"
    copyfile(before_midnight, path)
    async with open_world(path, TrueMarket(coins=COINS), BEGIN_MS + 30 * SECOND_MS) as opened:
        await opened.run(15)
        await opened.do("history", "hours", "funding")
        hours_later(opened, 6.25)
        yield opened


async def wrong(world: World) -> list[str]:
    """What is stored and is not so."""
    now_ms = world.clock.now_ms()
    found = []
    for interval, read, since_ms in (("1d", daily, 0), ("1h", hourly, now_ms - 12 * HOUR_MS)):
        rows = await world.database.read(
            "SELECT venue_symbol, open_ms, open, high, low, close, volume FROM candles "
            "WHERE interval = ? AND final = 1 AND open_ms >= ?", (interval, since_ms)
        )  # fmt: skip
        assert rows
        true = {(coin, bar["t"]): bar for coin in {row[0] for row in rows} for bar in read(coin, now_ms, since_ms)}
        for coin, open_ms, *values in rows:
            bar, size = true.get((coin, open_ms)), size_of(coin)
            if bar is None or any(
                abs(stored * (1 / size if name == "v" else size) / float(bar[name]) - 1) > SAME
                for stored, name in zip(values, "ohlcv", strict=True)
                if float(bar[name])
            ):
                found.append(f"{coin}: bar of {interval} at {open_ms}: {values}")
    for coin in world.truth.coins:
        paid = {row["time"] // 60_000: float(row["fundingRate"]) for row in payments(coin, now_ms, 0)}
        rows = await world.database.read("SELECT paid_ms, rate FROM funding_rates WHERE venue_symbol = ?", (coin,))
        found += [f"{coin}: paid {rate:g}" for at_ms, rate in rows if abs(paid.get(at_ms // 60_000, 9.0) - rate) > 1e-9]
    return found


async def newest(world: World, coin: str) -> tuple[int, int, int]:
    """When the newest stored day and hour of a coin opened, and when it last paid."""
    ((day, hour),) = await world.database.read(
        "SELECT max(CASE interval WHEN '1d' THEN open_ms END), max(CASE interval WHEN '1h' THEN open_ms END) "
        "FROM candles WHERE venue_symbol = ? AND final = 1", (coin,)
    )  # fmt: skip
    ((paid,),) = await world.database.read("SELECT max(paid_ms) FROM funding_rates WHERE venue_symbol = ?", (coin,))
    return day, hour, paid


async def rounds(world: World, count: int) -> None:
    """Let the loops that keep series do rounds, six minutes apart."""
    for _ in range(count):
        await world.do("quotes", "history", "hours", "funding")
        expect_none(await wrong(world))
        hours_later(world, ROUND_HOURS)


async def expect_complete(world: World) -> None:
    """Let honest answers be stored."""
    world.venues.honest()
    await rounds(world, 3)
    now_ms = world.clock.now_ms()
    for coin in world.truth.coins:
        day, hour, paid = await newest(world, coin)
        assert day == now_ms // DAY_MS * DAY_MS - DAY_MS, coin
        assert hour >= now_ms // HOUR_MS * HOUR_MS - 2 * HOUR_MS, coin
        assert paid >= now_ms - 2 * HOUR_MS, coin
        ((gaps,),) = await world.database.read(
            "SELECT count(*) FROM candles b WHERE venue_symbol = ? AND interval = '1h' AND open_ms < ? AND NOT EXISTS ("
            "SELECT 1 FROM candles n WHERE n.venue_symbol = b.venue_symbol AND n.interval = b.interval "
            "AND n.open_ms = b.open_ms + ?)", (coin, hour, HOUR_MS)
        )  # fmt: skip
        assert gaps == 0, coin


@pytest.mark.slow
@pytest.mark.promise("plausibility.bars", "plausibility.no-forged-value-is-fresh")
@pytest.mark.parametrize(
    ("forgery", "kind"),
    [pytest.param(each, kind, id=f"{kind}: {title}") for title, each in BARS.items() for kind in each.kinds],
)
async def test_no_forged_bar_is_stored_and_honest_ones_are_once_they_come(
    world: World, forgery: SeriesForgery, kind: str
) -> None:
    def change(coin: str, interval: str, rows: Rows) -> Rows:
        return forgery.change(coin, rows) if rows and interval == ("1d" if kind == "klines" else kind) else rows

    if kind == "klines":
        world.venues.forge_klines, world.venues.first_up = change, False
    else:
        world.venues.forge_bars = change
    await rounds(world, 3)
    await expect_complete(world)


@pytest.mark.slow
@pytest.mark.promise("plausibility.payments", "plausibility.no-forged-value-is-fresh")
@pytest.mark.parametrize("change", PAYMENTS.values(), ids=PAYMENTS)
async def test_no_forged_payment_is_stored_and_honest_ones_are_once_they_come(
    world: World, change: Callable[[Rows], Rows]
) -> None:
    world.venues.forge_payments = lambda _, rows: change(rows)
    before = await newest(world, COIN)
    await rounds(world, 2)
    assert (await newest(world, COIN))[2] == before[2]
    await expect_complete(world)
