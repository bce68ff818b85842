"""State machines of hypothesis, run from a seed, with their steps counted."""

from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

STEPS = 50
"""Of one history, at the most."""


class Machine(RuleBasedStateMachine):
    """A machine that counts.

    Attributes:
        steps: How many steps have been taken and looked at, by all of its kind.
    """

    steps = 0

    @invariant()
    def it_is_counted(self) -> None:
        type(self).steps += 1


def run_machine(machine: type[Machine], seed: int, histories: int) -> int:
    """Live through so many histories, the same ones for the same seed.

    Returns:
        How many steps they had together.
    """
    machine.steps = 0
    run_state_machine_as_test(
        seeded(seed)(machine),
        settings=settings(
            max_examples=histories,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    return machine.steps
