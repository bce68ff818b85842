"""The room's front."""

import msgspec
import pytest

from service.errors import ServiceError
from service.upstream.failures import UpstreamError
from service.wire.sentiment import NO_MOOD, CategorySentiment
from tests.fakes.clock import START_MS
from tests.sentiment.press import Room
from tests.upstream.faults import answer


def test_before_anything_nothing_is_known(room: Room) -> None:
    assert room.desk.mood("BTC") is NO_MOOD
    with pytest.raises(ServiceError) as refused:
        room.desk.category("Meme")
    assert (refused.value.code, refused.value.headers) == ("UNAVAILABLE", {"Retry-After": "5"})
    assert room.desk.readiness() == {
        "ready": False,
        "coins": 0,
        "news_age_seconds": None,
        "fear_greed": None,
        "failing": False,
        "feeds": {},
    }


@pytest.mark.promise("risk.sentiment")
async def test_a_mood_is_the_same_object_until_something_changes(room: Room) -> None:
    room.press.publish("coindesk", "Solana soars")
    await room.refresh.round()
    mood = room.desk.mood("SOL")
    assert mood is room.desk.mood("SOL")
    assert mood.summary is not None
    assert mood.summary.startswith("Euphoria: a steep rise")
    await room.clock.advance(600)
    await room.refresh.round()
    assert room.desk.mood("SOL") is not mood
    assert room.desk.mood("UNLISTED") is NO_MOOD


@pytest.mark.promise("category.sentiment-payload")
async def test_a_categorys_payload_is_the_contracts(room: Room) -> None:
    room.press.publish("coindesk", "Solana soars")
    await room.refresh.round()
    answered = room.desk.category("Layer 1 (L1)")
    assert isinstance(answered.data, msgspec.Raw)
    said = msgspec.json.decode(bytes(answered.data))
    assert list(said) == [
        "name", "stance", "score", "slope_24h", "mentions", "summary", "coins", "provenance"
    ]  # fmt: skip
    assert [list(coin) for coin in said["coins"]] == [["symbol", "stance", "score"]] * 2
    found = msgspec.json.decode(bytes(answered.data), type=CategorySentiment)
    assert (found.mentions, found.provenance.sources, found.provenance.newest_at) == (
        1,
        ["coindesk"],
        "2025-07-25T11:59:00.000Z",
    )
    assert room.desk.category("Layer 1 (L1)") is answered


@pytest.mark.promise("category.sentiment-as-of")
async def test_as_of_is_the_newest_item_scored_also_for_a_category_nobody_writes_about(room: Room) -> None:
    room.press.publish("coindesk", "Solana soars", ago_s=300)
    room.press.publish("coindesk", "Bitcoin soars", ago_s=90)
    await room.refresh.round()
    assert {room.desk.category(name).as_of_ms for name in ("Layer 1 (L1)", "Meme")} == {START_MS - 90_000}


@pytest.mark.promise("errors.unknown-category")
@pytest.mark.parametrize("name", ["meme", "Memes", "\u202ezzz", ""])
async def test_a_category_that_there_is_not_is_told_as_whoever_knows_categories_tells_it(room: Room, name: str) -> None:
    await room.refresh.round()
    with pytest.raises(ServiceError) as refused:
        room.desk.category(name)
    assert (refused.value.code, refused.value.status) == ("UNKNOWN_CATEGORY", 404)
    assert refused.value.details == {"candidates": ["Meme"]}


async def test_a_category_that_nothing_was_concluded_of_yet_is_unavailable_not_unknown(room: Room) -> None:
    await room.refresh.round()
    room.categories["New"] = ("SOL",)
    with pytest.raises(ServiceError, match="Sentiment of the category 'New'") as refused:
        room.desk.category("New")
    assert (refused.value.code, refused.value.headers) == ("UNAVAILABLE", {"Retry-After": "5"})


async def test_after_two_days_of_silence_the_publishers_words_are_all_there_is(room: Room) -> None:
    await room.refresh.round()
    for feed in ("coindesk", "cointelegraph"):
        room.press.faults[feed].next = answer(503, b"maintenance")
    await room.clock.advance(48 * 3600)
    with pytest.raises(UpstreamError):
        await room.refresh.round()
    assert room.desk.category("Meme").as_of_ms == START_MS
    await room.clock.advance(0.001)
    with pytest.raises(ServiceError) as refused:
        room.desk.category("Meme")
    assert refused.value.code == "UPSTREAM_5XX"
    assert refused.value.details == {"upstream": "coindesk", "upstreamStatus": 503, "upstreamBody": "maintenance"}


async def test_the_fear_and_greed_index_is_known_with_its_day_until_sentiment_is_too_old(room: Room) -> None:
    assert room.desk.fear_greed() is None
    room.press.index = 61
    await room.refresh.round()
    assert room.desk.fear_greed() == (61, START_MS)
    await room.clock.advance(48 * 3600)
    assert room.desk.fear_greed() == (61, START_MS)
    await room.clock.advance(0.001)
    assert room.desk.fear_greed() is None
