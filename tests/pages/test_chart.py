"""The data of a coin's chart."""

import json
from typing import Any

import pytest

from service.clock import DAY_MS, HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.table.daily import PastBar
from tests.pages.stage import NOW_MS, Stage

CHART = "/chart/{symbol}"
HOUR = NOW_MS // HOUR_MS * HOUR_MS - HOUR_MS
DAY = NOW_MS // DAY_MS * DAY_MS


class History:
    """A coin's past: one hour, one closed day and today."""

    def __init__(self) -> None:
        self.loaded = None
        self.since: list[int] = []
        self.now: PastBar | None = PastBar(DAY, 110.0, 112.0, 109.0, 111.0, 7.0, closed=False)

    async def hourly(self, symbol: str, since_ms: int) -> list[PastBar]:
        assert symbol == "BTC"
        self.since.append(since_ms)
        return [PastBar(HOUR, 100.0, 102.0, 99.0, 101.0, 5.123)]

    async def daily(self) -> "History":
        return self

    def bars(self, symbol: str, since_ms: int) -> list[PastBar]:
        assert symbol == "BTC"
        self.since.append(since_ms)
        return [PastBar(DAY - DAY_MS, 100.0, 112.0, 99.0, 110.0, 6.0)]

    async def today(self, _symbol: str) -> PastBar | None:
        return self.now

    async def funding_of_bars(self, _symbol: str, unit_ms: int, _since_ms: int, until_ms: int) -> dict[int, float]:
        assert until_ms == NOW_MS
        return {HOUR: 15.0} if unit_ms == HOUR_MS else {DAY - DAY_MS: 30.0, DAY: 15.0}

    async def open_interest(self, _symbol: str, hours_ms: list[int]) -> dict[int, float]:
        return {at: 1e9 for at in hours_ms if at == DAY}


@pytest.fixture
def stage() -> Stage:
    return Stage(history=History())


async def data(stage: Stage, **query: str) -> Any:
    page = await stage.page(CHART, "btc", **query)
    assert page.content_type == b"application/json"
    return json.loads(page.body)


async def test_a_day_is_hours_with_the_mean_of_what_was_paid_in_each(stage: Stage) -> None:
    found = await data(stage, span="24h")
    assert found == {"symbol": "BTC", "bars": [[HOUR // SECOND_MS, 100.0, 102.0, 99.0, 101.0, 5.12, 15.0, None]]}
    assert stage.history.since == [NOW_MS - DAY_MS]


async def test_a_long_span_is_closed_days_and_today_with_open_interest_at_their_ends(stage: Stage) -> None:
    first, last = (await data(stage, span="1y"))["bars"]
    assert first == [(DAY - DAY_MS) // SECOND_MS, 100.0, 112.0, 99.0, 110.0, 6.0, 30.0, 1e9]
    assert last == [DAY // SECOND_MS, 110.0, 112.0, 109.0, 111.0, 7.0, 15.0, None]


async def test_all_begins_with_the_first_day_and_ends_with_the_last_one_that_is_known(stage: Stage) -> None:
    stage.history.now = None
    assert len((await data(stage, span="all"))["bars"]) == 1
    assert stage.history.since == [NOW_MS - 10_000 * DAY_MS]


async def test_it_is_made_once_in_a_while(stage: Stage) -> None:
    assert await stage.page(CHART, "BTC") is await stage.page(CHART, "btc", span="90d")


async def test_an_unknown_coin_or_span_is_refused(stage: Stage) -> None:
    with pytest.raises(ServiceError, match="The parameter span takes 24h, 7d, 30d, 90d, 1y, all"):
        await stage.page(CHART, "BTC", span="5y")
    with pytest.raises(ServiceError) as refused:
        await stage.page(CHART, "NOPE")
    assert refused.value.code == "UNKNOWN_SYMBOL"
