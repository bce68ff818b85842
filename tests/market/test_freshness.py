"""Ages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.freshness import CHART, NEVER_MS, QUOTE, AgeLimits, Freshness, span_around

instants = st.integers(-(10**6), 10**6)


@pytest.mark.parametrize(
    ("limits", "age_ms", "judged"),
    [
        (QUOTE, 0, Freshness.FRESH),
        (QUOTE, -5, Freshness.FRESH),
        (QUOTE, 45 * SECOND_MS, Freshness.FRESH),
        (QUOTE, 45 * SECOND_MS + 1, Freshness.STALE),
        (QUOTE, 10 * MINUTE_MS, Freshness.STALE),
        (QUOTE, 10 * MINUTE_MS + 1, Freshness.GONE),
        (CHART, DAY_MS + 15 * MINUTE_MS, Freshness.FRESH),
        (CHART, DAY_MS + 15 * MINUTE_MS + 1, Freshness.STALE),
        (CHART, 48 * HOUR_MS, Freshness.STALE),
        (CHART, 48 * HOUR_MS + 1, Freshness.GONE),
    ],
)
def test_an_age_is_fresh_then_stale_then_gone(limits: AgeLimits, age_ms: int, judged: Freshness) -> None:
    assert limits.judge(1_000_000_000 - age_ms, 1_000_000_000) is judged


@pytest.mark.parametrize(
    ("ahead_ms", "judged"),
    [
        (45 * SECOND_MS, Freshness.FRESH),
        (45 * SECOND_MS + 1, Freshness.STALE),
        (10 * MINUTE_MS, Freshness.STALE),
        (10 * MINUTE_MS + 1, Freshness.GONE),
    ],
)
def test_what_a_clock_dated_that_was_set_back_is_of_no_known_age(ahead_ms: int, judged: Freshness) -> None:
    assert QUOTE.judge(1_000_000_000 + ahead_ms, 1_000_000_000) is judged


def test_what_was_never_observed_is_gone() -> None:
    assert QUOTE.judge(None, 0) is Freshness.GONE
    assert QUOTE.transitions(None) == QUOTE.ends(None) == []


@given(st.lists(instants, max_size=4), instants, st.data())
def test_no_judgement_changes_within_its_span(observed: list[int], now_ms: int, data: st.DataObject) -> None:
    limits = AgeLimits(stale=50, gone=400)
    since, until = span_around(now_ms, [turn for at in observed for turn in limits.transitions(at)])
    assert since <= now_ms < until
    other = data.draw(st.integers(max(since, -(10**7)), min(until, 10**7) - 1))
    assert [limits.judge(at, other) for at in observed] == [limits.judge(at, now_ms) for at in observed]


@given(st.lists(instants, max_size=4), instants, st.data())
def test_what_is_said_is_said_until_its_end(observed: list[int], now_ms: int, data: st.DataObject) -> None:
    limits = AgeLimits(stale=50, gone=400)
    since, until = span_around(now_ms, [end for at in observed for end in limits.ends(at)])
    other = data.draw(st.integers(max(since, -(10**7)), min(until, 10**7) - 1))
    assert [limits.judge(at, other) is Freshness.GONE for at in observed] == [
        limits.judge(at, now_ms) is Freshness.GONE for at in observed
    ]


def test_without_turns_a_span_has_no_end() -> None:
    assert span_around(5, []) == (-NEVER_MS, NEVER_MS)
