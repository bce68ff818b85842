"""A reader and a writer of the plainest kind, until the real ones are there."""

from collections.abc import Mapping, Sequence

from service.ask.listed import Classify
from service.errors import ServiceError
from service.market.symbols import Directory
from service.wire.ask import Archetype, Classification, Entities, Plan, PlannedStep, Question, Step


def make(directory: Directory, _assets: Mapping[str, str], _categories: Sequence[str]) -> Classify:
    """A reader of tickers."""

    def classify(question: Question) -> Classification:
        coins = []
        for word in question.messages[-1].content.upper().replace("?", " ").split():
            try:
                coins.append(str(directory.resolve(word)))
            except ServiceError:
                continue
        if not coins:
            return Classification(intent="help", entities=Entities())
        return Classification(intent="overview", entities=Entities(coins=tuple(coins[:4])))

    return classify


def plan(classification: Classification, _now_ms: int) -> Plan:
    """The state of each coin, and its verdict."""
    steps: list[PlannedStep] = []
    for coin in classification.entities.coins:
        steps.append(PlannedStep(f"s{len(steps) + 1}", "coin.risk", {"symbol": coin}))
        steps.append(PlannedStep(f"s{len(steps) + 1}", "signal", {"symbol": coin}))
    return Plan(tuple(steps))


def write(
    _classification: Classification, _plan: Plan, steps: Sequence[Step], _archetype: Archetype
) -> tuple[str, ...]:
    """What was looked up, without a figure."""
    if not steps:
        return ("Ask about a coin by its ticker.",)
    return ("Looked up: " + ", ".join(f"{step.tool} {step.args}" for step in steps), "_Sources: the desks._")


def check(_text: str, _steps: Sequence[Step], _entities: Entities) -> Sequence[object]:
    """Believe everything."""
    return ()
