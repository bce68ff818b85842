"""The HTTP session: what it sends, what it refuses, and what each fault of an upstream comes to."""

import asyncio
import gc
import gzip
import json
import logging
from collections.abc import Callable

import msgspec
import pytest
from aiohttp import web

from service.feeds.dates import parse_http_date
from service.upstream.failures import UpstreamError
from service.upstream.session import LARGEST_BODY, Fetched, UpstreamSession, open_session
from tests.upstream import faults
from tests.upstream.conftest import DATE, OK, Ok, Venue, listening

PING: dict[str, object] = {"type": "ping"}
NAMES = msgspec.json.Decoder(list[str])
DEADLINE_S = 20


async def ask(session: UpstreamSession, payload: object = PING, *, weight: int = 1) -> Fetched[Ok]:
    return await session.post_json("/info", payload, weight=weight, decoder=OK)


async def failing(session: UpstreamSession, payload: object = PING) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await ask(session, payload)
    return caught.value


async def test_an_answer_is_decoded_into_its_type_and_dated_by_the_upstream(venue: Venue) -> None:
    async with venue.session() as session:
        fetched = await ask(session)
    assert fetched == Fetched(Ok(ok=True), parse_http_date(DATE) or 0)
    assert venue.faults.requests == [b'{"type":"ping"}']


@pytest.mark.parametrize("date", ["", "yesterday", "Fri, 25 Jul 20255 12:00:01 GMT", "Thu, 01 Jan 1950 00:00:00 GMT"])
async def test_an_answer_without_a_usable_date_is_dated_by_our_clock(venue: Venue, date: str) -> None:
    venue.faults.next = faults.answer(200, b'{"ok":true}', Date=date)
    async with venue.session() as session:
        assert (await ask(session)).date_ms == venue.clock.now_ms()


async def test_a_compressed_answer_is_unpacked(venue: Venue) -> None:
    venue.faults.next = faults.answer(200, gzip.compress(b'{"ok":true}'), Content_Encoding="gzip")
    async with venue.session() as session:
        assert (await ask(session)).value.ok


@pytest.mark.parametrize("name", ["A\0B", "\0", "\\u0000", "\\\0\0", '"\\"\0'])
async def test_no_nul_comes_in_with_a_name(venue: Venue, name: str) -> None:
    venue.faults.next = faults.answer(200, json.dumps([name]).encode())
    async with venue.session() as session:
        fetched = await session.post_json("/info", PING, weight=1, decoder=NAMES)
    assert fetched.value == [name.replace("\0", "\ufffd")]


@pytest.mark.promise("errors.upstream-timeout-null")
async def test_a_hanging_upstream_is_given_up_at_the_deadline_and_not_asked_twice(
    venue: Venue, skip_time: Callable[[float], None]
) -> None:
    venue.faults.next = faults.hang
    async with venue.session(deadline_s=DEADLINE_S) as session:
        asking = asyncio.create_task(failing(session))
        await venue.faults.came(1)
        skip_time(DEADLINE_S)
        error = await asking
    assert (error.code, error.upstream_status, error.body) == ("UPSTREAM_UNREACHABLE", None, "no answer within 20 s")
    assert len(venue.faults.requests) == 1


async def test_an_upstream_that_is_late_five_times_is_left_alone(
    venue: Venue, skip_time: Callable[[float], None]
) -> None:
    venue.faults.next = faults.hang
    async with venue.session(deadline_s=DEADLINE_S) as session:
        asking = [asyncio.create_task(failing(session, {"number": number})) for number in range(5)]
        await venue.faults.came(5)
        skip_time(DEADLINE_S)
        await asyncio.gather(*asking)
        assert (await failing(session)).retry_after_s == 10


async def test_a_dripping_upstream_is_given_up_at_the_deadline(
    venue: Venue, skip_time: Callable[[float], None]
) -> None:
    venue.faults.next = faults.drip
    async with venue.session(deadline_s=DEADLINE_S) as session:
        asking = asyncio.create_task(failing(session))
        await venue.faults.came(1)
        skip_time(DEADLINE_S)
        assert (await asking).upstream_status is None


async def test_a_reset_connection_is_tried_once_more(venue: Venue) -> None:
    venue.faults.next = faults.once(venue.faults, faults.reset)
    async with venue.session() as session:
        assert (await ask(session)).value.ok
    assert len(venue.faults.requests) == 2


@pytest.mark.promise("errors.upstream-timeout-null")
async def test_an_upstream_that_keeps_resetting_is_an_error_without_a_status_or_a_url(venue: Venue) -> None:
    venue.faults.next = faults.reset
    async with venue.session() as session:
        error = await failing(session)
    assert (error.upstream_status, error.body) == (None, "connection closed without an answer")
    assert len(venue.faults.requests) == 2


async def test_an_answer_cut_short_is_an_error(venue: Venue) -> None:
    venue.faults.next = faults.cut_short
    async with venue.session() as session:
        assert (await failing(session)).upstream_status is None


async def test_an_upstream_nobody_listens_at_is_an_error_without_a_status(venue: Venue) -> None:
    async with open_session("hyperliquid", "http://127.0.0.1:9", venue.clock, weight_per_minute=1_200) as session:
        assert (await failing(session)).body == "connection refused"


@pytest.mark.parametrize("fault", [faults.gzip_bomb, faults.endless], ids=["gzip bomb", "endless body"])
async def test_a_body_beyond_the_cap_is_refused(venue: Venue, fault: faults.Fault) -> None:
    venue.faults.next = fault
    async with venue.session() as session:
        error = await failing(session)
    assert (error.upstream_status, error.body) == (200, f"more than {LARGEST_BODY} bytes")


async def test_a_truncated_gzip_body_is_refused(venue: Venue) -> None:
    venue.faults.next = faults.answer(200, gzip.compress(b'{"ok":true}')[:-4], Content_Encoding="gzip")
    async with venue.session() as session:
        assert (await failing(session)).body == "a compressed body that was cut short"


async def test_a_body_that_is_not_the_gzip_it_says_is_refused(venue: Venue) -> None:
    venue.faults.next = faults.answer(200, b'{"ok":true}', Content_Encoding="gzip")
    async with venue.session() as session:
        assert (await failing(session)).body == "connection failed (error)"


async def test_an_encoding_nobody_asked_for_is_refused(venue: Venue) -> None:
    venue.faults.next = faults.answer(200, b'{"ok":true}', Content_Encoding="br")
    async with venue.session() as session:
        assert (await failing(session)).body == "an encoding that was not asked for"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Just a moment...</html>",
        b'{"ok":NaN}',
        b'{"ok":"yes"}',
        b'{"ok":true',
        b'{"ok":true} true',
        b"",
        b"\xff\xfe",
        b'{"ok":true,"more":' + b"[" * 100_000,
    ],
    ids=["html", "NaN", "wrong type", "truncated", "trailing", "empty", "not UTF-8", "deep"],
)
async def test_a_malformed_answer_at_200_is_an_error(venue: Venue, body: bytes) -> None:
    venue.faults.next = faults.answer(200, body)
    async with venue.session() as session:
        error = await failing(session)
    assert (error.code, error.upstream_status) == ("UPSTREAM_5XX", 200)
    assert len(error.body.encode()) <= 2_048


async def test_a_redirect_is_never_followed(venue: Venue) -> None:
    visited = []

    async def inner(request: web.Request) -> web.Response:
        visited.append(request.path)
        return web.Response(body=b'{"ok":true}')

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", inner)
    async with listening(app) as elsewhere, venue.session() as session:
        venue.faults.next = faults.redirect(elsewhere + "/info")
        assert (await failing(session)).upstream_status == 302
    assert visited == []


@pytest.mark.promise("errors.upstream-502", "errors.upstream-details")
async def test_a_refusal_is_a_4xx_with_the_upstreams_words_and_is_not_tried_again(venue: Venue) -> None:
    venue.faults.next = faults.answer(422, b"Failed to deserialize the JSON body into the target type")
    async with venue.session() as session:
        error = await failing(session)
    assert (error.code, error.status) == ("UPSTREAM_4XX", 502)
    assert error.details == {
        "upstream": "hyperliquid",
        "upstreamStatus": 422,
        "upstreamBody": "Failed to deserialize the JSON body into the target type",
    }
    assert len(venue.faults.requests) == 1


async def test_a_5xx_is_tried_once_more_and_then_told(venue: Venue) -> None:
    venue.faults.next = faults.answer(503, b"try later")
    async with venue.session() as session:
        error = await failing(session)
    assert (error.code, error.upstream_status, error.body) == ("UPSTREAM_5XX", 503, "try later")
    assert len(venue.faults.requests) == 2


async def test_only_the_start_of_a_failures_body_is_fetched(venue: Venue) -> None:
    async def fail_for_ever(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=404)
        await response.prepare(request)
        while True:
            await response.write(b"no " * 20_000)

    venue.faults.next = fail_for_ever
    async with venue.session() as session:
        error = await failing(session)
    assert error.upstream_status == 404
    assert len(error.body) == 2_048


async def test_after_429_nothing_is_sent_before_the_time_it_names(venue: Venue) -> None:
    venue.faults.next = faults.once(venue.faults, faults.too_many("7"))
    async with venue.session() as session:
        assert (await failing(session)).retry_after_s == 7
        await venue.clock.advance(6.5)
        refused = await failing(session)
        assert (refused.code, refused.upstream_status, refused.retry_after_s) == ("UPSTREAM_4XX", 429, 0.5)
        assert len(venue.faults.requests) == 1
        await venue.clock.advance(0.5)
        assert (await ask(session)).value.ok


@pytest.mark.parametrize(
    ("header", "pause_s"),
    [
        (DATE, 1),
        ("Fri, 25 Jul 2025 11:00:00 GMT", 0),
        ("99999999", 86_400),
        ("soon", 10),
        ("", 10),
        ("٣", 10),
        ("-5", 10),
        ("9" * 400, 10),
    ],
)
async def test_retry_after_may_be_a_date_and_is_bounded(venue: Venue, header: str, pause_s: float) -> None:
    venue.faults.next = faults.answer(429, Retry_After=header, Date="Fri, 25 Jul 2025 12:00:00 GMT")
    async with venue.session() as session:
        assert (await failing(session)).retry_after_s == pause_s


async def test_a_time_to_come_back_at_is_counted_from_the_answers_own_date(venue: Venue) -> None:
    venue.faults.next = faults.answer(
        429, Retry_After="Fri, 25 Jul 2025 10:00:07 GMT", Date="Fri, 25 Jul 2025 10:00:00 GMT"
    )
    async with venue.session() as session:
        assert (await failing(session)).retry_after_s == 7


async def test_a_503_that_names_a_time_is_not_tried_before_it(venue: Venue) -> None:
    venue.faults.next = faults.answer(503, b"maintenance", Retry_After="60")
    async with venue.session() as session:
        assert (await failing(session)).retry_after_s == 60
    assert len(venue.faults.requests) == 1


async def test_a_thousand_calls_for_the_same_thing_are_one_request(venue: Venue) -> None:
    async with venue.session() as session:
        answers = await asyncio.gather(*(ask(session) for _ in range(1_000)))
        assert len(venue.faults.requests) == 1
        await ask(session)
    assert len({id(answer) for answer in answers}) == 1
    assert len(venue.faults.requests) == 2


async def test_a_caller_that_gives_up_does_not_take_the_answer_from_the_others(venue: Venue) -> None:
    async with venue.session() as session:
        first, second = asyncio.create_task(ask(session)), asyncio.create_task(ask(session))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).value.ok
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_failure_that_nobody_waits_for_any_more_makes_no_noise(
    venue: Venue, caplog: pytest.LogCaptureFixture
) -> None:
    venue.faults.next = faults.answer(404)
    async with venue.session() as session:
        caller = asyncio.create_task(ask(session))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
        await asyncio.wait(session._flights.values())
    del caller  # who knows of the flight
    gc.collect()  # it is when a task goes that its failure is complained of
    assert not [record for record in caplog.records if record.name == "asyncio"]


async def test_closing_ends_what_is_under_way(venue: Venue) -> None:
    venue.faults.next = faults.hang
    async with venue.session() as session:
        caller = asyncio.create_task(ask(session))
        await venue.faults.came(1)
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_an_upstream_that_leads_elsewhere_five_times_is_left_alone(venue: Venue) -> None:
    venue.faults.next = faults.redirect("http://elsewhere.example/")
    async with venue.session() as session:
        for number in range(3):
            await failing(session, {"number": number})
        assert len(venue.faults.requests) == 5
        assert (await failing(session)).retry_after_s == 10


async def test_after_five_failures_nothing_is_sent_for_ten_seconds_and_then_one_call_tries(venue: Venue) -> None:
    venue.faults.next = faults.answer(500)
    async with venue.session() as session:
        for number in range(3):
            await failing(session, {"number": number})
        sent = len(venue.faults.requests)
        assert sent == 5
        assert (await failing(session)).retry_after_s == 10
        await venue.clock.advance(10)
        await failing(session)
        assert len(venue.faults.requests) == sent + 1
        venue.faults.next = None
        assert (await failing(session)).retry_after_s == 10
        await venue.clock.advance(10)
        assert (await ask(session)).value.ok
        assert (await ask(session)).value.ok


async def test_while_one_call_tries_after_an_outage_the_others_are_held_off(venue: Venue) -> None:
    venue.faults.next = faults.answer(500)
    async with venue.session() as session:
        for number in range(3):
            await failing(session, {"number": number})
        await venue.clock.advance(10)
        venue.faults.next = faults.hang
        trying = asyncio.create_task(ask(session))
        await venue.faults.came(6)
        assert (await failing(session, {"another": 1})).retry_after_s == 10
        trying.cancel()


async def test_retries_run_out_in_proportion_to_calls(venue: Venue) -> None:
    async with venue.session() as session:
        session._retries._left = 0.5
        venue.faults.next = faults.answer(500)
        await failing(session)
        assert len(venue.faults.requests) == 1


async def test_a_call_waits_for_its_share_of_the_weight(venue: Venue) -> None:
    async with venue.session(weight_per_minute=100) as session:
        await ask(session, {"first": 1}, weight=20)
        second = asyncio.create_task(ask(session, {"second": 1}, weight=10))
        await venue.clock.advance(9.9)
        assert not second.done()
        await venue.clock.advance(0.2)
        assert (await second).value.ok


async def test_a_call_that_waited_is_held_back_if_the_upstream_broke_meanwhile(venue: Venue) -> None:
    async with venue.session(weight_per_minute=100) as session:
        await ask(session, weight=20)
        waiting = asyncio.create_task(failing(session))
        await venue.clock.settle()
        session._breaker.pause(60)
        await venue.clock.advance(10)
        assert (await waiting).retry_after_s == 59


@pytest.mark.promise("errors.upstream-redacted")
async def test_a_failure_is_logged_without_url_query_or_credential(
    venue: Venue, caplog: pytest.LogCaptureFixture
) -> None:
    venue.faults.next = faults.answer(401, b"bad key at https://u:p@venue.example/x?api_key=hunter2 Bearer abcdef")
    async with venue.session() as session:
        with caplog.at_level(logging.WARNING, "verdict.upstream"):
            await failing(session)
    (record,) = caplog.records
    said = str(msgspec.to_builtins(record.__dict__, str_keys=True, enc_hook=str))
    assert "hunter2" not in said
    assert "abcdef" not in said
    assert venue.url not in said
