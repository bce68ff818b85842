"""Asking the classifier, over everything the fixtures name."""

from functools import cache

from service.ask.classify import Classifier
from service.ask.plan import plan
from service.wire.ask import Classification, Message, PlannedStep, Question
from tests.ask.universe import reader
from tests.fakes.clock import FakeClock


@cache
def classifier() -> Classifier:
    return Classifier(reader())


def classified(*said: str, context: str | None = None, answers: str = "Here is what I found.") -> Classification:
    """What the last of these messages is taken for; between them stand answers."""
    messages = []
    for text in said:
        messages += [Message("user", text), Message("assistant", answers)]
    return classifier().classify(Question(messages=messages[:-1], commandContext=context))


def planned(*said: str, context: str | None = None) -> list[tuple[str, dict[str, object]]]:
    """What is looked up for the last of these messages."""
    return [(step.tool, dict(step.args)) for step in steps_of(*said, context=context)]


def steps_of(*said: str, context: str | None = None) -> tuple[PlannedStep, ...]:
    return plan(classified(*said, context=context), FakeClock().now_ms()).steps
