"""How long something lasts, as operators write it."""

import re
from typing import Final

from service.clients.cli.refusal import MISUSED, RefusalError
from service.clock import DAY_MS, HOUR_MS, LATEST_MS, MINUTE_MS

_UNITS_MS: Final = {"m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([mhdw])\Z")


def end_of(text: str | None, now_ms: int) -> int | None:
    """When something ends that begins now.

    Args:
        text: `90m`, `12h`, `30d`, `52w`, or nothing for never.
        now_ms: Now, epoch milliseconds.

    Returns:
        Epoch milliseconds; `None` for never.

    Raises:
        RefusalError: If the text is no such duration.
    """
    if text is None:
        return None
    found = _DURATION.match(text)
    if not found:
        raise RefusalError(f"--expires takes a number and a unit, such as 90m, 12h, 30d or 52w, not {text!r}", MISUSED)
    return min(now_ms + int(found[1]) * _UNITS_MS[found[2]], LATEST_MS)
