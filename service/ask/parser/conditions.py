"""Conditions in a clause: "funding above 20 %", "in a weekly uptrend", "down more than 5 % this week". Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from service.ask import query as q
from service.ask.parser.comparisons import compared, earlier_price, measured, part_of_ranking, signed, than_a_coin
from service.ask.parser.condition_tree import FoundCondition, measure_of, tests_in
from service.ask.parser.slots import Slots
from service.ask.parser.states import framed, in_state, more_confidence, moved, paying, trend

_Reader = Callable[[Slots, int, Sequence[FoundCondition]], FoundCondition | None]
_READERS: Final[Sequence[_Reader]] = (
    paying, more_confidence, part_of_ranking, earlier_price, framed, than_a_coin, measured, compared, signed,
    in_state, moved,
)  # fmt: skip
"""In the order in which they are tried at a chunk: the longer form first."""


def find_conditions(slots: Slots) -> list[FoundCondition]:
    """Every condition of a clause, in order; none begins inside another."""
    found: list[FoundCondition] = []
    at = 0
    while at < len(slots.chunks):
        one = _at(slots, at, found)
        if one is not None:
            found.append(one)
        at = at + 1 if one is None else one.end
    sideways = (test for one in found for test in tests_in(one.condition) if test.value == "HODL")
    beside = next(sideways, None)
    return found if beside is None else [_as_trend(one, beside.measure.frame) for one in found]


def _as_trend(found: FoundCondition, frame: str | None) -> FoundCondition:
    """Beside a trend without direction "up" is one, too: "how many up, how many sideways"."""
    test = found.condition
    if not isinstance(test, q.Test) or test.measure != q.Measure("change") or test.value != 0.0:
        return found
    return found._replace(condition=trend(1 if test.op == "gt" else -1, frame))


def _at(slots: Slots, at: int, before: Sequence[FoundCondition]) -> FoundCondition | None:
    negation = at if slots.chunks[at].has("neg") or slots.chunks[at].has("except") else None
    if negation is not None:
        at = slots.past(at + 1)
        if at in slots.asks("any", "all"):
            at = slots.past(at + 1)
    if at >= len(slots.chunks):
        return None
    found = next((one for reader in _READERS if (one := reader(slots, at, before)) is not None), None)
    if found is None or negation is None:
        return found
    return FoundCondition(q.Not(found.condition), found.used | {negation})


def join(found: Sequence[FoundCondition], ors: Sequence[bool]) -> q.Condition | None:
    """Join conditions: `ors[i]` says whether "or" stands before the i-th.

    "Or" binds less than "and", but for values of one measure: "bull or strong bull, in a downtrend".
    """
    if not found:
        return None
    groups: list[list[q.Condition]] = [[]]
    for one, is_or in zip(found, ors, strict=True):
        last = groups[-1][-1] if groups[-1] else None
        if is_or and last is not None and _of_one_measure(last, one.condition):
            items = last.items if isinstance(last, q.Any_) else (last,)
            groups[-1][-1] = q.Any_((*items, one.condition))
            continue
        if is_or and groups[-1]:
            groups.append([])
        groups[-1].append(one.condition)
    joined = [group[0] if len(group) == 1 else q.All(tuple(group)) for group in groups]
    return joined[0] if len(joined) == 1 else q.Any_(tuple(joined))


def _of_one_measure(one: q.Condition, other: q.Condition) -> bool:
    """Whether two conditions ask for values of one measure in one window."""
    last = one.items[-1] if isinstance(one, q.Any_) else one
    return measure_of(last) is not None and measure_of(last) == measure_of(other)
