import copy
import json
import pathlib as files
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.verdict.decide import decide
from service.verdict.replay import Difference, ReplayError, _same, replay
from service.verdict.ruleset import VERSION_1, VERSION_2, RuleSet
from tests.verdict.jcs import write
from tests.verdict.known import KNOWN, known, without

Path = tuple[str | int, ...]

RECORDED = files.Path(__file__).parent / "version_1" / "answer.json"
"""An answer as the service gave it when version 1 was in force."""


def saved(rules: RuleSet = VERSION_2, **changed: Any) -> dict[str, Any]:
    answer: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(decide(known(**changed), rules)))
    return answer


def leaves(value: object, path: Path = ()) -> Iterator[Path]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield from leaves(inner, (*path, name))
    if not isinstance(value, dict | list):
        yield path


def place(answer: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    changed = copy.deepcopy(answer)
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


def is_noticed(answer: dict[str, Any]) -> bool:
    try:
        return bool(replay(answer).differences)
    except ReplayError:
        return True


ANSWER = saved(regime__coin=None, sentiment__summary="Neutral: no rule holds (no news in 7 days).")
LEAVES = list(leaves(ANSWER))


@pytest.mark.promise("signal.verify")
def test_a_saved_verdict_is_what_its_inputs_give() -> None:
    found = replay(ANSWER)
    assert found.differences == []
    assert msgspec.to_builtins(found.verdict) == ANSWER


def test_a_verdict_saved_by_what_writes_whole_numbers_without_a_point_is_the_same() -> None:
    by_javascript = json.loads(write(ANSWER))
    assert isinstance(by_javascript["raw"]["risk"]["btc_correlation"], int)
    assert replay(by_javascript).differences == []


def test_members_in_another_order_are_the_same() -> None:
    assert replay(dict(reversed(ANSWER.items()))).differences == []


@given(path=st.sampled_from(LEAVES), value=st.none() | st.booleans() | st.integers() | st.floats() | st.text())
def test_whatever_is_changed_is_noticed(path: Path, value: object) -> None:
    was: Any = ANSWER
    for step in path:
        was = was[step]
    same = type(was) is type(value) and was == value
    same = same or (type(was) is float and type(value) is int and was == value)
    assert is_noticed(place(ANSWER, path, value)) is not same


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_no_leaf_can_be_changed_unnoticed(path: Path) -> None:
    was: Any = ANSWER
    for step in path:
        was = was[step]
    others: list[object] = (
        ["x", None, True] if was is None or isinstance(was, str) else [was + 1, -was - 1, str(was), None]
    )
    assert all(is_noticed(place(ANSWER, path, other)) for other in others if other != was)


@pytest.mark.parametrize("name", ANSWER)
def test_no_member_can_be_left_out_unnoticed(name: str) -> None:
    assert is_noticed({other: value for other, value in ANSWER.items() if other != name})


@pytest.mark.parametrize("inside", [(), ("raw",), ("raw", "risk"), ("sources",), ("rules", 0), ("confidence_basis",)])
def test_nothing_can_be_added_unnoticed(inside: Path) -> None:
    assert [difference.field for difference in replay(place(ANSWER, (*inside, "more"), 1)).differences] == [
        ".".join([*map(str, inside), "more"]).replace(".0.", "[0].")
    ]


def test_a_difference_is_told_as_json_has_it() -> None:
    changed = place(place(ANSWER, ("rules", 2, "contribution"), 0.75), ("rules", 3, "value"), "risk—on")
    changed = place(changed, ("evidence",), [*ANSWER["evidence"], {"a": [1]}])
    changed = place(place(changed, ("confidence_basis",), [1]), ("score",), {})
    assert replay(changed).differences == [
        Difference("score", "{…}", "2.0"),
        Difference("evidence[9]", "{…}", "not there"),
        Difference("rules[2].contribution", "0.75", "0.5"),
        Difference("rules[3].value", '"risk—on"', "null"),
        Difference("confidence_basis", "[…]", "{…}"),
    ]


def test_a_list_that_is_too_short_differs_where_it_ends() -> None:
    assert replay(place(ANSWER, ("rules",), ANSWER["rules"][:6])).differences == [
        Difference("rules[6]", "not there", "{…}")
    ]


def test_true_is_not_one() -> None:
    answer = saved(funding__percentile_30d=1.0)
    noticed = replay(place(answer, ("rules", 1, "contribution"), True)).differences  # noqa: FBT003 - a value of JSON
    assert noticed == [Difference("rules[1].contribution", "true", "1.0")]


@pytest.mark.parametrize(("rules", "claim"), [(VERSION_1, 0.625), (VERSION_2, None)])
def test_the_track_record_is_no_part_of_a_verdict_but_what_it_claims_is(rules: RuleSet, claim: float | None) -> None:
    answer = saved(rules, regime__coin=None)
    for record in ({"probability_up": claim, "entries": 3}, {"entries": 3}, None, "anything"):
        assert replay({**answer, "track_record": record}).differences == []
    assert replay({**answer, "track_record": {"probability_up": 0.7}}).differences == [
        Difference("track_record.probability_up", "0.7", json.dumps(claim))
    ]


def test_each_version_is_recomputed_by_its_own_rules() -> None:
    one, two = saved(VERSION_1), saved(VERSION_2)
    assert [found["ruleset"]["version"] for found in (one, two)] == [1, 2]
    assert (replay(one).differences, replay(two).differences) == ([], [])
    assert one["verdict_id"] != two["verdict_id"]


@pytest.mark.parametrize(("rules", "other"), [(VERSION_1, VERSION_2), (VERSION_2, VERSION_1)])
def test_a_verdict_of_one_version_is_not_one_of_another(rules: RuleSet, other: RuleSet) -> None:
    found = replay({**saved(rules), "ruleset": msgspec.to_builtins(other.label)})
    assert {"evidence[0]", "verdict_id"} <= {difference.field for difference in found.differences}


@pytest.mark.promise("rules.version-1")
def test_an_answer_saved_before_version_2_is_recomputed() -> None:
    answer = json.loads(RECORDED.read_bytes())["data"]
    assert (answer["ruleset"]["version"], answer["track_record"]["probability_up"]) == (1, 0.65)
    assert replay(answer).differences == []
    assert replay(place(answer, ("track_record", "probability_up"), 0.7)).differences == [
        Difference("track_record.probability_up", "0.7", "0.65")
    ]


def test_a_verdict_of_unknown_rules_is_refused() -> None:
    other = place(ANSWER, ("ruleset", "version"), 3)
    with pytest.raises(
        ReplayError,
        match=r"verdict-rules version 3\. This program has verdict-rules version 1 and verdict-rules version 2\. Use",
    ):
        replay(other)
    with pytest.raises(ReplayError, match="made by other-rules version 2"):
        replay(place(ANSWER, ("ruleset", "name"), "other-rules"))


def test_other_rules_of_the_same_version_are_a_difference() -> None:
    (difference,) = replay(place(ANSWER, ("ruleset", "digest"), "0" * 64)).differences
    assert difference.field == "ruleset.digest"


@pytest.mark.parametrize("answer", [{}, {"ruleset": None}, {"symbol": "BTC", "price": 1.0}, {"ruleset": {"name": 1}}])
def test_what_is_no_verdict_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ReplayError, match="This is not a verdict"):
        replay(answer)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("raw",), None),
        (("raw", "risk", "trend_daily"), "SIDEWAYS"),
        (("raw", "risk", "price"), 10**400),
        (("raw", "risk", "price"), float("inf")),
        (("raw", "risk", "funding_apr"), float("nan")),
        (("raw", "funding", "payments"), 2**60),
        (("raw", "sentiment", "summary"), "\ud800"),
        (("sources", "risk"), "asleep"),
        (("symbol",), 7),
    ],
)
def test_inputs_that_cannot_be_read_are_refused(path: Path, value: object) -> None:
    with pytest.raises(ReplayError, match="inputs of this verdict cannot be read"):
        replay(place(ANSWER, path, value))


def test_an_abstention_can_be_checked_too() -> None:
    answer = msgspec.json.decode(msgspec.json.encode(decide(without(KNOWN, "risk", "sentiment"))))
    assert answer["verdict"] == "insufficient-evidence"
    assert replay(answer).differences == []


def test_true_is_true_and_no_number() -> None:
    assert [_same(saved, expected) for saved, expected in ((True, True), (True, False), (True, 1), (1, 1.0))] == [
        True, False, False, True
    ]  # fmt: skip
