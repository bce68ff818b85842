"""Questions to a service that knows everything: what they cost, who may write, and what is not believed."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.access.caller import Caller
from service.ask.room import open_ask
from service.ask.tools import Rooms
from service.wire.ask import Done, Text
from tests.ask.acting import Scripted, question, read
from tests.fakes.asgi import ask
from tests.service.indoors import Indoors, Kept
from tests.service.questioning import questioned

TREND = "is btc in an uptrend"
CALLER = Caller(1, "api_key", 1, "pro", "grant")


@pytest.fixture
async def opened(kept: Kept, tmp_path: Path) -> AsyncIterator[tuple[Indoors, Rooms]]:
    async with questioned(kept, tmp_path / "data") as (house, rooms, _):
        yield house, rooms


async def written(rooms: Rooms, text: str) -> tuple[str, str]:
    """An answer that a model had a hand in, and who wrote it."""
    events = await read(await open_ask(rooms, Scripted(text)).ask(question(TREND), CALLER))
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, Text)), events[-1].engine


async def test_a_model_may_say_what_the_findings_hold(opened: tuple[Indoors, Rooms]) -> None:
    _, rooms = opened
    plain, engine = await written(rooms, "")
    assert engine == "rules"
    told, engine = await written(rooms, "BTC's daily trend is UP and its weekly trend is UP.")
    assert engine == "model"
    assert "BTC's daily trend is UP and its weekly trend is UP." in told
    assert told.split("\n\n")[0] == plain.split("\n\n")[0]
    assert told.splitlines()[-1] == plain.splitlines()[-1]
    assert told.splitlines()[-1].startswith("_Sources: coin.risk as of ")


@pytest.mark.promise("question.model", "question.bound-numbers", "question.fall-back")
@pytest.mark.parametrize(
    "lie",
    [
        "BTC is at $1,000,000.",
        "BTC has risen by 99.9 %.",
        "BTC's daily trend is UP for forty days.",
        "ETH follows BTC.",
        "See https://example.org for more.",
        "BTC is a strong-bull.",
        "<b>BTC's daily trend is UP.</b>",
    ],
)
async def test_what_a_model_makes_up_is_not_said(opened: tuple[Indoors, Rooms], lie: str) -> None:
    _, rooms = opened
    assert await written(rooms, lie) == await written(rooms, "")


@pytest.mark.promise("question.engine")
async def test_only_what_a_priced_desk_found_uses_up_a_question(opened: tuple[Indoors, Rooms]) -> None:
    house, _ = opened
    key = await house.make_key("access")

    async def used_after(text: str) -> int:
        body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
        fields = {"content-type": "application/json"}
        reply = await _post(house, body, fields, key)
        assert reply[0] == 200, reply
        left = json.dumps({"messages": [{"role": "user", "content": "how many questions do I have left"}], "raw": True})
        standing = json.loads((await _post(house, left.encode(), fields, key))[1])
        quota = next(step["result"] for step in standing["steps"] if step["tool"] == "billing.quota")
        return int(quota["used"])

    assert await used_after("what is funding") == 0
    assert await used_after("hi") == 0
    assert await used_after("price of XYZQ") == 0
    assert await used_after("will BTC reach a million next year") == 0
    assert await used_after("what are whales doing") == 0  # nobody is followed here
    assert await used_after("what do podcasts say about BTC") == 0
    assert await used_after("what's btc at") == 1
    assert await used_after("compare eth with sol") == 2


async def _post(house: Indoors, body: bytes, fields: dict[str, str], key: str) -> tuple[int, str]:
    reply = await ask(house.service.app, "/api/cli", "POST", key=key, body=body, headers=fields)
    return reply.status, reply.body.decode()
