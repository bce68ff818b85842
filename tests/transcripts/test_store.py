"""What is kept: one telling of what two feeds have, nothing lost to a kill, nothing of what is not told any more."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS
from service.transcripts import store as module
from service.transcripts.feed import FeedItem, Link
from service.transcripts.sentences import Sentence
from service.transcripts.store import (
    KEPT_MS,
    MOST_ATTEMPTS,
    MOST_HIGHLIGHTS,
    Episode,
    Said,
    SourceState,
    StoredTranscript,
    TranscriptStore,
)
from service.upstream.feed_fetcher import UNSEEN, Validators
from service.wire.transcripts import TranscriptsQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.transcripts.broadcast import ALPHA, BETA, BITCOIN, MEMES, SOLANA, Room, episode
from tests.upstream import faults

LINK = Link("https://cdn.example/1.vtt", "text/vtt")


def state(source: str = "alpha", **more: object) -> SourceState:
    known: dict[str, object] = {
        "feed": f"https://{source}.example/rss", "status": "ok", "validators": Validators('"1"', "then"),
        "asked_ms": START_MS, "answered_ms": START_MS, "failure": None,
    }  # fmt: skip
    return SourceState(source, **(known | more))  # type: ignore[arg-type]


def item(key: str, at_ms: int | None = START_MS - HOUR_MS, enclosure: str | None = None) -> FeedItem:
    return FeedItem(key, enclosure, f"'{key}'; DROP TABLE transcript_episodes", None, at_ms, (LINK,))


def said(number: int = 0) -> Said:
    return Said(f"id{number}", number * 1_000, "Ann", f"Quote {number}", ("BTC",), ("Meme",), ("rates",), "bullish")


def reading(digest: str, count: int = 1) -> StoredTranscript:
    return StoredTranscript(digest, [Sentence(0, "Ann", digest)], "tags", [said(number) for number in range(count)])


async def rows(store: TranscriptStore, sql: str) -> list[tuple[object, ...]]:
    return await store._database.read(sql)


async def test_a_feed_stands_as_it_was_noted(room: Room) -> None:
    failing = state("beta", status="failing", validators=UNSEEN, answered_ms=None, failure=None)
    await room.store.note("test", state())
    await room.store.note("test", failing)
    standing = await room.store.standing("test")
    assert standing["alpha"] == state()
    assert standing["beta"].failure is not None
    assert (standing["beta"].validators, standing["beta"].answered_ms) == (UNSEEN, None)
    assert await room.store.standing("other") == {}


async def test_an_episode_in_a_feed_again_is_the_same_episode(room: Room) -> None:
    for _ in range(2):
        await room.store.note("test", state(), [item("one")], START_MS)
    (pending,) = await room.store.pending("test", "alpha", START_MS, 9)
    assert pending == Episode(1, START_MS - HOUR_MS, (LINK,), 0)
    assert await room.store.pending("other", "alpha", START_MS, 9) == []
    assert await room.store.pending("test", "beta", START_MS, 9) == []


async def test_of_an_episode_the_best_twelve_passages_are_told_in_their_order(room: Room) -> None:
    await room.store.note("test", state(), [item("one")], START_MS)
    await room.store.keep(1, reading("x", MOST_HIGHLIGHTS + 3), START_MS)
    await room.store.tell("test", ["alpha"], START_MS)
    assert await room.quotes() == [f"Quote {number}" for number in range(MOST_HIGHLIGHTS)]


async def test_what_is_old_is_let_go_of(room: Room) -> None:
    await room.store.note("test", state(), [item("one", START_MS)], START_MS)
    await room.store.keep(1, reading("x"), START_MS)
    await room.store.tell("test", ["alpha"], START_MS + KEPT_MS)
    assert len(await room.quotes()) == 1
    await room.store.tell("test", ["alpha"], START_MS + KEPT_MS + 1)
    assert await room.quotes() == []
    assert await rows(room.store, "SELECT * FROM transcript_episodes") == []


async def test_of_a_feed_that_names_its_episodes_anew_every_hour_the_newest_are_kept(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_EPISODES", 3)
    files = [f"file{number}" for number in range(4)]
    for hour in range(5):
        anew = [item(f"{hour}-{at}", START_MS - at * HOUR_MS, file) for at, file in enumerate(files)]
        await room.store.note("test", state(), anew, START_MS)
        await room.store.note("test", state("beta"), [item("other")], START_MS)
        await room.store.tell("test", ["alpha", "beta"], START_MS)
    kept = await rows(room.store, "SELECT source, key FROM transcript_episodes ORDER BY episode")
    assert kept == [("alpha", "0-0"), ("alpha", "0-1"), ("alpha", "0-2"), ("beta", "other")]


async def test_after_each_attempt_twice_as_long_is_waited(room: Room) -> None:
    await room.store.note("test", state(), [item("one")], START_MS)
    waited = []
    now_ms = START_MS
    while pending := await room.store.pending("test", "alpha", now_ms, 1):
        await room.store.attempt(pending[0], now_ms)
        ((next_ms,),) = await rows(room.store, "SELECT next_ms FROM transcript_episodes")
        assert isinstance(next_ms, int)
        waited.append((next_ms - now_ms) // 60_000)
        now_ms = next_ms
    assert waited == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120]
    assert len(waited) == MOST_ATTEMPTS


async def test_an_episode_in_two_feeds_is_read_and_told_once_for_the_feed_that_is_listed_first(room: Room) -> None:
    words = room.say("cdn.example/1.vtt", SOLANA)
    room.publish(ALPHA, episode(1, words))
    room.publish(BETA, episode(1, room.say("cdn.example/other.vtt", SOLANA), days_ago=2))
    await room.refresh.round()
    told = (await room.highlights()).highlights
    assert [(one.source, one.quote) for one in told] == [("alpha", SOLANA)]
    assert room.web.asked("cdn.example") == ["cdn.example/1.vtt"]
    listed = await room.listed()
    assert (listed["alpha"].episodes, listed["beta"].episodes) == (1, 0)
    assert listed["beta"].lastEpisodeAt == "2025-07-23T12:00:00.000Z"


async def test_an_episode_with_the_same_file_is_the_same_episode(room: Room) -> None:
    file = "https://cdn.example/1.mp3"
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA), enclosure=file))
    room.publish(BETA, episode(2, room.say("cdn.example/2.vtt", BITCOIN), enclosure=f"{file}?from=beta"))
    await room.refresh.round()
    assert await room.quotes() == [SOLANA]


@pytest.mark.parametrize("alpha_first", [True, False])
async def test_where_the_same_is_said_the_episode_published_first_tells_it_in_whatever_order_they_are_read(
    room: Room, alpha_first: bool
) -> None:
    days = (3, 2) if alpha_first else (2, 3)
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA, MEMES), days_ago=days[0]))
    shouted = ("https://cdn.example/2.srt", "application/x-subrip")
    room.web.put("cdn.example/2.srt", f"1\n00:00:09,000 --> 00:00:19,000\nAnn: {SOLANA} {MEMES}\n")
    room.publish(BETA, episode(2, shouted, days_ago=days[1]))
    await room.refresh.round()
    told = (await room.highlights()).highlights
    assert {one.source for one in told} == {"alpha" if alpha_first else "beta"}
    assert sum(source.episodes for source in (await room.listed()).values()) == 1


async def test_what_a_feed_told_is_told_by_the_other_once_that_one_is_read_no_more(
    room: Room, clock: FakeClock
) -> None:
    room.publish(
        ALPHA,
        episode(1, room.say("cdn.example/1.vtt", SOLANA), days_ago=3),
        episode(2, room.say("cdn.example/2.vtt", MEMES)),
    )
    room.publish(
        BETA,
        episode(3, room.say("cdn.example/3.vtt", SOLANA), days_ago=2),
        episode(2, room.say("cdn.example/4.vtt", MEMES)),
    )
    await room.refresh.round()
    assert {one.source for one in (await room.highlights()).highlights} == {"alpha"}
    room.sources = [BETA]
    room.refresh = room.another_refresh()
    await clock.advance(1_800)
    await room.refresh.round()
    assert {(one.source, one.quote) for one in (await room.highlights()).highlights} == {
        ("beta", SOLANA), ("beta", MEMES)
    }  # fmt: skip


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
async def test_what_another_tells_is_tagged_when_that_one_goes(room: Room, order: tuple[int, int]) -> None:
    await room.store.note("test", state(), [item("one", START_MS - HOUR_MS)], START_MS)
    await room.store.note("test", state("beta"), [item("two", START_MS)], START_MS)
    for key in order:
        await room.store.keep(key, reading("x"), START_MS)
    await room.store.tell("test", ["alpha", "beta"], START_MS)
    assert [one.source for one in (await room.highlights()).highlights] == ["alpha"]
    assert await room.store.outdated("test", "tags", 9) == []
    await room.store.tell("test", ["beta"], START_MS)
    assert await room.store.outdated("test", "tags", 9) == [(2, "x", [Sentence(0, "Ann", "x")])]


async def test_where_the_feed_that_should_tell_it_cannot_be_read_the_other_does(room: Room, clock: FakeClock) -> None:
    room.web.pages["cdn.example/1.vtt"] = faults.answer(404)
    room.publish(ALPHA, episode(1, ("https://cdn.example/1.vtt", "text/vtt")))
    room.publish(BETA, episode(1, room.say("cdn.example/2.vtt", SOLANA)))
    for _ in range(12):
        await room.refresh.round()
        await clock.advance(1_800)
    assert [one.source for one in (await room.highlights()).highlights] == ["beta"]


async def test_passages_are_replaced_whole_when_they_are_tagged_anew(room: Room) -> None:
    await room.store.note("test", state(), [item("one")], START_MS)
    await room.store.keep(1, reading("x", 5), START_MS)
    assert await room.store.outdated("test", "tags", 9) == []
    assert await room.store.outdated("test", "more", 9) == [(1, "x", [Sentence(0, "Ann", "x")])]
    await room.store.retag(1, "more", [said(7)])
    await room.store.tell("test", ["alpha"], START_MS)
    assert await room.quotes() == ["Quote 7"]
    assert await room.store.outdated("test", "more", 9) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    published=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    counts=st.lists(st.integers(0, 12), min_size=6, max_size=6),
    size=st.integers(1, 5),
)
async def test_pages_hold_everything_once_the_newest_episodes_first(
    room: Room, published: list[int], counts: list[int], size: int
) -> None:
    await room.store.tell("none", [], START_MS)
    now_ms = START_MS
    items = [item(str(number), START_MS - day * DAY_MS) for number, day in enumerate(published)]
    await room.store.note("test", state(), items, now_ms)
    pending = {one.episode: one for one in await room.store.pending("test", "alpha", now_ms, 99)}
    for number, (key, one) in enumerate(sorted(pending.items())):
        passages = [said(number * 100 + rank) for rank in range(counts[number])]
        await room.store.keep(key, StoredTranscript(str(key), [], "tags", passages), one.published_ms)
    await room.store.tell("test", ["alpha"], now_ms)
    expected = [
        f"Quote {number * 100 + rank}"
        for number in sorted(range(len(published)), key=lambda number: (published[number], -number))
        for rank in range(counts[number])
    ]
    read: list[str] = []
    cursor = None
    while True:
        page = await room.highlights(TranscriptsQuery(limit=size, cursor=cursor))
        assert page.meta.total == len(expected)
        read += [one.quote for one in page.highlights]
        cursor = page.meta.next_cursor
        if cursor is None:
            break
        assert len(page.highlights) == size
    assert read == expected
