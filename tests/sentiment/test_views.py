"""`coin/sentiment` and the views of `sentiment` that are computed from the newest conclusions."""

from email.utils import formatdate
from typing import Any

import msgspec
import pytest

from service.clock import HOUR_MS, iso
from service.errors import ServiceError
from service.sentiment.factory import FEEDS
from service.sentiment.stance import Trading
from service.sentiment.views import SentimentViews
from service.upstream.failures import UpstreamError
from service.wire.queries import SentimentQuery
from tests.fakes.clock import START_MS
from tests.sentiment.press import Room
from tests.upstream.faults import Fault, answer

ITEM = ["id", "entity_id", "stance", "score", "mentions", "summary", "type", "created_at", "slope_24h", "newest_at"]


@pytest.fixture
def views(room: Room) -> SentimentViews:
    def find(symbol: str) -> str:
        ticker = symbol.upper()
        if ticker not in {*room.tape, "NEW"}:
            raise ServiceError("UNKNOWN_SYMBOL", f"no coin {symbol!r}", details={"candidates": ["BTC"]})
        return ticker

    return SentimentViews(room.clock, room.desk, find, FEEDS)


def view(views: SentimentViews, **asked: str) -> Any:
    data = views.view(SentimentQuery(**asked)).data  # type: ignore[arg-type] # as a caller writes it
    return msgspec.json.decode(data) if isinstance(data, msgspec.Raw) else msgspec.to_builtins(data)


async def published(room: Room) -> None:
    """Two fresh headlines of Solana by one feed, one of Bitcoin two days ago by the other."""
    room.press.publish("coindesk", "Solana soars", ago_s=300)
    room.press.publish("coindesk", "Solana tumbles", ago_s=3_600)
    room.press.publish("cointelegraph", "Bitcoin soars", ago_s=2 * 86_400)
    await room.refresh.round()


@pytest.mark.promise("mood.coin", "mood.types")
async def test_a_coins_sentiment_is_one_item_that_agrees_with_its_category_and_its_risk_context(
    room: Room, views: SentimentViews
) -> None:
    await published(room)
    answered = views.coin("sol")
    assert isinstance(answered.data, msgspec.Raw)
    said = msgspec.json.decode(answered.data)
    assert list(said) == ["success", "symbol", "data"]
    assert (said["success"], said["symbol"]) == (True, "SOL")
    item = said["data"]
    assert list(item) == ITEM
    (member,) = (one for one in category(room)["coins"] if one["symbol"] == "SOL")
    assert (item["stance"], item["score"]) == (member["stance"], member["score"])
    assert (item["stance"], item["summary"]) == (room.desk.mood("SOL").stance, room.desk.mood("SOL").summary)
    assert (item["type"], item["entity_id"], item["mentions"]) == ("coin", "SOL", 2)
    assert item["newest_at"] == iso(START_MS - 300_000)
    assert item["created_at"] == iso(START_MS)
    assert isinstance(item["id"], int)
    assert 0 <= item["id"] < 2**48
    assert answered.as_of_ms == START_MS - 300_000
    assert views.coin("SOL") is answered


def category(room: Room) -> Any:
    data = room.desk.category("Layer 1 (L1)").data
    assert isinstance(data, msgspec.Raw)
    return msgspec.json.decode(data)


@pytest.mark.promise("mood.nothing")
async def test_a_coin_without_an_item_is_neutral_and_says_so(room: Room, views: SentimentViews) -> None:
    await published(room)
    item = view(views, action="coin", symbol="NEW")["data"]
    assert (item["stance"], item["score"], item["mentions"], item["newest_at"]) == ("neutral", None, 0, None)
    assert item["summary"] == "Neutral: no sentiment has been computed for this coin yet."


@pytest.mark.promise("mood.unknown")
async def test_an_unknown_coin_or_category_is_refused(room: Room, views: SentimentViews) -> None:
    await published(room)
    for asked in ({"action": "coin", "symbol": "NOPE"}, {"action": "category", "name": "Nope"}):
        with pytest.raises(ServiceError) as refused:
            view(views, **asked)
        assert refused.value.status == 404


@pytest.mark.promise("mood.parameters")
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"symbol": "BTC"}, "symbol needs action=coin."),
        ({"action": "category", "name": "Meme", "symbol": "BTC"}, "symbol needs action=coin."),
        ({"action": "coin", "symbol": "BTC", "name": "Meme"}, "name needs action=category or action=narrative."),
    ],
)
def test_a_symbol_or_name_that_the_action_does_not_take_is_refused(asked: dict[str, str], message: str) -> None:
    with pytest.raises(ServiceError) as refused:
        SentimentQuery(**asked)  # type: ignore[arg-type] # as a caller writes it
    assert (refused.value.code, refused.value.message) == ("BAD_REQUEST", message)


@pytest.mark.promise("mood.market", "mood.types")
async def test_the_market_is_a_list_of_one_item_and_summary_is_that_item(room: Room, views: SentimentViews) -> None:
    await published(room)
    said = view(views)
    assert said == {"success": True, "data": [view(views, action="summary")]}
    item = said["data"][0]
    assert (item["type"], item["entity_id"], item["mentions"]) == ("market", "market", 3)
    assert item["summary"].startswith("Neutral: ")


@pytest.mark.promise("mood.latest")
async def test_latest_lists_what_was_written_about_the_most_mentioned_first(room: Room, views: SentimentViews) -> None:
    await published(room)
    items = view(views, action="latest")["data"]
    assert [(item["entity_id"], item["mentions"]) for item in items] == [("Layer 1 (L1)", 3), ("SOL", 2), ("BTC", 1)]
    assert items[0] == view(views, action="category", name="Layer 1 (L1)")["data"]
    assert items[1] == view(views, action="coin", symbol="SOL")["data"]


@pytest.mark.promise("mood.categories")
async def test_categories_are_all_there_with_or_without_news(room: Room, views: SentimentViews) -> None:
    await published(room)
    said = view(views, action="categories")
    assert (said["success"], said["interval"], said["total_count"]) == (True, "1d", 2)
    assert [row["name"] for row in said["categories"]] == ["Layer 1 (L1)", "Meme"]
    known = category(room)
    assert said["categories"][0] == {
        **{name: known[name] for name in ("name", "stance", "score", "slope_24h", "mentions")},
        "newest_at": known["provenance"]["newest_at"],
    }
    assert said["categories"][1]["score"] is None


@pytest.mark.promise("mood.slopes")
async def test_slopes_are_of_what_was_written_about_today_and_yesterday_by_their_size(
    room: Room, views: SentimentViews
) -> None:
    room.tape["ETH"] = Trading("Ethereum", 1.0, 3.0, 10.95, 1.0, START_MS - 5_000)
    await published(room)
    room.press.publish("coindesk", "Bitcoin tumbles", ago_s=60)
    room.press.publish("coindesk", "Ethereum soars", ago_s=30 * 3_600)
    await room.clock.advance(3_600)
    await room.refresh.round()
    said = view(views, action="entity-slopes")
    hour = room.clock.now_ms() // HOUR_MS * HOUR_MS
    assert (said["snapshot_hour"], said["count"]) == (iso(hour), 2)
    assert [row["symbol"] for row in said["entities"]] == ["ETH", "BTC"]  # nothing was written of Solana a day before
    for row in said["entities"]:
        item = view(views, action="coin", symbol=row["symbol"])["data"]
        assert row == {"symbol": row["symbol"], **{name: item[name] for name in ("score", "slope_24h", "mentions")}}
    slopes = view(views, action="slopes")
    (row,) = slopes["categories"]
    assert (row["name"], slopes["count"], slopes["snapshot_hour"]) == ("Layer 1 (L1)", 1, iso(hour))
    assert row["slope_24h"] == category(room)["slope_24h"]


@pytest.mark.promise("mood.health")
async def test_health_has_a_check_for_each_feed_before_and_after_each_was_asked(
    room: Room, views: SentimentViews
) -> None:
    before = view(views, action="health")
    assert [check["name"] for check in before["checks"]] == ["coindesk", "cointelegraph", "alternative"]
    assert before["ok"] is False
    assert {check["detail"] for check in before["checks"]} == {"Not asked yet."}
    await published(room)
    healthy = view(views, action="health")
    assert healthy["ok"] is True
    assert healthy["checks"][0] == {"name": "coindesk", "ok": True, "detail": "Answered.", "as_of": iso(START_MS)}


@pytest.mark.promise("mood.health")
async def test_a_feed_that_fails_is_named_with_its_status_and_its_last_answer(
    room: Room, views: SentimentViews
) -> None:
    await published(room)
    room.press.faults["cointelegraph"].next = answer(503, b"maintenance")
    await room.clock.advance(600)
    await room.refresh.round()
    said = view(views, action="health")
    assert said["ok"] is False
    assert said["checks"][1] == {
        "name": "cointelegraph", "ok": False, "detail": "HTTP status 503.", "as_of": iso(START_MS)
    }  # fmt: skip
    for feed in FEEDS:
        room.press.faults[feed].next = answer(502, b"")
    await room.clock.advance(600)
    with pytest.raises(UpstreamError):
        await room.refresh.round()
    checks = view(views, action="health")["checks"]
    assert [check["ok"] for check in checks] == [False, False, True]
    assert checks[0]["detail"] == "HTTP status 502."


BAD_ITEMS = (
    "<item><title></title></item>",
    "<item><title>Solana soars</title></item>",
    "<item><title>Solana rises</title><pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate></item>",
    "<item><title>Solana gains</title><pubDate>Fri, 25 Jul 2025 10:00:00 IST</pubDate></item>",
    "<item><title>Solana cut",
)


async def test_items_that_do_not_count_are_counted_by_reason(room: Room, views: SentimentViews) -> None:
    good = (
        f"<item><title>Bitcoin soars</title><pubDate>{formatdate(START_MS / 1000 - 60, usegmt=True)}</pubDate></item>"
    )
    body = f"\n<?xml version='1.0'?><rss><channel>{good}{''.join(BAD_ITEMS)}".encode()
    room.press.faults["coindesk"].next = answer(200, body)
    await room.refresh.round()
    said = view(views, action="health")
    assert said["ok"] is True
    detail = "Answered; items left out: 2 unreadable, 3 without a usable date."
    assert said["checks"][0]["detail"] == detail
    assert room.desk.readiness()["feeds"] == {
        "coindesk": detail, "cointelegraph": "Answered.", "alternative": "Answered."
    }  # fmt: skip
    assert view(views, action="market")["data"][0]["mentions"] == 1
    assert view(views, action="coin", symbol="SOL")["data"]["mentions"] == 0


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (answer(503, b"maintenance"), "HTTP status 503."),
        (answer(404, b""), "HTTP status 404."),
        (answer(200, b"<html>Just a moment...</html>"), "The answer is not in the expected format."),
        (answer(200, b""), "The answer is not in the expected format."),
        (answer(200, b"<rss><channel><item>"), "The answer is not in the expected format."),
        (
            answer(200, b'<!DOCTYPE a [<!ENTITY a "b">]><rss><channel></channel></rss>'),
            "The answer is not in the expected format.",
        ),
    ],
)
async def test_while_a_feed_fails_every_answer_names_it_and_no_longer(
    room: Room, views: SentimentViews, feed: str, fault: Fault, detail: str
) -> None:
    await published(room)
    room.press.faults[feed].next = fault
    await room.clock.advance(600)
    await room.refresh.round()
    assert detail in {check["detail"] for check in view(views, action="health")["checks"]}
    for asked in ({"action": "market"}, {"action": "coin", "symbol": "BTC"}, {"action": "category", "name": "Meme"}):
        data = view(views, **asked)["data"]
        item = data[0] if isinstance(data, list) else data
        assert item["summary"].endswith(f" Failing feeds: {feed}.")
    summary = room.desk.mood("SOL").summary or ""
    assert summary.endswith(f" Failing feeds: {feed}.")
    room.press.faults[feed].next = None
    await room.clock.advance(600)
    await room.refresh.round()
    assert "Failing" not in (room.desk.mood("SOL").summary or "")


async def test_a_feed_that_has_never_answered_says_why(room: Room, views: SentimentViews) -> None:
    room.press.faults["coindesk"].next = answer(500, b"")
    await room.refresh.round()
    check = view(views, action="health")["checks"][0]
    assert check == {"name": "coindesk", "ok": False, "detail": "HTTP status 500.", "as_of": None}


@pytest.mark.promise("mood.unavailable")
async def test_before_the_first_conclusions_there_is_no_sentiment(room: Room, views: SentimentViews) -> None:
    for asked in ({}, {"action": "coin", "symbol": "BTC"}, {"action": "category", "name": "Meme"}):
        with pytest.raises(ServiceError) as refused:
            view(views, **asked)
        assert refused.value.code == "UNAVAILABLE"
