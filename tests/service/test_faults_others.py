"""CoinGecko, Fear & Greed and the news fail: what they told stays with its age, and nobody else is touched."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from service.clock import HOUR_MS, MINUTE_MS
from tests.service.indoors import EVERYTHING, RISK, Indoors, Kept
from tests.upstream.faults import answer

pytestmark = pytest.mark.slow

DOWN = answer(503, b"down for maintenance")
MEMES, MOOD_OF_MEMES = "/api/cli/category/info/Meme", "/api/cli/category/sentiment/Meme"
HOURS = "/api/cli/coin/historical/BTC?count=24&unit=h"
FEEDS = ("coindesk", "cointelegraph")


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data") as service:
        await service.pass_time(30, 10)
        yield service


@pytest.fixture
def key(kept: Kept) -> str:
    return kept.key


async def told(house: Indoors, key: str, target: str) -> Any:
    reply = await house.ask(target, key=key)
    assert reply.status == 200, (target, reply)
    return reply.json


async def pass_wall(house: Indoors, hours: float) -> None:
    """Let wall time pass at once, and then as much of it as loops need to see that."""
    house.clock.set_wall(house.clock.at_ms + round(hours * HOUR_MS))
    await house.pass_time(360, 15)


async def everything_is_answered(house: Indoors, key: str) -> None:
    for target in EVERYTHING:
        await told(house, key, target)


@pytest.mark.promise("category.info-payload", "category.info-as-of", "historical.payload")
async def test_without_coingecko_categories_keep_their_coins_and_figures_for_two_days(house: Indoors, key: str) -> None:
    before, past = await told(house, key, MEMES), await told(house, key, HOURS)
    await house.lose("coingecko", fault=DOWN)
    await house.pass_time(660, 15)
    kept = await told(house, key, MEMES)
    assert [coin["symbol"] for coin in kept["data"]["coins"]] == [coin["symbol"] for coin in before["data"]["coins"]]
    assert kept["data"]["market_cap"] == before["data"]["market_cap"] is not None
    assert kept["meta"]["data_age_seconds"] <= 15, "it is as old as its prices"
    assert (await told(house, key, HOURS))["data"]["now"]["marketCap"] == past["data"]["now"]["marketCap"]
    assert (await house.readiness())["categories"]["failing"]
    await everything_is_answered(house, key)

    await pass_wall(house, 11)  # to 23:24: the venue's own replay stays within its day
    before_midnight = await told(house, key, MEMES)
    assert before_midnight["data"]["market_cap"] == before["data"]["market_cap"]
    house.doors.open()
    await house.pass_time(660, 15)
    assert not (await house.readiness())["categories"]["failing"]


@pytest.mark.promise("category.info-payload", "risk.stale-limit")
async def test_two_days_without_coingecko_its_figures_are_null_and_the_venue_still_tells(
    house: Indoors, key: str
) -> None:
    await house.lose("coingecko", fault=DOWN)
    await house.pass_time(330, 15)
    await pass_wall(house, 49)
    said = await told(house, key, MEMES)
    assert (said["data"]["market_cap"], said["data"]["change_24h"], said["data"]["volume_24h"]) == (None, None, None)
    assert {coin["market_cap"] for coin in said["data"]["coins"]} == {None}
    assert None not in {coin["price"] for coin in said["data"]["coins"]}
    now = (await told(house, key, HOURS))["data"]["now"]
    assert (now["marketCap"], now["volume"]) == (None, None)
    assert now["priceUSD"] is not None


@pytest.mark.promise("risk.sentiment", "category.sentiment-as-of")
async def test_without_fear_and_greed_its_last_value_counts_on_and_news_go_on(house: Indoors, key: str) -> None:
    before = (await house.readiness())["sentiment"]["fear_greed"]
    await house.lose("alternative", fault=DOWN)
    asked = house.doors.calls["alternative"]
    await pass_wall(house, 1.2)
    await house.pass_time(660, 15)
    assert house.doors.calls["alternative"] > asked
    said = (await house.readiness())["sentiment"]
    assert (said["fear_greed"], said["failing"]) == (before, False)
    assert said["news_age_seconds"] <= 660
    risk = await told(house, key, RISK)
    assert risk["data"]["sentiment_stance"] is not None
    assert "sentiment_stance" not in risk["data"]["_stale_fields"]
    await everything_is_answered(house, key)


@pytest.mark.promise("risk.sentiment", "category.sentiment-payload")
@pytest.mark.parametrize("feed", FEEDS)
async def test_without_one_feed_the_other_is_enough(house: Indoors, key: str, feed: str) -> None:
    before = await told(house, key, MOOD_OF_MEMES)
    await house.lose(feed, fault=DOWN)
    await house.pass_time(1_260, 15)
    said = (await house.readiness())["sentiment"]
    assert (said["failing"], said["news_age_seconds"] <= 615) == (False, True)
    after = await told(house, key, MOOD_OF_MEMES)
    assert after["data"]["mentions"] >= before["data"]["mentions"] > 0, "what it wrote before is kept"
    assert (await told(house, key, RISK))["data"]["_stale_fields"] == []


@pytest.mark.promise("risk.sentiment", "risk.stale-fields", "risk.stale-limit", "category.sentiment-as-of")
async def test_without_any_feed_moods_are_named_stale_and_after_two_days_concluded_from_prices_alone(
    house: Indoors, key: str
) -> None:
    risk, memes = await told(house, key, RISK), await told(house, key, MOOD_OF_MEMES)
    await house.lose(*FEEDS, fault=DOWN)
    await house.pass_time(660, 15)
    stale = await told(house, key, RISK)
    assert stale["data"]["sentiment_stance"] == risk["data"]["sentiment_stance"]
    assert stale["data"]["_stale_fields"] == ["sentiment_stance"]
    later = await told(house, key, MOOD_OF_MEMES)
    assert (later["data"], later["meta"]["as_of"]) == (memes["data"], memes["meta"]["as_of"])
    assert later["meta"]["data_age_seconds"] >= memes["meta"]["data_age_seconds"] + 660
    await everything_is_answered(house, key)

    await pass_wall(house, 48)
    alone = await told(house, key, RISK)
    assert alone["data"]["sentiment_stance"] is not None
    assert alone["data"]["_stale_fields"] == ["sentiment_stance"]
    memes = await told(house, key, MOOD_OF_MEMES)
    assert (memes["data"]["score"], memes["data"]["mentions"], memes["data"]["provenance"]["sources"]) == (
        None,
        0,
        [],
    )
    house.doors.open()
    await house.pass_time(120, 15)
    assert (await told(house, key, RISK))["data"]["_stale_fields"] == []
    assert (await house.readiness())["sentiment"]["news_age_seconds"] < 2 * MINUTE_MS
