"""What targets begin with, and what they once found, read again."""

from importlib import import_module

import pytest

from tests.fuzz.target import FOUND, Target
from tests.fuzz.targets.watched import WATCHED

TARGETS: tuple[Target, ...] = tuple(
    target for room in WATCHED for target in import_module(f"tests.fuzz.targets.{room}").TARGETS
)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_that_a_target_begins_with_or_has_found_breaks_it(target: Target) -> None:
    for data in target.inputs():
        target.read(data)


def test_every_target_has_a_name_of_its_own_and_every_find_a_target() -> None:
    names = [target.name for target in TARGETS]
    assert len(set(names)) == len(names)
    assert {path.name for path in FOUND.iterdir() if path.is_dir()} <= set(names)
