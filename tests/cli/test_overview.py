"""`verdict BTC`: the overview of a coin."""

import json
from typing import Any

import pytest

from service.cli import overview
from tests.cli.conftest import Typed
from tests.cli.recorded import ANSWERS
from tests.cli.snapshots import NARROW, check
from tests.client.sdk.peer import Reply, answers, peer, says

COINS = json.loads((ANSWERS / "coins.json").read_text())
FULL = json.loads((ANSWERS / "signal.json").read_text())


def row(**changes: Any) -> Reply:
    """The table's answer for one coin."""
    return says({**COINS, "data": {**COINS["data"], "coins": [{**COINS["data"]["coins"][0], **changes}]}})


def brief() -> Reply:
    """A verdict in brief."""
    data = {name: value for name, value in FULL["data"].items() if name != "raw"}
    return says({**FULL, "data": {**data, "price": 1.0, "claims": [], "omitted": {"raw": 1}}})


def test_an_overview_asks_for_the_coins_row_and_for_the_verdict_of_its_symbol(person: Typed) -> None:
    with peer(row(), brief()) as there:
        told = person(f"BTC --url {there.url}")
    symbol = COINS["data"]["coins"][0]["symbol"]
    assert (told.code, told.err, told.out.startswith(symbol)) == (0, "", True)
    assert [heard.target for heard in there.heard] == [
        "/api/cli/coins?symbols=BTC",
        f"/api/cli/signal/{symbol}?detail=brief",
    ]


def test_an_overview_looks_like_this() -> None:
    coin = {**COINS["data"]["coins"][0], "funding_apr": -3.2, "_stale_fields": ["price", "trend_weekly"]}
    shown = {"coin": coin, "signal": FULL["data"]}
    check("overview", lambda screen: overview.lines(shown, COINS["meta"], screen, {}), NARROW)


def test_a_program_gets_both_answers_of_an_overview(program: Typed) -> None:
    with peer(row(), brief()) as there:
        found = program(f"coin btc --url {there.url}").json
    assert (found["data"]["coin"], found["meta"]) == (COINS["data"]["coins"][0], COINS["meta"])
    assert found["data"]["signal"]["verdict"] == FULL["data"]["verdict"]


def test_an_overview_of_an_unknown_coin_is_refused_and_costs_one_call(person: Typed) -> None:
    refused = json.loads((ANSWERS / "refused.unknown.json").read_text())
    with peer(says(refused, 404)) as there:
        told = person(f"NOPE --url {there.url}")
    assert (told.code, told.out, refused["error"]["message"] in told.err, len(there.heard)) == (4, "", True, 1)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (says({"error": {"message": "Not yet."}}, 503), "Not yet."),
        (says(json.loads((ANSWERS / "refused.402.json").read_text()), 402), ""),
        (
            answers(b"<p>\x1b[2J"),
            "The answer is not JSON. Check that the URL is that of a Verdict service.\n<p>\ufffd[2J\n",
        ),
    ],
)
def test_an_overview_without_a_verdict_does_not_lose_what_was_paid_for(person: Typed, reply: Reply, said: str) -> None:
    with peer(row(price=187.27, _stale_fields=["price"]), reply) as there:
        told = person(f"BTC --url {there.url}")
    assert (told.code, told.err.startswith(f"verdict: The verdict is missing: {said}")) == (0, True)
    assert [text in told.out for text in ("$187.27", "(stale)", "Verdict")] == [True, True, False]


@pytest.mark.parametrize("reply", [says({**FULL, "data": {"new": [1]}}), says({**FULL, "data": 5})])
def test_an_overview_in_a_form_that_this_version_does_not_know_is_shown_plainly(person: Typed, reply: Reply) -> None:
    with peer(row(price=187.27), reply) as there:
        told = person(f"BTC --url {there.url}")
    assert (told.code, "187.27" in told.out, "does not know the form of the answer" in told.err) == (0, True, True)


def test_a_rehearsal_of_an_overview_shows_both_calls(person: Typed) -> None:
    assert person("BTC --dry-run").out.count("Would cost one question or, once they are spent, 0.005 USDC.") == 2
