"""A question over the wire, of the whole service: each form tells the same, and it is what the data routes say."""

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from tests.fakes.serving import PATIENCE_S
from tests.service.asking import Whole


class Told(NamedTuple):
    """An answer: its status, headers by lower-case name, and body."""

    status: int
    fields: Mapping[str, str]
    body: bytes


def asked(market: Whole, text: str, accept: str | None = None, *, key: bool = True, **further: object) -> Told:
    """Ask on a connection of its own."""
    fields = {"Content-Type": "application/json"}
    fields |= {} if accept is None else {"Accept": accept}
    fields |= {"Authorization": f"Bearer {market.pro.token}"} if key else {}
    body = json.dumps({"messages": [{"role": "user", "content": text}], **further})
    with closing(http.client.HTTPConnection("127.0.0.1", market.service.port, timeout=PATIENCE_S)) as connection:
        connection.request("POST", "/api/cli", body, fields)
        response = connection.getresponse()
        said = response.read()
    return Told(response.status, {name.lower(): value for name, value in response.getheaders()}, said)


def events(told: Told) -> list[tuple[str, Any]]:
    blocks = told.body.decode().removesuffix("\n\n").split("\n\n")
    pairs = (block.split("\n") for block in blocks)
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in pairs]


@pytest.mark.promise("question.engine", "question.text", "question.sse", "question.json", "question.streamed")
def test_each_form_tells_the_same_and_it_is_what_the_data_route_says(market: Whole) -> None:
    text = asked(market, "what is the price of btc?")
    assert (text.status, text.fields["content-type"]) == (200, "text/plain; charset=utf-8")
    assert text.fields["transfer-encoding"] == "chunked"
    assert text.fields["x-data-source"] == "fixtures"
    whole = json.loads(asked(market, "what is the price of btc?", "application/json").body)
    told = events(asked(market, "what is the price of btc?", "text/event-stream"))
    assert whole["text"] == text.body.decode() == "".join(data["text"] for name, data in told if name == "text")
    assert [name for name, _ in told if name != "text"] == ["classification", "plan", "step", "done"]
    (step,) = whole["steps"]
    assert step == next(data for name, data in told if name == "step")
    assert (step["tool"], step["args"], step["result"]) == (
        "coin.risk",
        {"symbol": "BTC"},
        market.pro.data("coin/risk/BTC"),
    )
    assert whole["sources"] == told[-1][1]["sources"]


@pytest.mark.promise("question.raw")
def test_raw_is_the_plan_and_what_its_steps_found(market: Whole) -> None:
    found = json.loads(asked(market, "funding on eth and sol", raw=True).body)
    assert list(found) == ["classification", "plan", "steps"]
    assert [step["id"] for step in found["steps"]] == [step["id"] for step in found["plan"]["steps"]]
    for step in found["steps"]:
        assert step["result"] == market.pro.data(f"coin/risk/{step['args']['symbol']}")


@pytest.mark.promise("question.device-once", "question.anonymous-403", "question.failure")
def test_a_device_asks_once_without_a_token_and_is_then_told_to_get_one(market: Whole) -> None:
    device = {"deviceId": "one-question-only"}
    assert asked(market, "btc", key=False, **device).status == 200
    for again in (asked(market, "btc", key=False, **device), asked(market, "btc", key=False)):
        assert (again.status, list(json.loads(again.body))) == (403, ["error"])
