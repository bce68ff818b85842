"""A question over the wire, of the whole service: each form tells the same, and it is what the data routes say."""

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from tests.fakes.serving import PATIENCE_S
from tests.service.asking import Whole

pytestmark = pytest.mark.process


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


def query_of(coins: tuple[str, ...], measure: str) -> dict[str, object]:
    """The present value of a measure, as it is written out."""
    return {
        "subject": {"coins": [*coins]},
        "measures": [{"name": measure}],
        "time": {"time": "now"},
        "operation": {"operation": "value"},
    }


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
    assert (step["tool"], step["args"]) == ("query", query_of(("BTC",), "price"))
    assert step["result"]["figures"]["value"]["value"] == market.pro.data("coin/risk/BTC")["price"]
    assert whole["sources"] == told[-1][1]["sources"]


@pytest.mark.promise("question.raw", "question.typed-query")
def test_raw_is_the_typed_queries_and_what_they_found(market: Whole) -> None:
    found = json.loads(asked(market, "funding on eth and sol", raw=True).body)
    assert list(found) == ["classification", "plan", "steps"]
    queries = found["classification"]["queries"]
    assert queries == [query_of(("ETH", "SOL"), "funding")]
    assert [step["args"] for step in found["plan"]["steps"]] == queries
    (step,) = found["steps"]
    rows = {row["subject"]: row["values"] for row in step["result"]["rows"]}
    assert rows == {symbol: [market.pro.data(f"coin/risk/{symbol}")["funding_apr"]] for symbol in ("ETH", "SOL")}


@pytest.mark.promise("question.read-as")
def test_an_answer_ends_with_how_the_question_was_read(market: Whole) -> None:
    text = asked(market, "top 3 L1s by 30 day return").body.decode()
    assert text.splitlines()[-1] == "Read as: coins in Layer 1 (L1), ranked by 30-day change, top 3."


@pytest.mark.promise("question.unread-refused", "question.words-accounted")
def test_a_constraint_that_cannot_be_read_is_refused_and_costs_nothing(market: Whole) -> None:
    asking = market._replace(pro=market.caller(market.service.make_key()))

    def used() -> int:
        (step,) = json.loads(asked(asking, "how many questions do I have left", raw=True).body)["steps"]
        return int(step["result"]["figures"]["used"]["value"])

    refused = asked(asking, "top 5 coins by 3 hour return")
    assert refused.status == 200
    assert "You can ask: " in refused.body.decode()
    assert "Read as: " not in refused.body.decode()
    assert used() == 0
    answered = asked(asking, "price of btc in the institutional sense").body.decode()
    assert 'Not considered: "institutional", "sense".' in answered
    assert used() == 1


@pytest.mark.promise("question.honest")
def test_nothing_is_answered_about_a_symbol_that_does_not_exist(market: Whole) -> None:
    told = json.loads(asked(market, "price of XYZQ", "application/json").body)
    assert (told["text"], told["steps"], told["sources"]) == ('I do not know "XYZQ".\n', [], [])
    partly = asked(market, "price of ETH and XYZQ").body.decode()
    assert "ETH's price is $" in partly
    assert "No coin here is called XYZQ." in partly


@pytest.mark.promise("question.optional-fields")
def test_a_question_can_refer_to_what_the_caller_has_just_looked_at(market: Whole) -> None:
    answer = asked(market, "and its funding?", commandContext="verdict signal SOL").body.decode()
    assert answer.startswith("SOL's funding is ")


@pytest.mark.promise("question.device-once", "question.anonymous-403", "question.failure")
def test_a_device_asks_once_without_a_token_and_is_then_told_to_get_one(market: Whole) -> None:
    device = {"deviceId": "one-question-only"}
    assert asked(market, "btc", key=False, **device).status == 200
    for again in (asked(market, "btc", key=False, **device), asked(market, "btc", key=False)):
        assert (again.status, list(json.loads(again.body))) == (403, ["error"])
