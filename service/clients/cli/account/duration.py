"""How long something lasts, as people write it."""

import re
from typing import Final

_UNITS_S: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,6})([mhdw])\Z")


def seconds_in(text: str) -> int:
    """Read `90m`, `12h`, `30d` or `52w`.

    Raises:
        ValueError: If it is no such duration.
    """
    found = _DURATION.match(text)
    if not found:
        raise ValueError(f"a duration is a number and a unit, such as 90m, 12h, 30d or 52w, not {text!r}")
    return int(found[1]) * _UNITS_S[found[2]]
