"""A plan under way: beside each other, in the plan's order, bounded, and nothing left behind."""

import asyncio

import msgspec
import pytest

from service.access.caller import Caller
from service.ask.execute import Execution, Finding, Patience
from service.ask.tools import Given
from service.errors import ServiceError
from service.wire.ask import Plan
from service.wire.envelope import Answer
from tests.ask.acting import HASTY, Anything, Payload, fails, hangs, plan_of, says, toolbox, waits_for
from tests.fakes.clock import START_MS

CALLER = Caller(1, "api_key", 1)


async def all_of(execution: Execution) -> list[Finding]:
    async with asyncio.timeout(10):
        try:
            return [finding async for finding in execution.findings()]
        finally:
            await execution.close()


async def test_a_step_tells_what_the_desk_answers_and_of_when() -> None:
    [finding] = await all_of(Execution(toolbox({"a": says("yes")}), plan_of(("a",)), None))
    assert (finding.step.id, finding.step.tool, finding.step.args) == ("s1", "a", {})
    assert msgspec.json.decode(finding.step.result) == {"said": "yes"}
    assert (finding.step.as_of, finding.step.error, finding.counted) == ("2025-07-25T12:00:00.000Z", None, True)


async def test_what_has_no_age_says_none() -> None:
    [finding] = await all_of(Execution(toolbox({"a": says("yes", as_of_ms=None)}), plan_of(("a",)), None))
    assert finding.step.as_of is None


async def test_a_tool_knows_who_asks() -> None:
    def whose(_: Anything, given: Given) -> Answer:
        return Answer(Payload(str(given.caller and given.caller.user_id)))

    [finding] = await all_of(Execution(toolbox({"a": whose}), plan_of(("a",)), CALLER))
    assert msgspec.json.decode(finding.step.result) == {"said": "1"}


async def test_steps_run_beside_each_other_and_are_told_in_the_plans_order() -> None:
    gate, order = asyncio.Event(), []

    def opens(_: Anything, __: Given) -> Answer:
        order.append("second")
        gate.set()
        return Answer(Payload("second"))

    def first(_: Anything, __: Given) -> Answer:
        order.append("first")
        return Answer(Payload("first"))

    tools = toolbox({"slow": waits_for(gate, first), "quick": opens})
    findings = await all_of(Execution(tools, plan_of(("slow",), ("quick",)), None))
    assert order == ["second", "first"]
    assert [finding.step.tool for finding in findings] == ["slow", "quick"]


async def test_a_step_is_given_the_answers_that_it_needs() -> None:
    def joined(_: Anything, given: Given) -> Answer:
        words = [msgspec.json.decode(answer.data, type=Payload).said for answer in given.needed]  # type: ignore[call-overload]
        return Answer(Payload(" ".join(words)))

    tools = toolbox({"a": says("one"), "b": says("two"), "c": joined})
    findings = await all_of(Execution(tools, plan_of(("a",), ("b",), ("c", "s2", "s1")), None))
    assert msgspec.json.decode(findings[2].step.result) == {"said": "two one"}


async def test_what_needs_a_step_that_failed_fails_for_the_same_reason() -> None:
    tools = toolbox({"a": fails("no prices"), "b": says("never")})
    findings = await all_of(Execution(tools, plan_of(("a",), ("b", "s1")), None))
    assert [finding.step.error for finding in findings] == ["no prices", "no prices"]
    assert [finding.step.result for finding in findings] == [None, None]
    assert not any(finding.counted for finding in findings)


async def test_a_step_that_hangs_is_given_up_and_the_others_are_told() -> None:
    tools = toolbox({"a": hangs(), "b": says("here"), "c": says("never")})
    findings = await all_of(Execution(tools, plan_of(("a",), ("b",), ("c", "s1")), None, HASTY))
    assert [finding.step.error for finding in findings] == [
        "a took too long; try again",
        None,
        "a took too long; try again",
    ]


async def test_a_chain_of_slow_steps_ends_with_the_time_of_the_whole() -> None:
    async def nearly(_: Anything, __: Given) -> Answer:
        await asyncio.sleep(HASTY.step_s * 0.9)
        return Answer(Payload("late"))

    chain = plan_of(("a",), *(("a", f"s{i}") for i in range(1, 8)))
    findings = await all_of(Execution(toolbox({"a": nearly}), chain, None, HASTY))
    assert findings[-1].step.error == "a took too long; try again"


async def test_a_plan_that_needs_what_does_not_stand_before_is_a_defect() -> None:
    with pytest.raises(KeyError):
        Execution(toolbox({"a": says("x")}), plan_of(("a", "s1")), None)


async def test_a_tool_that_breaks_is_not_hidden() -> None:
    def broken(_: Anything, __: Given) -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await all_of(Execution(toolbox({"a": broken}), plan_of(("a",)), None))


async def test_arguments_that_a_route_would_refuse_fail_their_step_alone() -> None:
    plan = plan_of(("a",), ("a",))
    wrong = msgspec.structs.replace(plan.steps[0], args={"word": 5})
    findings = await all_of(Execution(toolbox({"a": says("yes")}), Plan((wrong, plan.steps[1])), None))
    assert findings[0].step.error == "a does not take that: Expected `str`, got `int` - at `$.word`"
    assert isinstance(findings[0].outcome, ServiceError)
    assert findings[0].outcome.code == "BAD_REQUEST"
    assert findings[1].counted


async def test_it_is_chargeable_as_soon_as_a_priced_desk_has_answered() -> None:
    begun = asyncio.Event()
    tools = toolbox({"slow": hangs(begun), "quick": waits_for(begun, says("yes"))})
    execution = Execution(tools, plan_of(("slow",), ("quick",)), None)
    async with asyncio.timeout(1):  # the slow one would take two
        assert await execution.is_chargeable()
    await execution.close()


@pytest.mark.parametrize("run", [says("nothing", counted=False), fails("nothing")])
async def test_what_its_desk_would_not_count_is_not_chargeable(run: object) -> None:
    execution = Execution(toolbox({"a": run, "free": says("x")}, ["free"]), plan_of(("a",), ("free",)), None)  # type: ignore[dict-item]
    assert not await execution.is_chargeable()
    await execution.close()


async def test_closing_ends_what_runs() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    patient = Patience(step_s=600, whole_s=600)
    execution = Execution(toolbox({"a": hangs(begun, ended)}), plan_of(("a",)), None, patient)
    await begun.wait()
    async with asyncio.timeout(10):
        await execution.close()
    assert ended.is_set()
    await execution.close()


async def test_the_oldest_instant_is_told_in_utc() -> None:
    [finding] = await all_of(Execution(toolbox({"a": says("x", as_of_ms=START_MS + 1)}), plan_of(("a",)), None))
    assert finding.step.as_of == "2025-07-25T12:00:00.001Z"
