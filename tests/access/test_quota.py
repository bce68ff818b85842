"""The rule of the quota, against its contract in words and against an obvious model of it."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.access.quota import (
    FROM_DAY,
    FROM_STARTER,
    PER_DAY,
    STARTER,
    Usage,
    quota_status,
    return_question,
    take_question,
)
from service.clock import DAY_MS
from service.wire.access import Tier

DAY = 20_294


def take_all(usage: Usage, tier: Tier, today: int) -> tuple[int, Usage]:
    taken = 0
    while taken < 1_000:
        bucket, usage = take_question(usage, tier, today)
        if bucket is None:
            break
        taken += 1
    return taken, usage


@pytest.mark.promise("quota.free", "quota.starter")
def test_a_new_user_has_ten_questions_and_then_none_that_day() -> None:
    taken, usage = take_all(Usage(), "free", DAY)
    assert taken == STARTER == 10
    assert take_question(usage, "free", DAY) == (None, usage)


@pytest.mark.promise("quota.next-midnight", "quota.free")
def test_the_first_daily_question_comes_at_the_midnight_after_the_tenth() -> None:
    _, usage = take_all(Usage(), "free", DAY)
    assert take_all(usage, "free", DAY + 1)[0] == 1


@pytest.mark.promise("quota.starter")
def test_a_starter_spent_over_two_days_gives_nothing_more_on_the_second() -> None:
    usage = Usage()
    for _ in range(9):
        _, usage = take_question(usage, "free", DAY)
    assert take_all(usage, "free", DAY + 1)[0] == 1


@pytest.mark.promise("quota.no-saving")
def test_unused_days_do_not_add_up() -> None:
    _, usage = take_all(Usage(), "free", DAY)
    assert take_all(usage, "free", DAY + 30)[0] == 1


@pytest.mark.promise("tiers.three")
def test_access_has_fifty_a_day_and_leaves_the_starter_alone() -> None:
    taken, usage = take_all(Usage(), "access", DAY)
    assert (taken, usage.starter_used) == (50, 0)
    assert take_all(usage, "access", DAY + 1)[0] == 50
    assert take_all(usage, "free", DAY)[0] == 10


@pytest.mark.promise("tiers.three")
def test_pro_has_no_limit_and_is_counted() -> None:
    taken, usage = take_all(Usage(), "pro", DAY)
    assert taken == 1_000
    assert usage.counted == 1_000


def test_what_was_used_under_one_tier_counts_under_the_next_that_day() -> None:
    _, usage = take_all(Usage(), "free", DAY)
    for _ in range(60):
        _, usage = take_question(usage, "pro", DAY + 1)
    assert take_question(usage, "access", DAY + 1)[0] is None
    assert take_question(usage, "free", DAY + 1)[0] is None
    assert take_question(usage, "access", DAY + 2)[0] == FROM_DAY


@pytest.mark.promise("meter.clock-back")
def test_a_clock_set_back_gives_nothing_again() -> None:
    _, usage = take_all(Usage(), "free", DAY)
    _, usage = take_all(usage, "free", DAY + 1)
    for today in range(DAY - 2, DAY + 2):
        assert take_question(usage, "free", today) == (None, usage)
    assert take_question(usage, "free", DAY + 2)[0] == FROM_DAY


def test_a_question_given_back_can_be_taken_again_that_day() -> None:
    _, usage = take_all(Usage(), "access", DAY)
    usage = return_question(usage, FROM_DAY, DAY)
    assert take_all(usage, "access", DAY)[0] == 1


def test_a_question_of_yesterday_given_back_today_is_gone() -> None:
    _, usage = take_all(Usage(), "access", DAY)
    _, usage = take_all(usage, "access", DAY + 1)
    usage = return_question(usage, FROM_DAY, DAY)
    assert take_question(usage, "access", DAY + 1)[0] is None
    assert usage.counted == 99


def test_a_starter_question_given_back_never_runs_out() -> None:
    _, usage = take_all(Usage(), "free", DAY)
    usage = return_question(usage, FROM_STARTER, DAY)
    assert take_all(usage, "free", DAY + 9)[0] == 1


def test_the_standing_names_period_and_reset() -> None:
    fresh = quota_status(Usage(), "free", DAY)
    assert (fresh.used, fresh.limit, fresh.remaining, fresh.period, fresh.reset_ms) == (0, 10, 10, "lifetime", None)
    _, usage = take_all(Usage(), "free", DAY)
    spent = quota_status(usage, "free", DAY)
    midnight_ms = (DAY + 1) * DAY_MS
    assert (spent.used, spent.limit, spent.remaining, spent.period, spent.reset_ms) == (
        10,
        10,
        0,
        "lifetime",
        midnight_ms,
    )
    daily = quota_status(usage, "free", DAY + 1)
    assert (daily.used, daily.limit, daily.remaining, daily.period) == (0, 1, 1, "day")
    assert daily.reset_ms == midnight_ms + DAY_MS
    access = quota_status(usage, "access", DAY)
    assert (access.used, access.limit, access.remaining, access.reset_ms) == (0, 50, 50, midnight_ms)
    pro = quota_status(usage, "pro", DAY)
    assert (pro.limit, pro.remaining, pro.period, pro.reset_ms) == (None, None, "day", None)


def test_where_the_tier_has_fallen_more_is_used_than_the_limit() -> None:
    usage = Usage(starter_used=10, starter_day=DAY - 1, day=DAY, day_used=7, counted=17)
    standing = quota_status(usage, "free", DAY)
    assert (standing.used, standing.limit, standing.remaining) == (7, 1, 0)


def test_with_the_clock_set_back_the_reset_is_the_midnight_after_the_last_day() -> None:
    usage = Usage(starter_used=10, starter_day=DAY - 1, day=DAY, day_used=1, counted=11)
    assert quota_status(usage, "free", DAY - 5).reset_ms == (DAY + 1) * DAY_MS


class Event:
    def __init__(self, bucket: int, day: int) -> None:
        self.bucket = bucket
        self.day = day
        self.released = False


class QuotaMachine(RuleBasedStateMachine):
    """The counters beside a list of all events, from which the contract can be read off."""

    def __init__(self) -> None:
        super().__init__()
        self.usage = Usage()
        self.events: list[Event] = []
        self.today = DAY

    def live(self, bucket: int) -> list[Event]:
        return [event for event in self.events if event.bucket == bucket and not event.released]

    def day(self) -> int:
        return max([self.today, *(event.day for event in self.events)])

    def expected(self, tier: Tier) -> int | None:
        starter = self.live(FROM_STARTER)
        if tier == "free" and len(starter) < STARTER:
            return FROM_STARTER
        if tier == "free" and max(event.day for event in starter) == self.day():
            return None
        limit = PER_DAY[tier]
        used = sum(event.day == self.day() for event in self.live(FROM_DAY))
        return FROM_DAY if limit is None or used < limit else None

    @rule(days=st.integers(-3, 3))
    def the_clock_moves(self, days: int) -> None:
        self.today += days

    @rule(tier=st.sampled_from(("free", "access", "pro")), times=st.integers(1, 4) | st.just(52))
    def questions_are_asked(self, tier: Tier, times: int) -> None:
        for _ in range(times):
            expected = self.expected(tier)
            bucket, self.usage = take_question(self.usage, tier, self.today)
            assert bucket == expected
            if bucket is not None:
                self.events.append(Event(bucket, self.day()))

    @precondition(lambda self: any(not event.released for event in self.events))
    @rule(data=st.data())
    def one_is_given_back(self, data: st.DataObject) -> None:
        event = data.draw(st.sampled_from([event for event in self.events if not event.released]))
        event.released = True
        self.usage = return_question(self.usage, event.bucket, event.day)

    @invariant()
    def counters_are_the_sum_of_the_events(self) -> None:
        seen = max([0, *(event.day for event in self.events)])
        assert self.usage.starter_used == len(self.live(FROM_STARTER))
        assert self.usage.day == seen
        assert self.usage.day_used == sum(event.day == seen for event in self.live(FROM_DAY))
        assert self.usage.counted == len(self.live(FROM_STARTER)) + len(self.live(FROM_DAY))

    @invariant()
    def the_standing_says_whether_the_next_question_is_granted(self) -> None:
        tiers: tuple[Tier, ...] = ("free", "access", "pro")
        for tier in tiers:
            standing = quota_status(self.usage, tier, self.today)
            granted = take_question(self.usage, tier, self.today)[0] is not None
            assert granted == (standing.remaining is None or standing.remaining > 0)


QuotaMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestQuota = QuotaMachine.TestCase
