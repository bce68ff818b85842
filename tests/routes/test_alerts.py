"""GET /api/cli/funding/alerts: what it takes, and that the desk's answer is handed on."""

import pytest

from service.access.caller import Caller
from service.routes.call import Call
from service.routes.market import funding_alerts
from service.wire.envelope import Answer
from service.wire.market import FundingAlerts, PageMeta
from service.wire.queries import AlertsQuery
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(AlertsQuery, "/api/cli/funding/alerts")
INSTANT = "2026-01-31T00:00:00Z"


@pytest.mark.promise("alerts.parameters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", AlertsQuery()),
        ("symbol=btc&limit=200", AlertsQuery(symbol="btc", limit=200)),
        (f"since={INSTANT}&limit=1&cursor=abc-_9", AlertsQuery(since=INSTANT, limit=1, cursor="abc-_9")),
        ("since=2026-01-31T00:00:00.123%2B02:00", AlertsQuery(since="2026-01-31T00:00:00.123+02:00")),
    ],
)
def test_a_symbol_an_instant_a_size_and_a_cursor_are_taken(query: str, expected: AlertsQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.parametrize("value", [*NO_WHOLE_NUMBERS, "201"])
def test_what_is_no_size_of_a_page_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"limit={value}") == "limit"


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-31T00:00:00", "2026-01-31", "1769817600", "now", "nan", "", "10000-01-01T00:00:00Z",
        "2026-01-31T00:00:00+02:00",  # a plus sign that is not written %2B is a blank
    ],
)  # fmt: skip
def test_what_is_no_instant_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"since={value}") == "since"


@pytest.mark.promise("meter.order", "errors.bad-request-parameter")
@pytest.mark.parametrize("since", ["9999-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59Z"])
def test_an_instant_that_cannot_be_is_refused_by_name_before_the_quota_is_looked_at(since: str) -> None:
    assert ROUTE.refusal(f"since={since}") == "since"


@pytest.mark.promise("cursors.foreign")
@pytest.mark.parametrize("value", ["", "a" * 201, "a=b", "%00", "%0a", "a.b", "é", "%F0%9F%98%80"])
def test_what_cannot_be_a_cursor_is_refused_by_name(value: str) -> None:
    assert ROUTE.refusal(f"cursor={value}") == "cursor"


@pytest.mark.parametrize(
    ("query", "parameter"), [("limit=1&limit=1", "limit"), ("until=2026", "until"), ("symbol=BTC%2F", "symbol")]
)
def test_what_is_repeated_or_unknown_is_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


async def test_the_desks_answer_is_handed_on() -> None:
    answer = Answer(FundingAlerts([], PageMeta(0, None)), 1)

    class Desk:
        asked: AlertsQuery | None = None

        async def alerts(self, query: AlertsQuery) -> Answer:
            self.asked = query
            return answer

    desk, query = Desk(), AlertsQuery()
    assert await funding_alerts(desk, Call(query, None, Caller(1, "api_key", 1))) is answer  # type: ignore[arg-type]
    assert desk.asked is query
