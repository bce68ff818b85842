"""A model that is asked over HTTP: what is sent, what is taken for an answer, and what is not."""

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from service.settings import Secret
from service.upstream.completions import (
    LONGEST_LINE,
    ChatMessage,
    Completion,
    CompletionError,
    ModelEndpoint,
    open_completions,
)
from tests.fakes.clock import FakeClock
from tests.fakes.model import (
    END,
    Answer,
    Model,
    breaks_off,
    chunk,
    drips,
    event,
    hangs_after,
    model,
    pours,
    sends,
    used,
    writes,
)
from tests.upstream import faults

TURNS = (ChatMessage("system", "Rules."), ChatMessage("user", "Data: ½ \u2603"))
SECONDS = 20.0
KEY = "a-key-that-is-not-to-be-seen"


@pytest.fixture
async def fake() -> AsyncIterator[Model]:
    async with model() as it:
        yield it


def endpoint(fake: Model, **changed: Any) -> ModelEndpoint:
    named = {"url": fake.url, "model": "small", "key": Secret(KEY), "seconds": SECONDS, "tokens": 300, **changed}
    return ModelEndpoint(**named)


async def complete(fake: Model, **changed: Any) -> Completion:
    async with open_completions(endpoint(fake, **changed), FakeClock()) as it:
        return await it.complete(TURNS)


async def failure(fake: Model, **changed: Any) -> CompletionError:
    with pytest.raises(CompletionError) as caught:
        await complete(fake, **changed)
    assert KEY not in repr(caught.value)
    assert "127.0.0.1" not in repr(caught.value)
    return caught.value


async def test_it_is_asked_as_the_api_says_and_read_to_its_end(fake: Model) -> None:
    fake.answer = writes("Longs pay ½ of it.\n\nYes.", usage=used(90, 12))
    assert await complete(fake) == Completion("Longs pay ½ of it.\n\nYes.", 102)
    assert fake.asked == [
        {
            "model": "small",
            "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Data: ½ \u2603"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "max_tokens": 300,
        }
    ]
    [headers] = fake.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["content-type"], headers["accept"]) == ("application/json", "text/event-stream")
    assert "cookie" not in headers


async def test_without_a_key_nothing_is_said_of_one(fake: Model) -> None:
    await complete(fake, key=None)
    assert "authorization" not in fake.headers[0]


async def test_a_slash_at_the_end_of_the_url_makes_no_difference(fake: Model) -> None:
    assert (await complete(fake, url=fake.url + "/")).text


@pytest.mark.parametrize(
    "answer",
    [
        sends(chunk("Yes.", "stop")),
        sends(chunk("Yes.", "stop").replace(b"\n", b"\r\n"), END.replace(b"\n", b"\r\n")),
        sends(b"event: x\nid: 9\nretry: 1\n: note\n" + chunk("Yes.", "stop") + END),
        sends(b"data:" + chunk("Yes.", "stop").removeprefix(b"data: ") + END + b"anything at all"),
        sends(
            *(bytes([byte]) for byte in chunk("Yes.", "stop") + END), content_type="text/event-stream; charset=utf-8"
        ),
    ],
    ids=["no [DONE]", "CRLF", "other fields", "no space, and more after the end", "byte by byte"],
)
async def test_every_way_of_writing_a_stream_is_read(fake: Model, answer: Answer) -> None:
    fake.answer = answer
    assert await complete(fake) == Completion("Yes.", None)


@pytest.mark.parametrize("usage", [None, used(0, 0)])
async def test_who_says_nothing_of_tokens_is_not_taken_to_have_used_none(fake: Model, usage: Any) -> None:
    fake.answer = writes("Yes.", usage=usage)
    assert (await complete(fake)).tokens is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (writes("Yes.", finish="length"), "Its answer was cut at the token limit."),
        (writes("Yes.", finish="content_filter"), "Its answer broke off."),
        (writes("Yes.", finish=None), "Its answer broke off."),
        (sends(chunk("Yes.")), "Its answer broke off."),
        (sends(chunk("Yes.") + chunk(finish="stop")[:-2]), "Its answer broke off."),
        (sends(), "Its answer broke off."),
        (sends(chunk("Yes."), event({"error": {"message": KEY}}), chunk(finish="stop"), END), "It reports a failure."),
        (sends(b"garbage\n\n", chunk("Yes.", "stop"), END), "Its answer contains a line that is not an event."),
        (sends(event(b"{"), END), "Its answer contains an event that cannot be read."),
        (
            sends(event(b'{"choices":[{"delta":{"content":NaN}}]}'), END),
            "Its answer contains an event that cannot be read.",
        ),
        (
            sends(event(b'{"choices":[{"delta":{"content":1}}]}'), END),
            "Its answer contains an event that cannot be read.",
        ),
        (
            sends(event(b'{"choices":[{"delta":{"content":"\\ud800"}}]}'), END),
            "Its answer contains an event that cannot be read.",
        ),
        (
            sends(event(b'{"choices":[{"delta":{"content":"\xff"}}]}'), END),
            "Its answer contains an event that cannot be read.",
        ),
        (sends(event(b'{"x":' + b"[" * 60_000), END), "Its answer contains an event that cannot be read."),
        (
            sends(event({"choices": [{"delta": {"content": "a"}}] * 2}), END),
            "Its answer contains an event that cannot be read.",
        ),
        (writes("Yes.", usage=used(-1, 5)), "Its answer contains an event that cannot be read."),
        (writes("Yes.", usage=used(10**30, 5)), "Its answer contains an event that cannot be read."),
        (sends(b"data: " + b"x" * (LONGEST_LINE + 1)), "Its answer is longer than allowed."),
        (pours, "Its answer is longer than allowed."),
        (faults.endless, "Its answer is not a stream of events."),
        (faults.html, "Its answer is not a stream of events."),
        (faults.answer(200, b"{}", Content_Type="application/json"), "Its answer is not a stream of events."),
        (
            sends(gzip.compress(chunk("Yes.", "stop")), Content_Encoding="gzip"),
            "Its answer has a content encoding that was not asked for.",
        ),
        (breaks_off, "Answer cut short."),
        (faults.reset, "Connection closed without an answer."),
        (sends(X_Long="x" * 20_000), "Connection failed (ClientResponseError)."),
        (sends(**{f"X_{number}": "x" for number in range(100)}), "Connection failed (ClientResponseError)."),
        (faults.answer(500, b"broken"), "It answered with status 500."),
        (faults.answer(503), "It answered with status 503."),
    ],
)
async def test_what_is_no_whole_answer_is_a_failure_and_counts_as_used(fake: Model, answer: Answer, said: str) -> None:
    fake.answer = answer
    error = await failure(fake)
    assert (str(error), error.used) == (said, True)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("status", [302, 400, 401, 404, 429])
async def test_who_refuses_a_request_has_used_nothing_and_is_not_followed(fake: Model, status: int) -> None:
    fake.answer = faults.answer(status, KEY.encode(), Location=fake.url, Retry_After="0")
    error = await failure(fake)
    assert (str(error), error.used) == (f"It answered with status {status}.", False)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("answer", [faults.hang, drips, hangs_after(chunk("Yes.", "stop"))])
async def test_who_takes_too_long_is_left_at_the_deadline(
    fake: Model, answer: Answer, skip_time: Callable[[float], None]
) -> None:
    fake.answer = answer
    asking = asyncio.create_task(failure(fake))
    await fake.came.wait()
    skip_time(SECONDS)
    error = await asking
    assert (str(error), error.used) == (f"No complete answer within {SECONDS:g} s.", True)
    await fake.left.wait()


async def test_nobody_there_is_a_failure_that_uses_nothing_and_tells_no_address(
    fake: Model, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        error = await failure(fake, url="http://127.0.0.1:9/v1/verysecretkey")
    assert (str(error), error.used) == ("Connection refused.", False)
    assert not any("verysecretkey" in repr(vars(record)) for record in caplog.records)


@pytest.mark.parametrize("url", ["http://user:verysecretkey@127.0.0.1:9/v1", "http://127.0.0.1:99999999/verysecretkey"])
async def test_an_address_that_cannot_be_asked_is_a_failure(fake: Model, url: str) -> None:
    assert str(await failure(fake, url=url)) == "Connection failed (ValueError)."


async def test_who_leaves_ends_the_request(fake: Model) -> None:
    fake.answer = hangs_after(chunk("Yes."))
    async with open_completions(endpoint(fake), FakeClock()) as it:
        asking = asyncio.create_task(it.complete(TURNS))
        await fake.came.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await fake.left.wait()


async def test_who_fails_again_and_again_is_left_alone_for_a_while(fake: Model) -> None:
    clock = FakeClock()
    fake.answer = faults.answer(500)
    async with open_completions(endpoint(fake), clock) as it:
        said = []
        for _ in range(7):
            with pytest.raises(CompletionError) as caught:
                await it.complete(TURNS)
            said.append((str(caught.value), caught.value.used))
        refused = ("It failed repeatedly and is not asked at the moment.", False)
        assert said == [("It answered with status 500.", True)] * 5 + [refused] * 2
        assert len(fake.asked) == 5
        fake.answer = writes("Yes.")
        await clock.advance(10)
        assert (await it.complete(TURNS)).text == "Yes."
        assert (await it.complete(TURNS)).text == "Yes."
