"""Keeping transcripts fresh: what is asked for, when, and what a failure costs."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import pytest
from aiohttp import web

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.sentiment.matcher import Known
from service.transcripts import refresh as module
from service.transcripts.refresh import MOST_NEW, MOST_TAGGED
from service.transcripts.segment import Segment
from service.transcripts.sentences import Sentence
from service.transcripts.sentences import merge as honest
from service.transcripts.sources import FeedSource
from service.transcripts.store import MOST_ATTEMPTS, NEW_MS
from service.transcripts.tagging import Tagger
from service.wire.transcripts import TranscriptsQuery
from tests.fakes.clock import START_MS, FakeClock
from tests.transcripts.broadcast import ALPHA, BETA, BITCOIN, MEMES, PODCAST, SOLANA, Episode, Room, episode
from tests.upstream import faults
from tests.upstream.faults import Fault

HALF_AN_HOUR_S = 1_800
each_fault = pytest.mark.parametrize(
    "fault",
    [
        faults.answer(500, b"boom"), faults.reset, faults.html, faults.cut_short, faults.answer(200, b"<rss"),
        faults.redirect("http://127.0.0.1:1/"),
    ],
    ids=["500", "reset", "html", "cut short", "no XML", "redirect"],
)  # fmt: skip


async def test_a_round_reads_the_feeds_and_what_is_said_in_new_episodes(room: Room) -> None:
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    room.publish(BETA, episode(2, room.say("cdn.example/2.vtt", BITCOIN)))
    await room.refresh.round()
    assert set(await room.quotes()) == {SOLANA, BITCOIN}
    assert {key: source.status for key, source in (await room.listed()).items()} == {"alpha": "ok", "beta": "ok"}


@pytest.mark.promise("transcripts.as-of")
async def test_feeds_are_read_every_half_an_hour_and_episodes_once(room: Room, clock: FakeClock) -> None:
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    for _ in range(12 * 60 + 1):
        await room.refresh.round()
        await clock.advance(5)
    assert room.web.asked("alpha.example") == ["alpha.example/rss", "alpha.example/1.vtt", *["alpha.example/rss"] * 2]


async def test_a_new_episode_is_read_and_the_known_ones_are_not_asked_for_again(room: Room, clock: FakeClock) -> None:
    first = episode(1, room.say("alpha.example/1.vtt", SOLANA), days_ago=2)
    room.publish(ALPHA, first)
    await room.refresh.round()
    await clock.advance(HALF_AN_HOUR_S)
    room.publish(ALPHA, episode(2, room.say("alpha.example/2.vtt", BITCOIN)), first)
    await room.refresh.round()
    assert await room.quotes() == [BITCOIN, SOLANA]
    assert room.web.requests.count("alpha.example/1.vtt") == 1


async def test_a_feed_is_asked_for_what_has_changed_and_an_unchanged_one_is_as_fresh_as_its_answer(
    room: Room, clock: FakeClock
) -> None:
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    room.web.pages["alpha.example/rss"] = faults.answer(200, (await _body(room, "alpha.example/rss")), ETag='"v1"')
    await room.refresh.round()
    room.web.pages["alpha.example/rss"] = faults.answer(304)
    await clock.advance(HALF_AN_HOUR_S)
    await room.another_refresh().round()
    at = max(at for at, asked in enumerate(room.web.requests) if asked == "alpha.example/rss")
    assert room.web.sent[at]["If-None-Match"] == '"v1"'
    assert await room.quotes() == [SOLANA]
    assert (await room.desk.transcripts(TranscriptsQuery())).as_of_ms == START_MS + HALF_AN_HOUR_S * 1_000


async def test_a_feed_that_has_moved_is_asked_for_at_once_and_whole(room: Room) -> None:
    room.web.pages["alpha.example/rss"] = faults.answer(200, _EMPTY, ETag='"v1"')
    await room.refresh.round()
    moved = FeedSource(ALPHA.id, ALPHA.name, ALPHA.kind, "https://moved.example/rss")
    room.sources = [moved, BETA]
    room.web.pages["moved.example/rss"] = faults.answer(500)
    await room.another_refresh().round()
    room.publish(moved, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    await room.clock.advance(300)
    await room.another_refresh().round()
    assert await room.quotes() == [SOLANA]
    assert all("If-None-Match" not in headers for headers in room.web.sent)


async def test_nothing_is_read_before_there_are_coins(room: Room) -> None:
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    room.titles = {}
    await room.refresh.round()
    assert room.web.requests == []
    with pytest.raises(ServiceError) as refused:
        await room.highlights()
    assert refused.value.code == "UNAVAILABLE"


async def test_episodes_of_the_last_ninety_days_are_taken_up_and_undated_or_future_ones_are_not(room: Room) -> None:
    words = room.say("alpha.example/1.vtt", SOLANA)
    room.publish(
        ALPHA,
        episode(1, words, days_ago=90),
        episode(2, words, days_ago=90.001),
        episode(3, words, days_ago=-1),
        Episode("https://guid.example/4", at_ms=None, transcripts=[words]),
        episode(5, words, days_ago=-1 / 24 / 60),
    )
    await room.refresh.round()
    rows = await room.database.read("SELECT published_ms FROM transcript_episodes ORDER BY published_ms")
    assert [at_ms for (at_ms,) in rows] == [START_MS - NEW_MS, START_MS]
    desk = room.desk
    await desk.look()
    alpha = desk.readiness()["alpha"]
    assert isinstance(alpha, dict)
    assert alpha["left_out"] == "2 without a usable date"


async def test_of_many_new_episodes_the_newest_twenty_are_read_and_in_the_next_round_twenty_more(
    room: Room, clock: FakeClock
) -> None:
    said = [
        episode(
            at, room.say(f"cdn.example/{at}.vtt", f"Bitcoin has gained {at} percent since we last talked about it.")
        )
        for at in range(45)
    ]
    room.publish(ALPHA, *(one._replace(at_ms=START_MS - at * HOUR_MS) for at, one in enumerate(said)))
    read = []
    for _ in range(3):
        for _ in range(3):
            await room.refresh.round()
        read.append((await room.listed())["alpha"].episodes)
        await clock.advance(HALF_AN_HOUR_S)
    assert read == [MOST_NEW, 2 * MOST_NEW, 45]
    assert sorted(room.web.asked("cdn.example")[:MOST_NEW]) == sorted(f"cdn.example/{at}.vtt" for at in range(MOST_NEW))


@pytest.mark.slow
@each_fault
async def test_a_feed_that_fails_leaves_the_others_and_is_asked_again_after_five_minutes(
    room: Room, fault: Fault, clock: FakeClock
) -> None:
    room.publish(BETA, episode(2, room.say("cdn.example/2.vtt", BITCOIN)))
    room.web.pages["alpha.example/rss"] = fault
    await room.refresh.round()
    assert await room.quotes() == [BITCOIN]
    assert (await room.listed())["alpha"].status == "failing"
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    await clock.advance(299)
    await room.refresh.round()
    assert await room.quotes() == [BITCOIN]
    await clock.advance(1)
    await room.refresh.round()
    assert set(await room.quotes()) == {BITCOIN, SOLANA}
    assert (await room.listed())["alpha"].status == "ok"


async def test_when_every_feed_fails_what_is_known_stands_and_grows_old(room: Room, clock: FakeClock) -> None:
    room.publish(ALPHA, episode(1, room.say("alpha.example/1.vtt", SOLANA)))
    room.publish(BETA)
    await room.refresh.round()
    for feed in ("alpha", "beta"):
        room.web.pages[f"{feed}.example/rss"] = faults.answer(503)
    await clock.advance(HALF_AN_HOUR_S)
    await room.refresh.round()
    assert await room.quotes() == [SOLANA]
    assert (await room.desk.transcripts(TranscriptsQuery())).as_of_ms == START_MS


async def test_where_no_feed_has_ever_answered_the_failure_is_told(room: Room) -> None:
    for feed in ("alpha", "beta"):
        room.web.pages[f"{feed}.example/rss"] = faults.answer(503, b"maintenance")
    await room.refresh.round()
    with pytest.raises(ServiceError) as refused:
        await room.highlights()
    assert refused.value.code == "UPSTREAM_5XX"
    assert refused.value.details == {"upstream": "alpha", "upstreamStatus": 503, "upstreamBody": "maintenance"}
    assert (await room.listed())["alpha"].status == "failing"


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [faults.answer(404), faults.answer(200, b"\x00\x01\x02"), faults.answer(200, b"WEBVTT\n\n"), faults.answer(503)],
    ids=["404", "binary", "empty", "503"],
)
async def test_a_transcript_that_cannot_be_read_leaves_the_others_and_is_tried_ten_times(
    room: Room, broken: Fault, clock: FakeClock
) -> None:
    room.web.pages["cdn.example/1.vtt"] = broken
    words = ("https://cdn.example/1.vtt", "text/vtt")
    room.publish(ALPHA, episode(1, words), episode(2, room.say("cdn.example/2.vtt", BITCOIN), days_ago=2))
    for waited in range(12):
        await room.refresh.round()
        assert await room.quotes() == [BITCOIN]
        await clock.advance(HALF_AN_HOUR_S * 2**waited)
    assert room.web.requests.count("cdn.example/1.vtt") == MOST_ATTEMPTS


async def test_a_host_that_is_away_over_a_weekend_loses_no_episode(room: Room, clock: FakeClock) -> None:
    room.web.pages["cdn.example/1.vtt"] = faults.reset
    room.publish(ALPHA, episode(1, ("https://cdn.example/1.vtt", "text/vtt")))
    for _ in range(30):
        await room.refresh.round()
        await clock.advance(2 * 3_600)
    room.say("cdn.example/1.vtt", SOLANA)
    await clock.advance(48 * 3_600)
    await room.refresh.round()
    assert await room.quotes() == [SOLANA]


async def test_the_highlights_of_one_source_are_as_old_as_its_own_last_answer(room: Room, clock: FakeClock) -> None:
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA)))
    room.publish(BETA, episode(2, room.say("cdn.example/2.vtt", BITCOIN)))
    await room.refresh.round()
    room.web.pages["beta.example/rss"] = faults.answer(503)
    await clock.advance(3 * 86_400)
    await room.refresh.round()
    told = [
        (await room.desk.transcripts(TranscriptsQuery(source=source))).as_of_ms for source in (None, "alpha", "beta")
    ]
    assert told == [clock.now_ms(), clock.now_ms(), START_MS]


async def test_of_a_source_that_has_never_answered_its_own_failure_is_told(room: Room) -> None:
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA)))
    room.web.pages["beta.example/rss"] = faults.answer(503, b"maintenance")
    await room.refresh.round()
    assert await room.quotes(TranscriptsQuery(source="alpha")) == [SOLANA]
    with pytest.raises(ServiceError) as refused:
        await room.highlights(TranscriptsQuery(source="beta"))
    assert refused.value.details == {"upstream": "beta", "upstreamStatus": 503, "upstreamBody": "maintenance"}


async def test_an_operator_sees_how_each_source_stands(room: Room, clock: FakeClock) -> None:
    waiting = {"status": "waiting", "age_seconds": None, "episodes": 0, "left_out": None}
    assert room.desk.readiness() == {"alpha": waiting, "beta": waiting}
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA)))
    room.web.put("beta.example/robots.txt", "User-agent: *\nDisallow: /")
    await room.refresh.round()
    desk = room.desk
    await desk.look()
    await clock.advance(7)
    assert desk.readiness() == {
        "alpha": {"status": "ok", "age_seconds": 7, "episodes": 1, "left_out": None},
        "beta": {"status": "blocked", "age_seconds": None, "episodes": 0, "left_out": None},
    }


async def test_where_the_best_transcript_fails_the_next_is_read(room: Room) -> None:
    room.web.pages["cdn.example/1.json"] = faults.answer(200, b'{"segments":')
    other = room.say("cdn.example/1.vtt", SOLANA)
    both = Episode("https://guid.example/1", transcripts=[("https://cdn.example/1.json", "application/json"), other])
    room.publish(ALPHA, both)
    await room.refresh.round()
    assert await room.quotes() == [SOLANA]


async def test_a_transcript_is_of_the_type_that_its_feed_says_whatever_its_server_does(room: Room) -> None:
    told = "Of today <cite>Ann:</cite><time>0:05</time><p>We are buying bitcoin now because demand is strong.</p>"
    room.web.put("cdn.example/1.html", told, Content_Type="text/plain")
    room.publish(ALPHA, episode(1, ("https://cdn.example/1.html", "text/html")))
    await room.refresh.round()
    assert [(one.speaker, one.start_seconds) for one in (await room.highlights()).highlights] == [("Ann", 5)]


async def test_a_host_that_gives_nothing_three_times_running_is_left_for_this_round(room: Room) -> None:
    room.publish(ALPHA, *(episode(at, (f"https://cdn.example/{at}.vtt", "text/vtt")) for at in range(9)))
    await room.refresh.round()
    assert len(room.web.asked("cdn.example")) == 3


async def test_a_transcript_that_breaks_the_reader_is_put_off_and_the_others_are_read(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def merge(segments: Sequence[Segment]) -> list[Sentence]:
        if "Solana" in segments[0].text:
            raise ZeroDivisionError
        return honest(segments)

    monkeypatch.setattr(module, "merge", merge)
    room.publish(
        ALPHA,
        episode(1, room.say("cdn.example/1.vtt", SOLANA)),
        episode(2, room.say("cdn.example/2.vtt", BITCOIN), days_ago=2),
    )
    with pytest.raises(ZeroDivisionError):
        await room.refresh.round()
    await room.refresh.round()
    assert await room.quotes() == [BITCOIN]


async def test_who_is_killed_while_reading_goes_on_where_he_was(room: Room) -> None:
    room.publish(
        ALPHA,
        episode(1, room.say("cdn.example/1.vtt", SOLANA)),
        episode(2, ("https://cdn.example/2.vtt", "text/vtt"), days_ago=2),
        episode(3, room.say("cdn.example/3.vtt", MEMES), days_ago=3),
    )
    reached = asyncio.Event()

    async def hang(request: object) -> web.StreamResponse:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    room.web.pages["cdn.example/2.vtt"] = hang
    task = asyncio.create_task(room.refresh.round())
    async with asyncio.timeout(10):
        await reached.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    room.say("cdn.example/2.vtt", BITCOIN)
    await room.another_refresh().round()
    assert await room.quotes() == [SOLANA, MEMES]
    await room.clock.advance(600)
    await room.another_refresh().round()
    assert await room.quotes() == [SOLANA, BITCOIN, MEMES]
    assert room.web.requests.count("alpha.example/rss") == 1
    assert room.web.requests.count("cdn.example/1.vtt") == 1


async def test_what_is_said_is_tagged_again_when_more_is_known(room: Room, clock: FakeClock) -> None:
    room.publish(
        ALPHA,
        episode(
            1, room.say("cdn.example/1.vtt", SOLANA, "Dogwifhat is up again as well this week, by the way.", MEMES)
        ),
    )
    room.categories = []
    await room.refresh.round()
    assert {tuple(one.coins) for one in (await room.highlights()).highlights} == {("SOL",)}
    room.titles["WIF"] = "dogwifhat"
    room.categories = ["Meme"]
    await room.refresh.round()
    told = (await room.highlights()).highlights
    assert {name for one in told for name in one.coins} == {"SOL", "WIF"}
    assert {name for one in told for name in one.sectors} == {"Meme"}
    assert room.web.requests.count("cdn.example/1.vtt") == 1


async def test_many_episodes_are_tagged_again_by_and_by(room: Room) -> None:
    count = MOST_TAGGED + 5
    for feed, numbers in ((ALPHA, range(15)), (BETA, range(15, count))):
        room.publish(
            feed,
            *(
                episode(
                    at,
                    room.say(
                        f"cdn.example/{at}.vtt", f"Ethereum has gained {at} percent since we last talked about it."
                    ),
                )
                for at in numbers
            ),
        )
    await room.refresh.round()
    room.titles["DOGE"] = "Dogecoin"
    done: list[Mapping[str, int]] = []
    for _ in range(2):
        await room.refresh.round()
        rows = await room.database.read("SELECT count(*) FROM transcript_episodes GROUP BY tagged_with ORDER BY 1")
        done.append({str(at): row[0] for at, row in enumerate(rows)})
    assert done == [{"0": 5, "1": MOST_TAGGED}, {"0": count}]


async def test_the_names_are_laid_out_once_while_they_stay_the_same(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def make(known: Sequence[Known], categories: Sequence[str]) -> Tagger:
        made.append(known)
        return Tagger(known, categories)

    monkeypatch.setattr(module, "Tagger", make)
    for _ in range(3):
        await room.refresh.round()
    assert len(made) == 1


async def test_another_history_is_told_once_it_has_been_read_and_the_old_one_until_then(
    room: Room, clock: FakeClock
) -> None:
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA)))
    room.publish(BETA)
    await room.refresh.round()
    room.origin = "tomorrow"
    for feed in ("alpha", "beta"):
        room.web.pages[f"{feed}.example/rss"] = faults.answer(500)
    await room.refresh.round()
    assert await room.quotes() == [SOLANA]
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", BITCOIN)))
    await clock.advance(300)
    seen: list[str] = []

    async def look(request: object) -> None:
        seen.extend(await room.quotes())

    words = room.web.pages["cdn.example/1.vtt"]

    async def serve(request: web.Request) -> web.StreamResponse:
        await look(request)
        return await words(request)

    room.web.pages["cdn.example/1.vtt"] = serve
    await room.refresh.round()
    assert seen == [SOLANA]
    assert await room.quotes() == [BITCOIN]
    assert await room.database.read("SELECT DISTINCT origin FROM transcript_episodes") == [("tomorrow",)]


async def test_what_was_fetched_while_the_history_changed_is_not_kept(room: Room) -> None:
    async def at_midnight(request: object) -> web.StreamResponse:
        room.origin = "tomorrow"
        return web.Response(body=_EMPTY)

    room.web.pages["alpha.example/rss"] = at_midnight
    await room.refresh.round()
    assert await room.database.read("SELECT source FROM transcript_sources") == []
    await room.refresh.round()
    assert await room.database.read("SELECT DISTINCT origin FROM transcript_sources") == [("tomorrow",)]


async def test_feeds_that_are_not_listed_any_more_are_forgotten_with_what_was_said_in_them(
    room: Room, clock: FakeClock
) -> None:
    room.publish(ALPHA, episode(1, room.say("cdn.example/1.vtt", SOLANA)))
    room.publish(BETA, episode(2, room.say("cdn.example/2.vtt", BITCOIN)))
    await room.refresh.round()
    room.sources = [BETA]
    await clock.advance(HALF_AN_HOUR_S)
    await room.another_refresh().round()
    assert await room.quotes() == [BITCOIN]
    assert await room.database.read("SELECT count(*) FROM transcript_highlights") == [(1,)]


async def test_a_clock_set_back_does_not_stop_the_reading(room: Room, clock: FakeClock) -> None:
    await room.refresh.round()
    clock.set_wall(START_MS - DAY_MS)
    await room.refresh.round()
    assert room.web.requests.count("alpha.example/rss") == 2


async def test_of_a_feed_that_begins_to_fail_the_operator_is_warned_once(
    room: Room, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    room.publish(BETA, episode(1, ("https://cdn.example/gone.vtt", "text/vtt")))
    room.web.pages["alpha.example/rss"] = faults.answer(503, b"maintenance?key=secret")
    for _ in range(3):
        await room.refresh.round()
        await clock.advance(300)
    (warned,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert warned.getMessage() == "A feed is failing."
    assert (vars(warned)["source"], vars(warned)["why"]) == ("alpha", "maintenance?[redacted]")


async def test_of_what_failed_the_log_says_where_and_nothing_of_what_was_said(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    room.publish(ALPHA, episode(1, ("https://cdn.example/1.vtt?key=secret", "text/vtt")))
    await room.refresh.round()
    (told,) = [record for record in caplog.records if record.getMessage() == "a transcript was not read"]
    assert vars(told)["episode"] == 1
    assert "cdn.example" in vars(told)["why"]
    assert "secret" not in "".join(str(vars(record)) for record in caplog.records)


_EMPTY = f'<rss xmlns:podcast="{PODCAST}"><channel/></rss>'.encode()


async def _body(room: Room, at: str) -> bytes:
    response = await room.web.pages[at](None)  # type: ignore[arg-type]
    assert isinstance(response, web.Response)
    assert isinstance(response.body, bytes)
    return response.body
