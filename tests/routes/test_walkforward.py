"""GET /api/cli/walkforward: what it takes, and that the desk's answer is handed on."""

import pytest

from service.routes.call import Call
from service.routes.signals import walkforward
from service.wire.envelope import Answer
from service.wire.queries import WalkforwardQuery
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(WalkforwardQuery, "/api/cli/walkforward")


@pytest.mark.promise("walkforward.actions", "walkforward.parameters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", WalkforwardQuery(action="signals", limit=50)),
        ("action=positions", WalkforwardQuery(action="positions")),
        ("action=outcomes&symbol=btc&limit=200", WalkforwardQuery(action="outcomes", symbol="btc", limit=200)),
        ("action=signals&limit=1&cursor=abc-_9", WalkforwardQuery(limit=1, cursor="abc-_9")),
    ],
)
def test_an_action_a_symbol_a_size_and_a_cursor_are_taken(query: str, expected: WalkforwardQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.promise("walkforward.actions")
@pytest.mark.parametrize("value", ["", "Signals", "trades", "signals,outcomes", "null"])
def test_another_action_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"action={value}") == "action"


@pytest.mark.parametrize("value", [*NO_WHOLE_NUMBERS, "201"])
def test_what_is_no_size_of_a_page_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"limit={value}") == "limit"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("action=signals&action=signals", "action"),
        ("strategy=trend-following", "strategy"),
        ("symbol=BTC%2F", "symbol"),
        ("cursor=a=b", "cursor"),
    ],
)
def test_what_is_unknown_repeated_or_misspelt_is_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


async def test_the_desk_is_asked_what_the_caller_asks_and_its_answer_is_handed_on() -> None:
    expected, asked = Answer({"signals": []}, 7, counted=False), []

    class Desk:
        async def walkforward(self, query: WalkforwardQuery) -> Answer:
            asked.append(query)
            return expected

    query = WalkforwardQuery(action="outcomes")
    call: Call[WalkforwardQuery, None] = Call(query, None, None)
    assert await walkforward(Desk(), call) is expected  # type: ignore[arg-type] # all of a desk that is needed
    assert asked == [query]
