"""Questions to a service that knows everything: which of them are counted."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.asgi import ask
from tests.service.indoors import Indoors, Kept
from tests.service.questioning import questioned


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with questioned(kept, tmp_path / "data") as (house, _, __):
        yield house


@pytest.mark.promise("question.engine")
async def test_only_an_answer_with_data_uses_up_a_question(house: Indoors) -> None:
    key = await house.make_key("access")

    async def used_after(text: str) -> int:
        body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
        fields = {"content-type": "application/json"}
        reply = await _post(house, body, fields, key)
        assert reply[0] == 200, reply
        left = json.dumps({"messages": [{"role": "user", "content": "how many questions do I have left"}], "raw": True})
        (step,) = json.loads((await _post(house, left.encode(), fields, key))[1])["steps"]
        return int(step["result"]["figures"]["used"]["value"])

    assert await used_after("what is funding") == 0
    assert await used_after("hi") == 0
    assert await used_after("price of XYZQ") == 0
    assert await used_after("will BTC reach a million next year") == 0
    assert await used_after("top coins by sharpe ratio") == 0
    assert await used_after("what does a question cost") == 0
    assert await used_after("what are whales doing") == 0  # nobody is followed here
    assert await used_after("what do podcasts say about BTC") == 0
    assert await used_after("what's btc at") == 1
    assert await used_after("compare eth with sol") == 2


async def _post(house: Indoors, body: bytes, fields: dict[str, str], key: str) -> tuple[int, str]:
    reply = await ask(house.service.app, "/api/cli", "POST", key=key, body=body, headers=fields)
    return reply.status, reply.body.decode()
