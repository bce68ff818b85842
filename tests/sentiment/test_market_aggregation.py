"""The mood of the whole market: by the rules of a category that every coin belongs to and every item is about."""

import msgspec
import pytest

from service.clock import DAY_MS
from service.errors import ServiceError
from service.sentiment.aggregation import ScoredItem, conclude, conclude_market
from service.sentiment.stance import Trading
from service.wire.streams import SentimentState
from tests.fakes.clock import START_MS
from tests.sentiment.press import Room
from tests.upstream.faults import answer

TAPE = {
    "BTC": Trading("Bitcoin", 1.0, 3.0, 12.0, 1.0, START_MS),
    "SOL": Trading("Solana", 2.0, 18.0, 45.0, 2.0, START_MS),
    "ETH": Trading("Ethereum", -9.0, -1.0, 30.0, None, START_MS),
}


def item(score: float, *coins: str, ago_ms: int = 0) -> ScoredItem:
    at_ms = START_MS - ago_ms
    return ScoredItem(f"{score} {coins} {ago_ms}", "coindesk", "", "", at_ms, score, coins, (), at_ms)


async def said(room: Room) -> SentimentState:
    answered = room.desk.market().data
    assert isinstance(answered, msgspec.Raw)
    return msgspec.json.decode(bytes(answered), type=SentimentState)


def test_it_is_the_mood_of_a_category_of_all_coins_whose_news_are_all_the_news() -> None:
    items = [item(0.8, "BTC"), item(-0.4, "SOL", ago_ms=DAY_MS), item(0.5, "ETH", "BTC", ago_ms=3 * DAY_MS)]
    _, categories = conclude(items, TAPE, {"Everything": list(TAPE)}, 80, START_MS)
    market = conclude_market(items, TAPE, 80, START_MS)
    everything = categories["Everything"]
    assert (market.stance, market.score, market.summary) == (
        everything.stance, everything.score, everything.summary
    )  # fmt: skip
    # A day halves a weight, silence weighs one: (0.8 - 0.4/2 + 0.5/8) / (1 + 1/2 + 1/8 + 1).
    assert market.score == round((0.8 - 0.2 + 0.0625) / 2.625, 4)


def test_an_item_that_names_nobody_is_about_the_market_too() -> None:
    assert conclude_market([item(0.8)], TAPE, None, START_MS).score == 0.4
    assert conclude_market([], TAPE, None, START_MS).score is None


async def test_it_is_told_as_the_stream_tells_it_and_as_old_as_the_newest_item(room: Room) -> None:
    room.press.publish("coindesk", "Markets soar", ago_s=90)
    await room.refresh.round()
    mood = await said(room)
    assert mood.score is not None
    assert mood.score > 0
    assert mood.summary.startswith(mood.stance.capitalize())
    assert room.desk.market().as_of_ms == START_MS - 90_000


async def test_without_news_it_rests_on_prices_and_is_as_old_as_they_are(room: Room) -> None:
    for feed in ("coindesk", "cointelegraph"):
        room.press.faults[feed].next = answer(500, b"down")
    with pytest.raises(ServiceError):
        await room.refresh.round()
    assert (await said(room)).score is None
    assert room.desk.market().as_of_ms == START_MS - 5_000


async def test_before_anything_was_concluded_and_two_days_after_the_last_there_is_none(room: Room) -> None:
    with pytest.raises(ServiceError, match="is not available yet"):
        room.desk.market()
    await room.refresh.round()
    room.desk.market()
    await room.clock.advance(48 * 3_600 + 1)
    with pytest.raises(ServiceError, match="is not available yet"):
        room.desk.market()
