"""A condition as it was found in a clause. Pure."""

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import structs

from service.ask import query as q

OPPOSITE: Final[dict[q.Comparator, q.Comparator]] = {
    "gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne",
}  # fmt: skip
"""How a fall compares whose size compares so: down by more than 5 % is a change below -5 %."""

PAIR: Final = 2
"""Things that are set against each other."""


class FoundCondition(NamedTuple):
    """A condition, and the chunks that it takes."""

    condition: q.Condition
    used: frozenset[int]

    @property
    def start(self) -> int:
        """Its first chunk."""
        return min(self.used)

    @property
    def end(self) -> int:
        """The chunk after its last."""
        return max(self.used) + 1


def test_of(condition: q.Condition | None) -> q.Test | None:
    """The one test of a condition; None of several."""
    if isinstance(condition, q.Not):
        return test_of(condition.item)
    return condition if isinstance(condition, q.Test) else None


def tests_in(condition: q.Condition | None) -> list[q.Test]:
    """Every test of a condition."""
    if isinstance(condition, q.All | q.Any_):
        return [test for item in condition.items for test in tests_in(item)]
    test = test_of(condition)
    return [] if test is None else [test]


def mapped(condition: q.Condition, change: Callable[[q.Test], q.Condition]) -> q.Condition:
    """A condition of which each test is changed."""
    if isinstance(condition, q.Test):
        return change(condition)
    if isinstance(condition, q.All | q.Any_):
        return structs.replace(condition, items=tuple(mapped(item, change) for item in condition.items))
    return q.Not(mapped(condition.item, change)) if isinstance(condition, q.Not) else condition


def measure_of(condition: q.Condition | None) -> q.Measure | None:
    """What the one test of a condition measures."""
    test = test_of(condition)
    return None if test is None else test.measure


def contradicting(where: q.Condition | None) -> tuple[q.Condition, ...]:
    """Tests that cannot hold together, to be counted one by one: "how many gained and how many lost"."""
    if not isinstance(where, q.All | q.Any_):
        return ()
    tests = [test for item in where.items if (test := test_of(item)) is not None]
    first = tests[0] if tests else None
    if first is None or len(tests) != len(where.items) or first.measure.name == "price":
        return ()
    if len({test.measure.name for test in tests}) > 1 or len({test.measure.over for test in tests} - {None}) > 1:
        return ()
    same = all(isinstance(test.value, str) and test.measure.frame == first.measure.frame for test in tests)
    exact = all(test.op == "eq" for test in tests)
    if same and len({str(test.value).removeprefix("" if exact else "strong-") for test in tests}) == len(tests):
        return where.items
    if len(tests) == PAIR and {test.op for test in tests} == {"gt", "lt"} and {test.value for test in tests} == {0.0}:
        over = first.measure.over or tests[1].measure.over
        return tuple(structs.replace(test, measure=structs.replace(test.measure, over=over)) for test in tests)
    return ()
