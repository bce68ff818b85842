"""Visiting strangers: politely, within bounds, and never inside."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, SECOND_MS
from service.upstream import feed_fetcher as module
from service.upstream.failures import UpstreamError
from service.upstream.feed_fetcher import MOST_HOSTS, PACE_S, BlockedError, FeedFetcher, Validators, open_feed_fetcher
from service.upstream.responses import http_date
from tests.fakes.clock import START_MS, FakeClock
from tests.upstream import faults
from tests.upstream.conftest import listening
from tests.upstream.faults import Fault
from tests.upstream.web import Web, open_web

FEED = "https://pod.example/feed.xml"
AT = "pod.example/feed.xml"
RULES = "pod.example/robots.txt"
MOST = 100_000


@pytest.fixture
async def served(clock: FakeClock) -> AsyncIterator[Web]:
    async with open_web(clock) as opened:
        yield opened


async def refused(served: Web, url: str = FEED, *, obey_robots: bool = False) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        async with asyncio.timeout(20):
            await served.fetcher.get(url, MOST, obey_robots=obey_robots)
    return caught.value


async def test_a_visit_brings_the_body_its_type_and_what_the_version_is_called(served: Web) -> None:
    served.put(
        AT, "<rss/>", Content_Type="text/xml", ETag='"1"', Last_Modified="then", Date=http_date(START_MS - SECOND_MS)
    )
    visit = await served.fetcher.get(FEED + "?a=%26&b=\u00fc#part", MOST, accept="text/xml")
    assert (visit.body, visit.content_type) == (b"<rss/>", "text/xml")
    assert (visit.validators, visit.date_ms) == (Validators('"1"', "then"), START_MS - SECOND_MS)
    assert served.requests == [RULES, AT + "?a=%26&b=%C3%BC"]
    assert served.sent[1]["User-Agent"].startswith("verdict/")
    assert served.sent[1]["Accept"] == "text/xml"
    assert served.fetcher.calls == 2


@pytest.mark.parametrize("date", ["", "soon", http_date(START_MS + DAY_MS)])
async def test_an_answer_is_never_dated_after_now(served: Web, date: str) -> None:
    served.put(AT, "x", Date=date)
    assert (await served.fetcher.get(FEED, MOST)).date_ms == START_MS


@pytest.mark.parametrize("etag", ['"' + "1" * 600 + '"', '"\u00e9"'], ids=["long", "no ASCII"])
async def test_a_header_that_cannot_be_kept_and_sent_back_is_not_remembered(served: Web, etag: str) -> None:
    served.put(AT, "x", ETag=etag)
    assert (await served.fetcher.get(FEED, MOST)).validators == Validators()


async def test_bytes_that_are_no_text_are_not_remembered_as_the_name_of_a_version(served: Web) -> None:
    async def say(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(b'HTTP/1.1 200 OK\r\nETag: "\xff"\r\nContent-Length: 1\r\n\r\nx')
        await asyncio.Event().wait()
        raise AssertionError

    served.pages[AT] = say
    visit = await served.fetcher.get(FEED, MOST)
    assert (visit.body, visit.validators) == (b"x", Validators())


async def test_nothing_has_changed_is_no_answer_to_who_knows_nothing(served: Web) -> None:
    served.pages[AT] = faults.answer(304, b"")
    error = await refused(served)
    assert (error.upstream_status, served.fetcher.failures) == (304, 1)
    served.pages[RULES] = faults.answer(304, b"")
    served.put(AT, "x")
    assert not isinstance(await refused(served, obey_robots=True), BlockedError)
    assert served.asked("pod.example") == [AT]


async def test_what_has_not_changed_is_not_sent_again(served: Web) -> None:
    served.pages[AT] = faults.answer(304, b"", ETag='"1"')
    visit = await served.fetcher.get(FEED, MOST, known=Validators('"1"', "then"))
    assert (visit.body, visit.validators.etag) == (None, '"1"')
    assert (served.sent[1]["If-None-Match"], served.sent[1]["If-Modified-Since"]) == ('"1"', "then")


async def test_what_robots_txt_forbids_is_not_asked_for(served: Web) -> None:
    served.put(RULES, "User-agent: *\nDisallow: /feed")
    served.put("pod.example/other", "x")
    error = await refused(served, obey_robots=True)
    assert isinstance(error, BlockedError)
    assert (error.upstream, error.upstream_status) == ("pod.example", None)
    assert (await served.fetcher.get("https://pod.example/other", MOST)).body == b"x"
    assert served.requests == [RULES, "pod.example/other"]


async def test_robots_txt_is_believed_for_a_day(served: Web, clock: FakeClock) -> None:
    served.put(AT, "x")
    await served.fetcher.get(FEED, MOST)
    await clock.advance(86_399)
    await served.fetcher.get(FEED, MOST)
    assert served.requests.count(RULES) == 1
    served.put(RULES, "User-agent: verdict\nDisallow: /")
    await clock.advance(2)
    assert isinstance(await refused(served, obey_robots=True), BlockedError)


async def test_visits_at_once_read_robots_txt_once(served: Web) -> None:
    served.put(AT, "x")
    await asyncio.gather(*(served.fetcher.get(FEED, MOST) for _ in range(5)))
    assert served.requests.count(RULES) == 1


@pytest.mark.parametrize("fault", [faults.answer(503), faults.answer(429), faults.reset], ids=["503", "429", "reset"])
async def test_a_host_whose_robots_txt_cannot_be_had_is_left_alone(served: Web, fault: Fault, clock: FakeClock) -> None:
    served.put(AT, "x")
    served.pages[RULES] = fault
    error = await refused(served, obey_robots=True)
    assert not isinstance(error, BlockedError)
    served.put(RULES, "User-agent: *\nDisallow: /")
    await clock.advance(60)
    assert isinstance(await refused(served, obey_robots=True), BlockedError)
    assert served.asked("pod.example") == []


async def test_a_host_without_robots_txt_has_not_failed(served: Web, caplog: pytest.LogCaptureFixture) -> None:
    served.put(AT, "x")
    assert (await served.fetcher.get(FEED, MOST)).body == b"x"
    assert (served.fetcher.calls, served.fetcher.failures) == (2, 0)
    assert caplog.records == []


async def test_rules_that_were_read_once_hold_while_they_cannot_be_read_again(served: Web, clock: FakeClock) -> None:
    served.put(AT, "x")
    served.put(RULES, "User-agent: *\nDisallow: /secret")
    await served.fetcher.get(FEED, MOST)
    await clock.advance(90_000)
    served.pages[RULES] = faults.answer(500)
    assert (await served.fetcher.get(FEED, MOST)).body == b"x"
    assert isinstance(await refused(served, "https://pod.example/secret", obey_robots=True), BlockedError)


async def test_a_robots_txt_that_leads_elsewhere_is_followed(served: Web) -> None:
    served.pages[RULES] = faults.redirect("https://rules.example/r")
    served.put("rules.example/r", "User-agent: *\nDisallow: /")
    assert isinstance(await refused(served, obey_robots=True), BlockedError)


async def test_who_need_not_heed_does_not_ask_for_robots_txt(served: Web) -> None:
    served.put(RULES, "User-agent: *\nDisallow: /")
    served.put(AT, "x")
    assert (await served.fetcher.get(FEED, MOST, obey_robots=False)).body == b"x"
    assert served.requests == [AT]


async def test_redirects_are_followed_three_times_and_each_host_is_asked_whether_it_wants_us(served: Web) -> None:
    served.pages[AT] = faults.redirect("/b")
    served.pages["pod.example/b"] = faults.redirect("//cdn.example/c")
    served.pages["cdn.example/c"] = faults.redirect("http://third.example/d")
    served.put("third.example/d", "x")
    assert (await served.fetcher.get(FEED, MOST)).body == b"x"
    served.put("third.example/robots.txt", "User-agent: *\nDisallow: /")
    served.fetcher._hosts.clear()
    assert (await refused(served, obey_robots=True)).upstream == "third.example"


async def test_a_fourth_redirect_is_not_followed(served: Web) -> None:
    served.pages[AT] = faults.redirect(FEED)
    assert (await refused(served)).body == "more than 3 redirects"
    assert served.requests == [AT] * 4


@pytest.mark.parametrize(
    "to",
    ["file:///etc/passwd", "ftp://pod.example/x", "https://u:p@pod.example/", "http://[::1", "http:///x", "data:,x"],
)
async def test_a_redirect_to_what_is_no_web_page_is_not_followed(served: Web, to: str) -> None:
    served.pages[AT] = faults.redirect(to)
    await refused(served)
    assert served.requests == [AT]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "feed.xml",
        "ftp://a.example/",
        "http://",
        "https://a@b.example/",
        "http://a.example:x/",
        "http://" + "a" * 2_000,
    ],
)
async def test_what_is_no_web_page_is_not_asked_for(served: Web, url: str) -> None:
    error = await refused(served, url)
    assert (error.upstream, error.upstream_status) == ("a link", None)
    assert served.requests == []


@given(
    st.one_of(
        st.text(max_size=80),
        st.text(max_size=80).map("http://".__add__),
        st.text(max_size=60).map("https://a.example/".__add__),
    )
)
def test_any_text_is_a_web_page_or_refused(text: str) -> None:
    fetcher = FeedFetcher(None, FakeClock(), None)  # type: ignore[arg-type]
    try:
        at = fetcher._address(text)
    except UpstreamError:
        return
    assert at.scheme in {"http", "https"}
    assert at.raw_host
    assert at.raw_path_qs.startswith("/")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (faults.reset, "connection closed without an answer"),
        (faults.cut_short, "answer cut short"),
        (faults.gzip_bomb, f"more than {MOST} bytes"),
        (faults.endless, f"more than {MOST} bytes"),
        (faults.answer(200, b"no gzip", Content_Encoding="gzip"), "connection failed (error)"),
        (faults.answer(200, b"x", Content_Encoding="br"), "an encoding that was not asked for"),
        (faults.answer(404, b"gone?key=secret"), "gone?[redacted]"),
        (faults.answer(302, b""), "more than 3 redirects"),
    ],
    ids=["reset", "cut short", "bomb", "endless", "no gzip", "br", "404", "nowhere"],
)
async def test_each_fault_of_a_host_comes_to_one_error(served: Web, fault: Fault, said: str) -> None:
    served.pages[AT] = fault
    error = await refused(served)
    assert (error.upstream, error.body) == ("pod.example", said)
    assert served.fetcher.failures == 1


@pytest.mark.parametrize("fault", [faults.hang, faults.drip], ids=["hang", "drip"])
async def test_a_host_that_does_not_come_to_an_end_is_given_up_at_the_deadline(
    served: Web, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DEADLINE_S", 0.05)
    served.pages[AT] = fault
    error = await refused(served)
    assert (error.upstream_status, error.body) == (None, "no answer within 0.05 s")


async def test_a_compressed_page_is_unpacked(served: Web) -> None:
    served.put(AT, gzip.compress(b"<rss/>"), Content_Encoding="gzip")
    assert (await served.fetcher.get(FEED, MOST)).body == b"<rss/>"


async def test_a_host_is_asked_once_in_two_seconds_and_another_at_once(clock: FakeClock) -> None:
    async with open_web(clock, PACE_S) as served:
        served.put(AT, "x")
        served.put("cdn.example/1", "x")
        visits = [asyncio.create_task(served.fetcher.get(FEED, MOST, obey_robots=False)) for _ in range(3)]
        await visits[0]
        assert (await served.fetcher.get("https://cdn.example/1", MOST, obey_robots=False)).body == b"x"
        await clock.advance(PACE_S - 0.1)
        assert len(served.asked("pod.example")) == 1
        await clock.advance(0.2)
        await visits[1]
        assert not visits[2].done()
        await clock.advance(PACE_S)
        await visits[2]
    assert len(served.asked("pod.example")) == 3


async def test_a_host_that_asks_for_a_pause_is_left_alone_until_then(served: Web, clock: FakeClock) -> None:
    served.pages[AT] = faults.too_many("30")
    assert (await refused(served)).upstream_status == 429
    served.put(AT, "x")
    held = await refused(served)
    assert (held.body, held.retry_after_s) == ("not asked again for 30 s", 30.0)
    assert len(served.requests) == 1
    await clock.advance(30)
    assert (await served.fetcher.get(FEED, MOST, obey_robots=False)).body == b"x"


async def test_a_pause_that_is_shorter_than_the_pace_does_not_shorten_it(clock: FakeClock) -> None:
    async with open_web(clock, PACE_S) as served:
        served.pages[AT] = faults.too_many("1")
        await refused(served)
        again = asyncio.create_task(refused(served))
        await clock.settle()
        await clock.advance(PACE_S - 0.1)
        assert len(served.requests) == 1
        await clock.advance(0.2)
        assert (await again).upstream_status == 429


async def test_json_is_posted_and_no_redirect_of_it_is_followed(served: Web) -> None:
    served.put("api.example/v1", '{"ok":true}')
    visit = await served.fetcher.post_json("https://api.example/v1?a=b", {"video": "1"}, MOST)
    assert visit.body == b'{"ok":true}'
    assert served.bodies == [b'{"video":"1"}']
    served.pages["api.example/v1"] = faults.redirect("https://b.example/")
    with pytest.raises(UpstreamError, match=r"api\.example"):
        await served.fetcher.post_json("https://api.example/v1", {}, MOST)


async def test_of_hosts_only_the_last_ones_are_remembered(served: Web) -> None:
    for number in range(MOST_HOSTS + 1):
        served.fetcher._host(served.fetcher._address(f"https://h{number}.example/"))
    assert len(served.fetcher._hosts) == MOST_HOSTS
    assert "https://h0.example" not in served.fetcher._hosts


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{}", "localhost:{}", "[::ffff:127.0.0.1]:{}", "2130706433:{}", "0x7f.1:{}", "127.1:{}"]
)
async def test_nothing_inside_is_connected_to_however_it_is_spelled(clock: FakeClock, host: str) -> None:
    came: list[str] = []

    async def note(request: web.Request) -> web.StreamResponse:
        came.append(request.path)
        return web.Response(text="inside")

    app = web.Application()
    app.router.add_route("*", "/{at:.*}", note)
    async with listening(app) as url, open_feed_fetcher(clock) as fetcher:
        with pytest.raises(UpstreamError, match="No usable answer from") as caught:
            await fetcher.get(f"http://{host.format(url.rpartition(':')[2])}/", MOST, obey_robots=False)
    assert caught.value.upstream_status is None
    assert came == []
