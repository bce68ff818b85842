"""What was written down of a coin at a time, wherever that is kept: in the rows of inputs, or in the ledger."""

from typing import NamedTuple

from service.wire.verdict import VerdictInputs


class Recorded(NamedTuple):
    """A coin's inputs, and when this service wrote them down, epoch milliseconds UTC.

    When each of them was observed stands in the inputs themselves: the two times of a bitemporal record.
    """

    recorded_ms: int
    inputs: VerdictInputs
