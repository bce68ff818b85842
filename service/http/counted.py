"""What rooms count, as metrics show it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct


class Reading(Struct, frozen=True):
    """One metric at one instant.

    Attributes:
        name: With its unit last, without the prefix `verdict_` and without `_total`.
        help: One sentence.
        values: Label values → value; the empty tuple where there are no labels.
        labels: Names of the labels.
        kind: A counter only grows while the process lives.
    """

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge"] = "counter"


Source = Callable[[], Iterable[Reading]]
