"""A condition as it was found in a clause. Pure."""

from typing import NamedTuple

from service.ask.query import All, Any_, Condition, Measure, Not, Test


class FoundCondition(NamedTuple):
    """A condition, and the chunks that it takes."""

    condition: Condition
    used: frozenset[int]

    @property
    def start(self) -> int:
        """Its first chunk."""
        return min(self.used)

    @property
    def end(self) -> int:
        """The chunk after its last."""
        return max(self.used) + 1


def test_of(condition: Condition | None) -> Test | None:
    """The one test of a condition; None of several."""
    if isinstance(condition, Not):
        return test_of(condition.item)
    return condition if isinstance(condition, Test) else None


def tests_in(condition: Condition | None) -> list[Test]:
    """Every test of a condition."""
    if isinstance(condition, All | Any_):
        return [test for item in condition.items for test in tests_in(item)]
    test = test_of(condition)
    return [] if test is None else [test]


def measure_of(condition: Condition | None) -> Measure | None:
    """What the one test of a condition measures."""
    test = test_of(condition)
    return None if test is None else test.measure
