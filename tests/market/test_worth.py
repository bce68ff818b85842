"""Market caps, spot prices and volumes of CoinGecko that leap: the last ones stay, with their time, for three hours."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from service.market.categories.documents import known_coins
from service.market.plausibility.quarantine import QuarantinedValue
from service.market.plausibility.rules import RejectReason
from service.market.sources.coingecko import REFRESH_S, GeckoCoin
from service.storage.database import Database
from tests.fakes.clock import START_MS, FakeClock
from tests.market.gecko import Gecko, open_gecko, rows

THREE_HOURS_S = 3 * 3_600
CAP, VOLUME = 2.0e12, 3.0e10


@pytest.fixture
async def gecko(clock: FakeClock, database: Database) -> AsyncIterator[Gecko]:
    async with open_gecko(clock, database) as opened:
        opened.view = {"BTC": opened.view["BTC"]}
        show(opened)
        opened.broken["&page=2"] = opened.broken["ids="] = web.Response(body=b"[]")
        await opened.refresh.round()
        yield opened


def show(gecko: Gecko, price: float = 1.0, cap: float | None = CAP, volume: float | None = VOLUME) -> None:
    """Let CoinGecko show BTC: its price as a multiple of the venue's, market cap and volume in USD."""
    assert gecko.view["BTC"].price is not None
    row = {"id": "bitcoin", "symbol": "btc", "current_price": gecko.view["BTC"].price * price, "market_cap": cap}
    gecko.broken["per_page=250&page=1"] = web.Response(body=rows(row | {"total_volume": volume}))


async def later(gecko: Gecko, seconds: float = REFRESH_S) -> GeckoCoin:
    await gecko.clock.advance(seconds)
    await gecko.refresh.round()
    return known_coins(gecko.documents.coins.current)["BTC"]


@pytest.mark.slow
@pytest.mark.promise("quarantine.worth")
@pytest.mark.parametrize(
    ("price", "cap", "volume", "is_held"),
    [
        (1.0, CAP * 10, VOLUME, True),
        (1.0, CAP / 10, VOLUME, True),
        (1.0, CAP * 1.25, VOLUME, True),
        (1.0, CAP, VOLUME * 6, True),
        (1.0, CAP, 0.0, True),
        (1.0, CAP * 1.15, VOLUME * 4, False),
        (0.95, CAP * 0.95, VOLUME, False),
        (1.0, None, None, False),
    ],
)
async def test_figures_that_leap_keep_their_last_values_and_time(
    gecko: Gecko, price: float, cap: float | None, volume: float | None, *, is_held: bool
) -> None:
    show(gecko, price, cap, volume)
    found = await later(gecko)
    expected = (CAP, VOLUME, START_MS) if is_held else (cap, volume, gecko.clock.now_ms())
    assert (found.market_cap, found.volume_usd, found.seen_ms) == expected
    held = (
        [QuarantinedValue("coingecko", "BTC", "worth", RejectReason.WORTH_MOVED, gecko.clock.now_ms())]
        if is_held
        else []
    )
    assert list(gecko.quarantine.report().now) == held
    show(gecko)
    found = await later(gecko)
    assert (found.market_cap, found.seen_ms) == (CAP, gecko.clock.now_ms())
    assert gecko.quarantine.report().now == ()


async def test_figures_that_leap_are_believed_after_three_hours(gecko: Gecko) -> None:
    show(gecko, cap=CAP * 10)
    assert (await later(gecko, THREE_HOURS_S)).market_cap == CAP
    assert (await later(gecko)).market_cap == CAP * 10
    assert gecko.quarantine.report().now == ()
