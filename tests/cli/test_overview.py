"""`verdict BTC`: one coin at a glance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commanding import Told, typed
from tests.cli.recorded import ANSWERS
from tests.client.sdk.peer import Peer, Reply, peer, says

COINS = json.loads((ANSWERS / "coins.json").read_text())
FULL = json.loads((ANSWERS / "signal.json").read_text())
UNKNOWN = json.loads((ANSWERS / "refused.unknown.json").read_text())


def row(**changes: Any) -> Reply:
    """The table's answer for one coin."""
    return says({**COINS, "data": {**COINS["data"], "coins": [{**COINS["data"]["coins"][0], **changes}]}})


def signal() -> Reply:
    """A verdict in brief."""
    data = {name: value for name, value in FULL["data"].items() if name != "raw"}
    return says({**FULL, "data": {**data, "price": 1.0, "claims": [], "omitted": {"raw": 1}}})


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "VERDICT_TOKEN": "verdict_sk_x", "NO_COLOR": "1", "COLUMNS": "80"}


def told_by(there: Peer, home: Mapping[str, str], *words: str, terminal: bool = True) -> Told:
    return typed(*words, environment={**home, "VERDICT_URL": there.url}, terminal=terminal)


def test_a_coin_is_shown_by_its_row_and_its_verdict_in_brief(home: dict[str, str]) -> None:
    changes = {"price": 187.27, "change_24h": -1.5145, "funding_apr": -3.2, "streak_days": 4, "trend_daily": "UP"}
    with peer(row(**changes), signal()) as there:
        told = told_by(there, home, "BTC")
    assert (told.code, told.err) == (0, "")
    symbol = COINS["data"]["coins"][0]["symbol"]
    assert [heard.target for heard in there.heard] == [
        "/api/cli/coins?symbols=BTC",
        f"/api/cli/signal/{symbol}?detail=brief",
    ]
    for text in ("$187.27", "-1.51 % in 24 h", "▲ UP for 4 days", "-3.20 % a year, shorts pay longs", "of ±4"):
        assert text in told.out
    assert max(map(len, told.out.splitlines())) <= 80


def test_the_two_reasons_that_count_most_are_told_with_their_side(home: dict[str, str]) -> None:
    with peer(row(), signal()) as there:
        told = told_by(there, home, "coin", "btc")
    rules = sorted(FULL["data"]["rules"], key=lambda rule: -abs(rule["contribution"]))
    for rule in rules[:2]:
        sign = "+" if rule["contribution"] > 0 else "-"
        reason = FULL["data"]["evidence"][rule["evidence"]].partition(" This counts ")[0]
        assert f"{sign} {reason}" in " ".join(told.out.split())


def test_a_program_gets_both_answers(home: dict[str, str]) -> None:
    with peer(row(), signal()) as there:
        found = told_by(there, home, "BTC", terminal=False).json
    assert found["data"]["coin"] == COINS["data"]["coins"][0]
    assert found["data"]["signal"]["verdict"] == FULL["data"]["verdict"]
    assert found["meta"] == COINS["meta"]


def test_an_unknown_coin_is_refused_with_the_nearest_and_costs_one_call(home: dict[str, str]) -> None:
    with peer(says(UNKNOWN, 404)) as there:
        told = told_by(there, home, "NOPE")
    assert (told.code, told.out) == (4, "")
    assert UNKNOWN["error"]["message"] in told.err
    assert len(there.heard) == 1


def test_where_no_verdict_can_be_given_the_rest_is_shown(home: dict[str, str]) -> None:
    with peer(row(price=None, _stale_fields=["price"]), says({"error": {"message": "Not yet."}}, 503)) as there:
        told = told_by(there, home, "BTC")
    assert (told.code, told.err) == (0, "verdict: no verdict: Not yet.\n")
    assert "(stale)" in told.out
    assert "Verdict" not in told.out


def test_what_it_would_send_is_shown_for_both_calls(home: dict[str, str]) -> None:
    told = typed("BTC", "--dry-run", environment=home, terminal=True)
    assert told.out.count("Would cost one question or, once they are spent, 0.005 USDC.") == 2


def test_a_second_call_that_is_not_paid_for_does_not_lose_the_first(home: dict[str, str]) -> None:
    unpaid = json.loads((ANSWERS / "refused.402.json").read_text())
    with peer(row(price=187.27), says(unpaid, 402)) as there:
        told = told_by(there, home, "BTC")
    assert told.code == 0
    assert "verdict: no verdict: " in told.err
    assert "$187.27" in told.out
