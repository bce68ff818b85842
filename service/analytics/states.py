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
