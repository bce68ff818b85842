"""Questions in plain words, asked of the whole service: the goals, on questions nobody has tuned on."""

import pytest

from tests.ask.evaluate import evaluate
from tests.ask.evaluation.labelled import HELD_OUT
from tests.ask.evaluation.scores import Scores
from tests.service.asking import Whole


@pytest.fixture(scope="module")
def scores(market: Whole) -> Scores:
    return evaluate(market, HELD_OUT)


def test_of_the_held_out_questions_nearly_all_are_taken_for_what_they_are(scores: Scores) -> None:
    assert scores.intent >= 0.95


def test_of_the_held_out_answers_nearly_all_say_every_fact(scores: Scores) -> None:
    assert scores.facts >= 0.92


def test_of_the_held_out_unanswerable_questions_nearly_all_are_refused_honestly(scores: Scores) -> None:
    assert scores.refusals >= 0.98
    assert scores.reasons >= 0.95


@pytest.mark.promise("question.bound-numbers")
def test_no_numeral_of_any_held_out_answer_is_unbound(scores: Scores) -> None:
    assert scores.unbound == 0


def test_no_held_out_answer_fails_its_own_check(scores: Scores) -> None:
    assert scores.cut == 0
