"""A piece of a transcript, as every format is read into, and times as transcripts write them."""

from typing import Final

from msgspec import Struct

from service.clock import SECOND_MS

MOST_SEGMENTS: Final = 60_000
"""Ten hours of speech, word by word, are about as many; what is longer is read to here."""

LONGEST_SEGMENT: Final = 20_000
"""Characters that are read of one segment: ten minutes of speech in one paragraph."""

LONGEST_TRANSCRIPT: Final = 1_000_000
"""Characters that are read of a transcript; a three-hour episode has about 200,000."""

LATEST_MS: Final = 48 * 3_600_000
"""No episode is longer; times beyond are no times."""

TIME: Final = r"(?:[0-9]{1,3}:)?[0-9]{1,4}:[0-9]{2}(?:[.,][0-9]{1,9})?(?![0-9:])"
"""A time: `1:02:03.500`, `62:03`, `00:01:02,500`; no group of its own."""


class Segment(Struct, frozen=True):
    """What was said from an instant on.

    Attributes:
        start_ms: Since the episode began; where a format has no times, the last one that was given, else 0.
        end_ms: Where it ends, if that is given.
        speaker: Who speaks, if that is given.
        text: Visible characters, blanks single, never empty.
    """

    start_ms: int
    end_ms: int | None
    speaker: str | None
    text: str


class UnreadableError(ValueError):
    """What was read is no transcript."""


def read_ms(text: str) -> int | None:
    """Read what `TIME` matched, in milliseconds; null beyond the longest episode."""
    whole, _, fraction = text.replace(",", ".").partition(".")
    seconds = 0
    for part in whole.split(":"):
        seconds = seconds * 60 + int(part)
    at_ms = seconds * SECOND_MS + int(fraction[:3].ljust(3, "0"))
    return at_ms if at_ms <= LATEST_MS else None
