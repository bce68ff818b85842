"""One question, one answer: what is sent, what is taken for an answer, and that nothing is asked twice."""

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web

from service.upstream.failures import UpstreamError
from service.upstream.http_client import HttpClient, Reply, open_http_client
from tests.upstream import faults
from tests.upstream.conftest import listening
from tests.upstream.faults import Faults

MOST = 65_536
DEADLINE_S = 20


@pytest.fixture
async def doors() -> AsyncIterator[tuple[str, Faults]]:
    """An address, and what stands before everything there."""
    standing = Faults()

    async def answer(request: web.Request) -> web.StreamResponse:
        headers = {f"X-{name}": value for name, value in request.headers.items()}
        return await standing(request) or web.Response(body=request.path_qs.encode(), headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", answer)
    async with listening(app) as url:
        yield url, standing


async def post(url: str, *, body: bytes = b"{}") -> Reply:
    async with open_http_client("facilitator", url, deadline_s=DEADLINE_S, most=MOST) as it:
        return await it.post("/settle", body)


async def failing(url: str) -> str:
    with pytest.raises(UpstreamError) as caught:
        await post(url)
    assert (caught.value.upstream, caught.value.upstream_status) == ("facilitator", None)
    return caught.value.body


async def test_json_is_posted_below_the_base_path_and_the_answer_comes_back_as_it_is(doors: tuple[str, Faults]) -> None:
    url, standing = doors
    assert await post(url + "/platform/x402/", body=b'{"a":1}') == Reply(200, b"/platform/x402/settle")
    assert standing.requests == [b'{"a":1}']


async def test_headers_are_those_of_the_session_and_of_the_question(doors: tuple[str, Faults]) -> None:
    url, standing = doors
    seen: list[dict[str, str]] = []

    async def note(request: web.Request) -> web.StreamResponse:
        seen.append({name.lower(): value for name, value in request.headers.items()})
        return web.Response(headers={"Set-Cookie": "a=b"})

    standing.next = note
    # By name: a jar would not keep the cookies of a mere address anyway.
    url = url.replace("127.0.0.1", "localhost")
    async with open_http_client("node", url, deadline_s=DEADLINE_S, most=MOST) as it:
        await it.post("", b"{}", {"Authorization": "Bearer t"})
        await it.get("/supported")
    assert (seen[0]["authorization"], seen[0]["content-type"]) == ("Bearer t", "application/json")
    assert "authorization" not in seen[1]
    assert "content-type" not in seen[1]
    assert "cookie" not in seen[1]


@pytest.mark.parametrize("status", [400, 402, 429, 500, 502, 503])
async def test_a_status_is_for_the_caller_to_read(doors: tuple[str, Faults], status: int) -> None:
    url, standing = doors
    standing.next = faults.answer(status, b"said", Retry_After="9", Set_Cookie="a=b")
    assert await post(url) == Reply(status, b"said")
    assert len(standing.requests) == 1


async def test_a_redirect_is_not_followed(doors: tuple[str, Faults]) -> None:
    url, standing = doors
    standing.next = faults.redirect(url + "/elsewhere")
    assert (await post(url)).status == 302
    assert len(standing.requests) == 1


async def test_a_compressed_answer_is_unpacked(doors: tuple[str, Faults]) -> None:
    url, standing = doors
    standing.next = faults.answer(200, gzip.compress(b"said"), Content_Encoding="gzip")
    assert await post(url) == Reply(200, b"said")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (faults.reset, "connection closed without an answer"),
        (faults.cut_short, "answer cut short"),
        (faults.endless, f"more than {MOST} bytes"),
        (faults.gzip_bomb, f"more than {MOST} bytes"),
        (faults.answer(200, b" " * 20_000_000), f"more than {MOST} bytes"),
        (faults.answer(200, b"x", Content_Encoding="br"), "an encoding that was not asked for"),
        (faults.answer(200, b"not packed", Content_Encoding="gzip"), "connection failed (error)"),
        (
            faults.answer(200, gzip.compress(b"said")[:-4], Content_Encoding="gzip"),
            "a compressed body that was cut short",
        ),
    ],
    ids=["reset", "cut short", "endless", "gzip bomb", "20 MB", "encoding", "no gzip", "half a gzip"],
)
async def test_what_is_no_whole_answer_is_an_error_and_is_not_asked_again(
    doors: tuple[str, Faults], fault: faults.Fault, said: str
) -> None:
    url, standing = doors
    standing.next = fault
    assert await failing(url) == said
    assert len(standing.requests) == 1


@pytest.mark.parametrize("fault", [faults.hang, faults.drip], ids=["hangs", "drips"])
async def test_who_takes_too_long_is_given_up_at_the_deadline(
    doors: tuple[str, Faults], fault: faults.Fault, skip_time: Callable[[float], None]
) -> None:
    url, standing = doors
    standing.next = fault
    asking = asyncio.create_task(failing(url))
    await standing.came(1)
    skip_time(DEADLINE_S)
    assert await asking == f"no answer within {DEADLINE_S} s"
    assert len(standing.requests) == 1


async def test_nobody_there_is_an_error_that_does_not_repeat_the_address(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        said = await failing("http://127.0.0.1:9/v2/verysecretkey")
    assert said == "connection refused"
    assert [record.message for record in caplog.records] == ["An upstream request failed."]
    assert not any("verysecretkey" in repr(vars(record)) for record in caplog.records)


async def test_a_question_that_is_cancelled_ends_at_once(doors: tuple[str, Faults]) -> None:
    url, standing = doors
    standing.next = faults.hang
    async with open_http_client("facilitator", url, deadline_s=DEADLINE_S, most=MOST) as it:
        asking = asyncio.create_task(it.post("/settle", b"{}"))
        await standing.came(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_many_questions_are_asked_side_by_side_and_none_is_shared(doors: tuple[str, Faults]) -> None:
    url, standing = doors

    async def ask(it: HttpClient) -> Reply:
        return await it.post("/same", b"{}")

    async with open_http_client("facilitator", url, deadline_s=DEADLINE_S, most=MOST) as it:
        replies = await asyncio.gather(*(ask(it) for _ in range(50)))
    assert replies == [Reply(200, b"/same")] * 50
    assert len(standing.requests) == 50
