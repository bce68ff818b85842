"""Which format a transcript is in: what its server declares, or else what it looks like."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from service.feeds.lenient import decode_text
from service.transcripts.formats import cues, podcast_html, podcast_json, written
from service.transcripts.formats.naming import LONGEST_NAME
from service.transcripts.segment import LONGEST_TRANSCRIPT, MOST_SEGMENTS, Segment, UnreadableError

Decoder = Callable[[str], Iterator[Segment]]

_DECLARED: Final[Mapping[str, Decoder]] = {
    "text/vtt": cues.decode,
    "application/x-subrip": cues.decode,
    "application/srt": cues.decode,
    "text/srt": cues.decode,
    "application/json": podcast_json.decode,
    "text/html": podcast_html.decode,
    "application/xhtml+xml": podcast_html.decode,
}
"""Types that feeds declare (Podcasting 2.0, `podcast:transcript`). Text/plain may be anything, and is looked at."""

_SEEN: Final = 2_000
"""Characters that are looked at to tell a format."""

_TIMED: Final = re.compile(r"[0-9]\s*-->\s*[0-9]")
_UNWRITTEN: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BINARY: Final = 100
"""One control character in so many is more than any text has."""


def decode(body: bytes, content_type: str | None) -> list[Segment]:
    """Read a transcript.

    Args:
        body: As it was served, decompressed.
        content_type: As the server or the feed declares it, parameters and all; null if neither does.

    Returns:
        Segments in the order of the file, at most 60,000 with a million characters: what is longer ends there.

    Raises:
        UnreadableError: If it is no transcript in any of the formats.
    """
    text = _text(body)
    declared = _DECLARED.get((content_type or "").partition(";")[0].strip().lower())
    for way in dict.fromkeys(way for way in (declared, _looked(text)) if way):
        with suppress(UnreadableError):
            segments = list(_bounded(way(text)))
            if segments:
                return segments
    raise UnreadableError("no transcript in any of the formats")


def _text(body: bytes) -> str:
    text = decode_text(body)
    if len(_UNWRITTEN.findall(text)) * _BINARY > len(text):
        raise UnreadableError("not text")
    return text


def _looked(text: str) -> Decoder:
    """The format that a text looks like."""
    begins = text[:_SEEN].lstrip("\ufeff \t\r\n")
    if begins.startswith("WEBVTT") or _TIMED.search(begins):
        return cues.decode
    if begins.startswith("{"):
        return podcast_json.decode
    if begins.startswith("<"):
        return podcast_html.decode
    return written.decode


def _bounded(segments: Iterable[Segment]) -> Iterator[Segment]:
    left = LONGEST_TRANSCRIPT
    for count, segment in enumerate(segments):
        if count >= MOST_SEGMENTS or left <= 0:
            return
        left -= len(segment.text)
        speaker = segment.speaker[:LONGEST_NAME].strip() if segment.speaker else None
        yield segment if speaker == segment.speaker else replace(segment, speaker=speaker or None)
