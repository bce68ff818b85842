"""Composed questions come back as the queries that they were written from."""

import random
from collections.abc import Sequence

import pytest

from service.ask.describe import describe
from tests.ask.composed import Read, compose, examine, report

pytestmark = pytest.mark.slow

COUNT = 1_500
RIGHT = 0.995
WRONG = 0.003


@pytest.fixture(scope="module")
def read() -> Sequence[Read]:
    return [*examine(COUNT, random.Random("composed"))]  # noqa: S311 - the same questions in every run


def test_nearly_all_composed_questions_come_back_as_they_were_composed(read: Sequence[Read]) -> None:
    assert sum(one.right for one in read) >= RIGHT * COUNT, "\n".join(report(iter(read)))


def test_hardly_any_composed_question_is_answered_as_another_one(read: Sequence[Read]) -> None:
    wrong = [one for one in read if not one.right and one.understood.refusal is None]
    told = [f"{one.composed.text} -> {'; '.join(map(describe, one.understood.queries))}" for one in wrong]
    assert len(wrong) <= WRONG * COUNT, "\n".join(told[:20])


def test_the_same_dice_compose_the_same_questions() -> None:
    first, second = random.Random(7), random.Random(7)  # noqa: S311 - the same questions in every run
    assert [compose(first) for _ in range(50)] == [compose(second) for _ in range(50)]
