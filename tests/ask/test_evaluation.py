"""The evaluation tells right answers from wrong ones."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.ask.evaluation.labelled import Call, Fact, Labelled
from tests.ask.evaluation.marks import Marks, are_planned, mark, overlap, says
from tests.ask.evaluation.numerals import count_unbound
from tests.ask.evaluation.payloads import Payloads, at, carry_of, value_of
from tests.ask.evaluation.scores import Scores, failures, report
from tests.ask.evaluation.told import Told, UnansweredError, told

RISK = {"symbol": "BTC", "price": 117_700.0, "funding_apr": 10.95, "trend_daily": "UP", "interval_24h": 0}
SIGNAL = {"verdict": "strong-bull", "score": 3.0, "evidence": ["Longs pay 10.95 % a year."], "confidence": 0.8688}
PRICE = {"symbol": "BTC"}


def question(**named: Any) -> Labelled:
    given: dict[str, Any] = {
        "id": "price-001",
        "intent": "price",
        "coins": ["BTC"],
        "assets": [],
        "categories": [],
        "unknown": [],
        "tools": [Call("coin.risk", PRICE)],
        "facts": [Fact("coin.risk", PRICE, "/price")],
        "refusal": None,
        "ask": "btc price",
    }
    return Labelled(**{**given, **named})


def answer(text: str, classification: Mapping[str, Any] | None = None, *, planned: bool = True) -> Told:
    taken = classification or {"intent": "price", "entities": {"coins": ["BTC"]}}
    step = {"id": "s1", "tool": "coin.risk", "args": PRICE, "result": RISK, "as_of": "2025-07-25T23:59:59.000Z"}
    steps = [step] if planned else []
    return Told(taken, steps, steps, text, {"engine": "rules"})


def marked(labels: Labelled, given: Told) -> Marks:
    return mark(labels, given, Payloads(lambda _: RISK), ["Layer 1 (L1)"])


@pytest.mark.parametrize(
    "text",
    [
        "**$117,700** is the price of BTC, as of 2025-07-25 23:59 UTC; funding +10.95 %.",
        "It costs $117,700.0 and pays 10.95% a year.",
        "Rounded, $117.7k: `strong-bull` at +3, sure to 86.88 %.",
        "Longs pay 10.95 % a year. Nobody says more.",
        "over 24 h it was $117,700",
    ],
)
def test_numerals_that_results_hold_are_bound(text: str) -> None:
    assert count_unbound(text, [RISK, SIGNAL, "2025-07-25T23:59:59.000Z"]).unbound == []


@pytest.mark.parametrize(
    ("text", "unbound"),
    [
        ("BTC is at $117,701", ["$117,701"]),
        ("BTC is at 117,700 %", ["117,700 %"]),
        ("funding is $10.95", ["$10.95"]),
        ("funding is -10.95 %", ["-10.95 %"]),
        ("funding is 11 %", ["11 %"]),
        ("seen 2025-07-26", ["2025-07-26"]),
        ("seen 2025-07-25 23:58 UTC", ["2025-07-25 23:58 UTC"]),
        ("three coins", ["three"]),
        ("it fell by ½", ["½"]),
        ("it fell by ٣", ["٣"]),
        ("BTC5000", ["5000"]),
        ("1e9 coins", ["1e9"]),
        ("$118K", []),
        ("$119K", ["$119K"]),
        ("Layer 2 (L2) is not Layer 1 (L1)", ["2", "2"]),
    ],
)
def test_numerals_that_no_result_holds_are_found(text: str, unbound: list[str]) -> None:
    held = [RISK, SIGNAL, "2025-07-25T23:59:59.000Z"]
    assert count_unbound(text, held, ["Layer 1 (L1)"]).unbound == unbound


@pytest.mark.parametrize(
    ("text", "pointer", "value", "said"),
    [
        ("**$117,700**", "/price", 117_700.0, True),
        ("**$117,700.5**", "/price", 117_700.0, False),
        ("`strong-bull` it is", "/verdict", "strong-bull", True),
        ("strong-bull it is", "/verdict", "bull", False),
        ("the trend is UP", "/trend_daily", "UP", True),
        ("it went up", "/trend_daily", "UP", False),
        ("since 2025-07-11", "/trend_daily_since", "2025-07-11T00:00:00.000Z", True),
        ("volume $3.06B", "/volume_usd", 3_062_527_533.5, True),
        ("it is 41.2 % sure", "/conviction", 0.4123, True),
    ],
)
def test_a_fact_is_said_in_the_form_of_its_field(text: str, pointer: str, value: Any, *, said: bool) -> None:
    assert says(text, pointer, value) is said


def test_pointers_reach_into_lists() -> None:
    payload = {"rows": [{"id": "a", "n": 1}, {"id": "b", "n": None}]}
    assert at(payload, "/rows/*/id") == ["a", "b"]
    assert at(payload, "/rows/[id=a]/n") == [1]
    assert at(payload, "/rows/0/id") == ["a"]
    assert at(payload, "/rows/1/n") == at(payload, "/rows/7/n") == at(payload, "/none/x") == []


def test_what_has_no_route_is_worked_out() -> None:
    carried = carry_of(RISK, {"notional_usd": 10_000, "days": 3})
    assert carried["long_usd"] == -carried["short_usd"] == pytest.approx(-9.0)
    assert value_of(RISK, {"amount": 2, "unit": "BTC"}) == {"usd": 235_400.0, "quantity": 2}
    assert value_of(RISK, {"amount": 117_700, "unit": "USD"})["quantity"] == 1


def test_calls_are_right_where_what_is_sure_of_them_is() -> None:
    plan = [{"tool": "coin.historical", "args": {"symbol": "BTC", "count": 168, "unit": "h"}}]
    assert are_planned([Call("coin.historical", {"symbol": "BTC", "count": 7, "unit": "d"})], plan)
    assert not are_planned([Call("coin.historical", {"symbol": "BTC", "count": 8, "unit": "d"})], plan)
    assert not are_planned([Call("coin.risk", PRICE)], plan)
    assert not are_planned([], plan)
    assert are_planned([], [])


def test_what_may_be_named_counts_neither_way() -> None:
    labels = question(coins=["SOL"], may=["BTC"], unknown=["$FOO"])
    assert overlap(labels, {"coins": ["SOL", "BTC"], "unknown": ["foo"]}) == (2, 2, 2)
    assert overlap(labels, {"coins": ["ETH"]}) == (0, 1, 2)


def test_a_right_answer_has_no_fault() -> None:
    right = marked(question(), answer("**$117,700** is the price of BTC."))
    assert list(failures(Scores([right]))) == []
    assert right.overlap == (1, 1, 1)
    assert right.missing == []


@pytest.mark.parametrize(
    ("labels", "given", "fault"),
    [
        (question(intent="trend"), answer("$117,700"), "taken for price, is trend"),
        (question(coins=["ETH"]), answer("$117,700"), "names"),
        (question(tools=[Call("signal", PRICE)]), answer("$117,700"), "other tools"),
        (question(), answer("BTC is well."), "does not say /price"),
        (question(), answer("$117,700, or $9"), "unbound ['$9']"),
        (question(), answer("$117,700", {"intent": "price", "refusal": "ambiguous"}), "refused: price/ambiguous"),
        (question(), answer("$117,700. A part of this answer is left out."), "a part is left out"),
        (question(refusal="forecast"), answer("$117,700"), "not refused as forecast"),
    ],
)
def test_every_fault_is_told(labels: Labelled, given: Told, fault: str) -> None:
    assert fault in next(failures(Scores([marked(labels, given)])))


@pytest.mark.parametrize(
    ("text", "planned", "honest"),
    [("Which coin?", False, True), ("", False, False), ("At $9?", False, False), ("?", True, False)],
)
def test_a_refusal_is_honest_that_looks_nothing_up_and_says_no_figure(
    text: str, *, planned: bool, honest: bool
) -> None:
    labels = question(refusal="ambiguous", coins=[], tools=[], facts=[])
    taken = {"intent": "price", "refusal": "ambiguous"}
    assert marked(labels, answer(text, taken, planned=planned)).reason is honest


def test_only_the_words_of_who_asks_may_be_quoted() -> None:
    labels = question(ask="price of FOO9000", refusal="unknown-symbol", coins=[], tools=[], facts=[])
    taken = {"intent": "price", "refusal": "unknown-symbol"}
    assert marked(labels, answer("I know no `FOO9000`.", taken, planned=False)).refused
    assert not marked(labels, answer("I know no `BAR9001`.", taken, planned=False)).refused


def test_where_a_list_is_empty_an_answer_says_that_there_is_none() -> None:
    labels = question(facts=[Fact("funding.alerts", {}, "/events/*/price")])
    empty = Payloads(lambda _: {"events": []})
    assert mark(labels, answer("There is none."), empty, []).missing == []
    assert mark(labels, answer("All is well."), empty, []).missing == ["/events/*/price"]


def test_scores_are_shares_of_what_is_scored() -> None:
    right, wrong = answer("$117,700"), answer("$9", {"intent": "trend", "entities": {}})
    refused = marked(
        question(refusal="language", intent=None, coins=[], tools=[], facts=[]), answer("Sorry.", planned=False)
    )
    scores = Scores([marked(question(), right), marked(question(), wrong), refused])
    assert (scores.intent, scores.facts, scores.refusals) == (0.5, 0.5, 0.0)
    assert scores.entity_f1 == pytest.approx(2 / 3)
    assert (scores.unbound, scores.numerals, scores.wrongly_refused) == (1, 2, 0)
    assert "    price                  1 of 2" in list(report("dev", scores))


def test_an_answer_is_read_from_its_events() -> None:
    raw = (
        'event: classification\ndata: {"intent":"price"}\n\nevent: plan\ndata: {"steps":[]}\n\n'
        'event: text\ndata: {"text":"a"}\n\nevent: text\ndata: {"text":"b"}\n\n'
        'event: done\ndata: {"engine":"rules"}\n\n'
    )
    assert told(raw) == ({"intent": "price"}, [], [], "ab", {"engine": "rules"})
    with pytest.raises(UnansweredError):
        told(raw.partition("event: done")[0])
