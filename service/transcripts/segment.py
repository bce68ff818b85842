"""A piece of a transcript, as every format is read into."""

from typing import Final

from msgspec import Struct

MOST_SEGMENTS: Final = 60_000
"""Ten hours of speech, word by word, are about as many; what is longer is read to here."""

LONGEST_SEGMENT: Final = 20_000
"""Characters that are read of one segment: ten minutes of speech in one paragraph."""

LONGEST_TRANSCRIPT: Final = 1_000_000
"""Characters that are read of a transcript; a three-hour episode has about 200,000."""

LATEST_MS: Final = 48 * 3_600_000
"""No episode is longer; times beyond are no times."""


class Segment(Struct, frozen=True):
    """What was said from an instant on.

    Attributes:
        start_ms: Since the episode began; where a format has no times, the last one that was told, else 0.
        end_ms: Where it ends, if that is told.
        speaker: Who speaks, if that is told.
        text: Visible characters, blanks single, never empty.
    """

    start_ms: int
    end_ms: int | None
    speaker: str | None
    text: str


class UnreadableError(ValueError):
    """What was read is no transcript."""
