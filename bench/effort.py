"""How much is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Rounds that count, after one that does not; how long a load lasts; keep-alive connections of a load."""

    rounds: int
    seconds: float
    connections: int
