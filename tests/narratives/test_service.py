"""Narratives from stored headlines and passages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, iso
from service.errors import ServiceError
from service.narratives.service import NarrativeService
from service.sentiment.aggregation import CoinMood, Conclusions, ScoredItem
from service.sentiment.service import SentimentService
from service.sentiment.store import NewsStore
from service.storage.database import open_database
from service.storage.documents import Document, DocumentStore
from service.transcripts.feed import FeedItem, Link
from service.transcripts.pages import TranscriptPages
from service.transcripts.sentences import Sentence
from service.transcripts.sources import FeedSource
from service.transcripts.store import Said, SourceState, StoredTranscript, TranscriptStore
from service.upstream.feed_fetcher import UNSEEN
from service.wire.envelope import Answer
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.loading import category_loading

MARKET = CoinMood("neutral", "Neutral.", None, None, 0, None)
KNOWN = Conclusions(START_MS, START_MS - HOUR_MS, None, "", {}, {}, MARKET, {})
SHOW = FeedSource("show", "Show", "video", "https://show.example/rss")


class Stage:
    """A service over a store that tests fill."""

    def __init__(self, clock: FakeClock, service: NarrativeService, news: NewsStore, spoken: TranscriptStore) -> None:
        self.clock = clock
        self.service = service
        self.news = news
        self.spoken = spoken
        self.document: Document[Conclusions]

    async def conclude(self, known: Conclusions = KNOWN) -> None:
        await self.document.put("test", known, START_MS)

    async def publish(self, source: str, *names: str, hours: int = 1, score: float = 0.5, title: str = "") -> None:
        at_ms = START_MS - hours * HOUR_MS
        item = ScoredItem(f"{source}{names}{hours}", source, title, "", at_ms, score, ("BTC",), names, at_ms)
        await self.news.put("test", [item], START_MS)

    async def speak(self, *sectors: str, source: str = "show", stance: Any = "bullish") -> None:
        state = SourceState(source, "https://show.example/rss", "ok", UNSEEN, START_MS, START_MS - 2 * HOUR_MS, None)
        link = Link("https://cdn.example/1.vtt", "text/vtt")
        await self.spoken.note(
            "test", state, [FeedItem(f"{source}{sectors}", None, "Title", None, START_MS - DAY_MS, (link,))], START_MS
        )
        (pending,) = await self.spoken.pending("test", source, START_MS, 9)
        said = Said(f"id{sectors}", 0, None, "Quote", ("ETH",), sectors, (), stance)
        read = StoredTranscript(f"{source}{sectors}", [Sentence(0, None, "Quote")], "tags", [said])
        await self.spoken.keep(pending.episode, read, START_MS)
        await self.spoken.tell("test", ["show", "gone"], START_MS)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    clock = FakeClock()
    async with open_database(tmp_path / "verdict.db", clock) as database:
        document = DocumentStore(database).document("sentiment.conclusions", Conclusions)
        sentiment = SentimentService(clock, document, lambda name: name, category_loading)
        news = NewsStore(database)
        service = NarrativeService(
            clock, sentiment, news, TranscriptPages(database), (SHOW,), lambda: ["Perpetuals", "Meme"]
        )
        opened = Stage(clock, service, news, TranscriptStore(database))
        opened.document = document
        yield opened


def data(answer: Answer) -> Any:
    return (
        msgspec.json.decode(answer.data) if isinstance(answer.data, msgspec.Raw) else msgspec.to_builtins(answer.data)
    )


@pytest.mark.promise("narratives.payload", "narratives.as-of")
async def test_headlines_and_passages_count_together(stage: Stage) -> None:
    await stage.publish("coindesk", "Artificial Intelligence (AI)")
    await stage.speak("Artificial Intelligence (AI)", "Meme", stance="bearish")
    await stage.conclude()
    answer = await stage.service.narratives()
    said = data(answer)
    (row,) = said.pop("narratives")
    assert said == {
        "success": True, "interval": "1d", "periods_back": 7, "total_count": 1, "analysis_type": "mentions",
        "cache_age_minutes": 0, "freshness_config": {"half_life_hours": 24},
        "surfaces": {"news": 1, "podcasts": 0, "videos": 1},
    }  # fmt: skip
    assert (row["name"], row["mentions"], row["score"], row["coins"]) == (
        "Artificial Intelligence (AI)", 2, (0.5 - 1) / 2, "BTC, ETH"
    )  # fmt: skip
    assert answer.as_of_ms == START_MS - 2 * HOUR_MS
    attention = data(await stage.service.attention())
    assert attention == {
        "success": True, "interval": "1d", "total_count": 1, "freshness_score": row["freshness_score"],
        "sources": [row], "attention_state": {"rising": 1, "steady": 0, "fading": 0},
    }  # fmt: skip


@pytest.mark.promise("narratives.one")
@pytest.mark.parametrize(
    "name", ["Artificial Intelligence (AI)", "ai", "artificial-intelligence", "Artificial Intelligence"]
)
async def test_one_narrative_is_found_by_either_half_of_its_name(stage: Stage, name: str) -> None:
    await stage.publish("coindesk", "Artificial Intelligence (AI)", score=0.5)
    await stage.publish("cointelegraph", "Artificial Intelligence (AI)", score=0.25)
    await stage.conclude()
    said = data(await stage.service.narrative(name))
    assert said["success"] is True
    item = said["data"]
    assert (item["type"], item["entity_id"], item["mentions"]) == ("narrative", "Artificial Intelligence (AI)", 2)
    assert item["created_at"] == iso(START_MS)
    assert item["newest_at"] == iso(START_MS - HOUR_MS)
    assert item["summary"] == (
        "2 items from 2 sources in 7 days, mean sentiment +0.38, freshness 0.97. "
        "Stance of the category's coins: neutral."
    )


@pytest.mark.promise("narratives.definition")
async def test_a_headline_speaks_of_a_category_in_the_phrases_of_transcripts(stage: Stage) -> None:
    for source in ("coindesk", "cointelegraph"):
        await stage.publish(source, title=f"{source}: perps look crowded")
    await stage.conclude()
    (row,) = data(await stage.service.narratives())["narratives"]
    assert (row["name"], row["mentions"]) == ("Perpetuals", 2)
    await stage.clock.advance(300)
    assert data(await stage.service.narratives())["narratives"][0]["name"] == "Perpetuals"


@pytest.mark.promise("narratives.unknown")
async def test_a_name_that_is_no_narrative_now_is_not_found_with_candidates(stage: Stage) -> None:
    await stage.conclude()
    with pytest.raises(ServiceError) as refused:
        await stage.service.narrative("()")
    assert (refused.value.code, refused.value.details) == ("NOT_FOUND", {"candidates": []})
    await stage.publish("coindesk", "Meme")
    await stage.publish("cointelegraph", "Meme")
    for name in ("Mem", "Restaking"):
        await stage.clock.advance(300)
        with pytest.raises(ServiceError) as refused:
            await stage.service.narrative(name)
        assert (refused.value.status, refused.value.details) == (404, {"candidates": ["Meme"]})
    assert refused.value.message == "No narrative is called 'Restaking' in the last seven days. The closest: Meme."


@pytest.mark.promise("narratives.empty")
async def test_without_news_and_episodes_the_list_is_empty_as_of_now(stage: Stage) -> None:
    await stage.publish("coindesk", "Meme")
    await stage.publish("cointelegraph", "Meme")
    await stage.conclude(replace(KNOWN, news_ms=None))  # news that are too old count no more
    answer = await stage.service.narratives()
    assert (data(answer)["total_count"], answer.as_of_ms) == (0, START_MS)


async def test_items_are_read_again_after_new_episodes_new_conclusions_or_five_minutes(stage: Stage) -> None:
    await stage.conclude()
    await stage.publish("coindesk", "Meme")
    assert data(await stage.service.narratives())["total_count"] == 0
    await stage.speak("Meme")
    assert data(await stage.service.narratives())["total_count"] == 1
    await stage.publish("coindesk", "Oracle")
    await stage.publish("cointelegraph", "Oracle")
    await stage.clock.advance(299)
    said = data(await stage.service.narratives())
    assert (said["total_count"], said["cache_age_minutes"]) == (1, 4)
    await stage.conclude()
    assert data(await stage.service.narratives())["total_count"] == 2
    await stage.publish("coindesk", "NFT", hours=2)
    await stage.publish("cointelegraph", "NFT", hours=2)
    await stage.clock.advance(300)
    assert data(await stage.service.narratives())["total_count"] == 3


async def test_episodes_of_a_feed_that_is_no_longer_read_do_not_count(stage: Stage) -> None:
    await stage.publish("coindesk", "Meme")
    await stage.speak("Meme", source="gone")
    await stage.conclude()
    assert data(await stage.service.narratives())["total_count"] == 0


@pytest.mark.promise("mood.unavailable")
async def test_before_the_first_conclusions_there_are_none(stage: Stage) -> None:
    with pytest.raises(ServiceError) as refused:
        await stage.service.narratives()
    assert refused.value.code == "UNAVAILABLE"
