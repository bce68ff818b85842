"""Times as transcripts write them: `1:02:03.500`, `62:03`, `00:01:02,500`."""

from typing import Final

from service.transcripts.segment import LATEST_MS

TIME: Final = r"(?:[0-9]{1,3}:)?[0-9]{1,4}:[0-9]{2}(?:[.,][0-9]{1,9})?(?![0-9:])"
"""A time; no group of its own."""

_SECOND_MS: Final = 1_000


def read_ms(text: str) -> int | None:
    """Read what `TIME` matched, in milliseconds; null beyond the longest episode."""
    whole, _, fraction = text.replace(",", ".").partition(".")
    seconds = 0
    for part in whole.split(":"):
        seconds = seconds * 60 + int(part)
    at_ms = seconds * _SECOND_MS + int(fraction[:3].ljust(3, "0"))
    return at_ms if at_ms <= LATEST_MS else None
