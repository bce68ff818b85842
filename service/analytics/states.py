"""The trend states, and how numpy's tables write them. Needs no numpy."""

from typing import Final, Literal

State = Literal["UP", "HODL", "DOWN"]

UP: Final = 1
HODL: Final = 0
DOWN: Final = -1
UNKNOWN: Final = 2
"""No bar on that day, or too few before it."""

NAMES: Final[dict[int, State]] = {UP: "UP", HODL: "HODL", DOWN: "DOWN"}
"""What the world calls them; `UNKNOWN` has no name."""


def days_in_state(first_day: int, last_day: int) -> int:
    """Age of a state or regime in closed days, the one number that every answer gives: 1 at the close that began it.

    Args:
        first_day: The first day at whose close it held, days from 1970-01-01 UTC.
        last_day: The last one. Days between them on which the state is unknown count as well.
    """
    return last_day - first_day + 1
