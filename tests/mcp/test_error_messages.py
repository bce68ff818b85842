"""Why a tool has no answer, and what to do: each error ends in an action."""

from typing import Any

import pytest

from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.errors import RefusalError
from service.client.paying.terms import OpenPaymentError, UnpaidError
from service.errors import STATUS
from service.mcp.error_messages import explain
from tests.mcp.recorded import load


def told(error: Exception, *, over_http: bool = False, pays: bool = False) -> str:
    return explain(error, over_http=over_http, pays=pays)


def refused(status: int, document: Any, **headers: str) -> RefusedError:
    return RefusedError(status, {name.replace("_", "-"): value for name, value in headers.items()}, document)


def envelope(code: str, message: str = "that is so.") -> Any:
    return {"schemaVersion": 1, "error": {"code": code, "message": message}}


@pytest.mark.parametrize("code", STATUS)
def test_every_code_is_told_with_its_message_and_something_to_do(code: str) -> None:
    text = told(refused(STATUS[code], envelope(code)))
    assert text.startswith(f"{code}: that is so. ")
    assert len(text) > len(f"{code}: that is so. ") + 10


def test_nobody_is_told_to_log_in_and_http_callers_to_bring_a_key() -> None:
    error = refused(403, load("refused.no-token"))
    assert told(error).endswith("`verdict login`, or start this tool server with VERDICT_TOKEN set to an API key.")
    assert told(error, over_http=True).endswith("as `Authorization: Bearer …`.")
    assert "Do not try again before your user" in told(refused(401, envelope("AUTH_INVALID")))


def test_a_spent_quota_says_the_price_when_it_is_free_again_and_how_to_pay() -> None:
    text = told(refused(402, load("refused.402")))
    assert text.startswith("PAYMENT_REQUIRED: your questions are spent (10 of 10 used)")
    assert text.endswith(
        "this call costs 0.005 USDC; wait until 2025-07-26T00:00:00.000Z, or start this tool server with --pay, so "
        "that it pays below the ceilings."
    )
    assert "--pay" not in told(refused(402, load("refused.402")), over_http=True)
    assert "--pay" not in told(refused(402, load("refused.402")), pays=True)


def test_a_plan_that_can_be_had_is_named() -> None:
    document = load("refused.402")
    document["gate"] |= {"reset_at": None, "upgrade_url": "https://verdict.example/plans"}
    assert "get a higher plan at https://verdict.example/plans" in told(refused(402, document))


@pytest.mark.parametrize("document", [None, {}, {"gate": 7}, {"gate": {}}, {"gate": {"this_query": None}}])
def test_a_challenge_without_a_gate_still_says_what_to_do(document: Any) -> None:
    assert told(refused(402, document), over_http=True).endswith("use another credential.")


def test_a_request_that_is_too_long_is_one_to_correct() -> None:
    assert told(refused(414, envelope("URI_TOO_LONG"))).endswith("Correct the arguments and call again.")
    assert told(refused(413, envelope("PAYLOAD_TOO_LARGE"))).endswith("Correct the arguments and call again.")


def test_however_much_a_service_says_an_error_is_short_and_ends_in_what_to_do() -> None:
    text = told(refused(404, envelope("UNKNOWN_SYMBOL", "x" * 100_000)))
    assert len(text) < 1_000
    assert text.endswith("do not answer about one that does not.")
    plan = load("refused.402") | {"gate": {"upgrade_url": "y" * 100_000}}
    assert len(told(refused(402, plan))) < 3_000


def test_a_wait_is_told_in_seconds() -> None:
    text = told(refused(429, envelope("RATE_LIMITED"), retry_after="17"))
    assert text.endswith("Wait before the next call. Not before 17 s from now.")
    assert "from now" not in told(refused(503, envelope("UNAVAILABLE"), retry_after="Wed, 21 Oct"))


def test_a_failed_source_is_no_reason_to_invent() -> None:
    assert told(refused(502, envelope("UPSTREAM_5XX"))).endswith("Figures from memory are no substitute.")


def test_the_question_route_s_errors_have_a_code_too() -> None:
    assert told(refused(429, {"error": "slow down."})).startswith("RATE_LIMITED: slow down.")
    assert told(refused(418, {"error": "a teapot."})) == "HTTP_418: a teapot. Tell your user."


def test_a_payment_that_is_out_is_sent_again_by_the_same_call() -> None:
    text = told(OpenPaymentError("nobody can say", unreachable=True), pays=True)
    assert text.startswith("PAYMENT_PENDING: ")
    assert "the same payment is sent again, never a second one" in text


def test_a_ceiling_is_for_the_user_to_raise() -> None:
    text = told(UnpaidError("0.05 is above 0.01; nothing was paid"), pays=True)
    assert text.startswith("PAYMENT_REQUIRED: 0.05 is above 0.01; nothing was paid.")
    assert "raise the ceilings" in text


def test_a_service_that_is_away_and_an_answer_that_is_none_are_told_apart() -> None:
    assert told(UnreachableError("nobody is there")).startswith("UNREACHABLE: nobody is there.")
    assert told(UnreadableAnswerError("that is no JSON")).startswith("UNREADABLE: that is no JSON.")


def test_what_is_wrong_here_is_told_as_it_is() -> None:
    assert told(RefusalError("VERDICT_TOKEN is no token")) == "REFUSED: VERDICT_TOKEN is no token."


def test_a_service_cannot_give_orders_in_letters_that_nobody_sees() -> None:
    assert "\u202e" not in told(refused(400, envelope("BAD_REQUEST", "no\u202e")))
