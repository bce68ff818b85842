"""GET /api/cli/transcripts: what it takes, and that the desk's answer is handed on."""

import pytest

from service.routes.call import Call
from service.routes.datasets import transcripts
from service.wire.envelope import Answer
from service.wire.transcripts import MACRO, TranscriptsQuery
from tests.routes.concluded import CALLER
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(TranscriptsQuery, "/api/cli/transcripts")
INSTANT = "2026-01-31T00:00:00Z"


@pytest.mark.promise("transcripts.parameters", "transcripts.actions")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", TranscriptsQuery()),
        ("action=sources", TranscriptsQuery(action="sources")),
        (
            "coin=btc&sector=Layer%201%20(L1)&macro=rates",
            TranscriptsQuery(coin="btc", sector="Layer 1 (L1)", macro="rates"),
        ),
        (
            f"source=a-1&since={INSTANT}&limit=200&cursor=x",
            TranscriptsQuery(source="a-1", since=INSTANT, limit=200, cursor="x"),
        ),
        ("action=sources&limit=1", TranscriptsQuery(action="sources", limit=1)),
    ],
)
def test_an_action_filters_a_size_and_a_cursor_are_taken(query: str, expected: TranscriptsQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.parametrize("value", [*NO_WHOLE_NUMBERS, "201", "0"])
def test_what_is_no_size_of_a_page_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"limit={value}") == "limit"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("action=all", "action"),
        ("action=Highlights", "action"),
        ("macro=weather", "macro"),
        ("source=A", "source"),
        ("source=../x", "source"),
        ("coin=B%0A", "coin"),
        ("since=now", "since"),
        ("since=9999-01-01T00:00:00Z", "since"),
        ("action=sources&coin=BTC", "coin"),
        ("action=sources&cursor=x", "cursor"),
        ("speaker=Ann", "speaker"),
    ],
)
def test_what_it_does_not_take_is_refused_by_name(query: str, named: str) -> None:
    assert ROUTE.refusal(query) == named


@pytest.mark.parametrize("topic", MACRO)
def test_every_topic_may_be_asked_for(topic: str) -> None:
    assert getattr(ROUTE.decode(f"macro={topic}"), "macro", None) == topic


async def test_the_desks_answer_is_handed_on() -> None:
    class Desk:
        async def transcripts(self, query: TranscriptsQuery) -> Answer:
            return Answer(query, 7)

    query = TranscriptsQuery(coin="BTC")
    assert await transcripts(Desk(), Call(query, None, CALLER)) == Answer(query, 7)  # type: ignore[arg-type]
