"""`--dry-run` says what would be sent and what it would cost, and sends nothing: nobody listens at the address."""

import json

import pytest

from tests.cli.commanding import typed

NOWHERE = "http://127.0.0.1:9"


def test_people_read_the_request_and_its_price() -> None:
    words = ["coin", "historical", "BTC", "--count", "7", "--unit", "d", "--dry-run"]
    told = typed(*words, environment={"VERDICT_URL": NOWHERE}, terminal=True)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        f"GET {NOWHERE}/api/cli/coin/historical/BTC?count=7&unit=d",
        "Would cost one question or, once they are spent, 0.005 USDC. Nothing was sent.",
    ]


@pytest.mark.parametrize(
    ("words", "path", "counted", "price"),
    [
        (["walkforward"], "/api/cli/walkforward?action=signals", True, "0.05"),
        (["manifest"], "/api/cli/manifest", False, None),
        (["billing"], "/api/cli/billing/tier", False, None),
    ],
)
def test_programs_read_it_as_json(words: list[str], path: str, counted: bool, price: str | None) -> None:
    told = typed(*words, "--dry-run", "--url", NOWHERE)
    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out) == {
        "method": "GET",
        "url": NOWHERE + path,
        "body": None,
        "counted": counted,
        "price_usdc": price,
    }


def test_what_is_free_would_cost_nothing() -> None:
    told = typed("billing", "--dry-run", "--url", NOWHERE, terminal=True)
    assert told.out.endswith("Would cost nothing. Nothing was sent.\n")


def test_a_stream_would_cost_a_question_and_cannot_be_paid_for() -> None:
    told = typed("watch", "prices", "--dry-run", "--url", NOWHERE, terminal=True)
    assert told.out.endswith("Would cost one question. Nothing was sent.\n")


def test_a_question_is_shown_with_what_would_be_sent() -> None:
    told = typed("ask", "why?", "--dry-run", "--url", NOWHERE, terminal=True)
    method, body, cost = told.out.splitlines()
    assert method == f"POST {NOWHERE}/api/cli"
    assert json.loads(body)["messages"][-1]["content"] == "why?"
    assert "0.05 USDC" in cost
