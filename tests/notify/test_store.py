import asyncio

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.notify.store import (
    KEEP_MS,
    MOST_RULES,
    OVER_LIMIT,
    REMOVED,
    AttemptResult,
    RuleStore,
    RuleUpdate,
    StoredRule,
)
from service.storage.database import Database

HOOK = "https://example.org/hook"


async def rule_of(store: RuleStore, user_id: int = 1, text: str = "BTC > 100") -> StoredRule:
    rule_id = await store.add(user_id, text, HOOK, 1_000)
    return next(rule for rule in await store.rules() if rule.id == rule_id)


def hold(attempts: int) -> int:
    return 1_000 * attempts


@pytest.fixture
def rules(database: Database) -> RuleStore:
    return RuleStore(database, hourly=3)


async def test_rules_are_listed_by_user_oldest_first(rules: RuleStore) -> None:
    first, other, second = await rule_of(rules), await rule_of(rules, 2), await rule_of(rules, 1, "regime")
    assert await rules.rules(1) == [first, second]
    assert await rules.rules() == [first, other, second]
    assert first == StoredRule(1, 1, "BTC > 100", HOOK, 1_000, "", None)


@pytest.mark.promise("notify.limits")
async def test_a_user_has_a_limited_number_of_rules(rules: RuleStore) -> None:
    for _ in range(MOST_RULES):
        await rules.add(1, "regime", HOOK, 1)
    with pytest.raises(ServiceError, match=f"{MOST_RULES} alert rules"):
        await rules.add(1, "regime", HOOK, 1)
    await rules.add(2, "regime", HOOK, 1)


@pytest.mark.promise("notify.outbox")
async def test_a_state_and_its_message_are_stored_together_and_once(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    update = RuleUpdate(rule, "one", "fired", ("evt_1", b"{}"))
    await asyncio.gather(rules.record([update], 5_000), rules.record([update], 5_000))
    assert [message.id for message in await rules.messages(1, 9)] == ["evt_1"]
    (now,) = await rules.rules()
    assert (now.origin, now.state) == ("one", "fired")
    await rules.record(
        [RuleUpdate(now, "one", "armed", None), RuleUpdate(rule, "one", "fired", ("evt_2", b"{}"))], 6_000
    )
    assert [message.id for message in await rules.messages(1, 9)] == ["evt_1"], "the rule had moved on"


async def test_an_event_that_leaves_the_state_alone_is_stored_once(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    for _ in range(2):
        await rules.record([RuleUpdate(rule, rule.origin, rule.state, ("evt_1", b"{}"))], 5_000)
    assert len(await rules.messages(1, 9)) == 1


async def test_a_rule_that_was_removed_causes_nothing_and_its_messages_are_given_up(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    await rules.record([RuleUpdate(rule, "one", "fired", ("evt_1", b"{}"))], 5_000)
    assert not await rules.remove(2, rule.id, 6_000)
    assert await rules.remove(1, rule.id, 6_000)
    assert not await rules.remove(1, rule.id, 6_000)
    await rules.record([RuleUpdate(rule, "one", "armed", ("evt_2", b"{}"))], 7_000)
    (message,) = await rules.messages(1, 9)
    assert (message.next_ms, message.finished_ms, message.error) == (None, 6_000, REMOVED)
    assert await rules.claim(9_000, {}, hold) == []


@pytest.mark.promise("notify.limits")
async def test_beyond_the_hourly_limit_messages_are_listed_and_not_sent(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    sent = [await rules.enqueue(rule, (f"evt_{number}", b"{}"), HOUR_MS + number) for number in range(5)]
    assert sent == [True, True, True, False, False]
    assert [message.error for message in await rules.messages(1, 9)] == [None, None, None], "tests are just refused"
    await rules.record([RuleUpdate(rule, "", None, ("evt_over", b"{}"))], HOUR_MS + 9)
    assert [message.error for message in await rules.messages(1, 9)] == [OVER_LIMIT, None, None, None]
    assert len(await rules.claim(2 * HOUR_MS, {}, hold)) == 3
    assert await rules.enqueue(rule, ("evt_later", b"{}"), 2 * HOUR_MS)
    assert await rules.enqueue(await rule_of(rules, 2), ("evt_other", b"{}"), HOUR_MS)


async def test_one_user_takes_no_more_than_four_of_the_places(database: Database) -> None:
    rules = RuleStore(database, hourly=100)
    mine, theirs = await rule_of(rules), await rule_of(rules, 2)
    for number in range(10):
        await rules.enqueue(mine, (f"evt_{number}", b"{}"), 1_000)
    await rules.enqueue(theirs, ("evt_other", b"{}"), 2_000)
    assert await rules.claim(999, {}, hold) == []
    assert len(await rules.claim(1_500, {"evt_other": 1}, hold)) == 3
    first = await rules.claim(2_000, {}, hold)
    assert [message.user_id for message in first] == [1] * 4 + [2]
    assert await rules.claim(2_000, {message.id: 1 for message in first[:4]}, hold) == []
    next_three = await rules.claim(2_999, {"evt_7": 1, "elsewhere": 2}, hold)
    assert [message.id for message in next_three] == ["evt_8", "evt_9", "evt_0"], "what is being sent is left alone"
    assert await rules.claim(9_000, {str(number): 9 for number in range(64)}, hold) == [], "all places are taken"


@pytest.mark.promise("notify.outbox")
async def test_a_message_waits_until_it_ends(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    await rules.enqueue(rule, ("evt_1", b"{}"), 1_000)
    await rules.settle([AttemptResult("evt_1", 1, 9_000, "no")], 2_000)
    assert await rules.claim(8_999, {}, hold) == []
    (due,) = await rules.claim(9_000, {}, hold)
    assert await rules.claim(10_999, {}, hold) == [], "claimed for two seconds at the second attempt"
    assert (due.id, due.user_id, due.target, due.body, due.created_ms, due.attempts) == (
        "evt_1",
        1,
        HOOK,
        b"{}",
        1_000,
        2,
    )
    await rules.settle([AttemptResult("evt_1", 2, None, None)], 9_500)
    await rules.settle([AttemptResult("evt_1", 3, 10_000, "late")], 9_600)
    (done,) = await rules.messages(1, 9)
    assert (done.attempts, done.next_ms, done.finished_ms, done.error) == (2, None, 9_500, None)


async def test_messages_are_forgotten_a_week_after_their_end(rules: RuleStore) -> None:
    rule = await rule_of(rules)
    for name in ("evt_1", "evt_2"):
        await rules.enqueue(rule, (name, b"{}"), 1_000)
    await rules.settle([AttemptResult("evt_1", 1, None, None)], DAY_MS)
    await rules.prune(DAY_MS + KEEP_MS - 1)
    assert len(await rules.messages(1, 9)) == 2
    await rules.prune(DAY_MS + KEEP_MS)
    assert [message.id for message in await rules.messages(1, 9)] == ["evt_2"]


async def test_many_messages_are_forgotten_in_steps(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.notify.store._PRUNED_AT_ONCE", 2)
    rules = RuleStore(database)
    rule = await rule_of(rules)
    for number in range(5):
        await rules.enqueue(rule, (f"evt_{number}", b"{}"), 1_000)
    await rules.settle([AttemptResult(f"evt_{number}", 1, None, None) for number in range(5)], DAY_MS)
    before = database.closures
    await rules.prune(DAY_MS + KEEP_MS)
    assert await rules.messages(1, 9) == []
    assert database.closures - before == 3
