"""The JSON of the podcast namespace: segments of a few words or of one, with times in seconds.

Source: Podcasting 2.0, `transcripts/transcripts.md`, JSON 1.0.0.
"""

import logging
import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from service.feeds.lenient import decode_rows
from service.transcripts.cleaning import plain
from service.transcripts.segment import LATEST_MS, LONGEST_SEGMENT, MOST_SEGMENTS, Segment, UnreadableError


class _Said(Struct):
    body: str = ""
    startTime: float = 0.0  # noqa: N815 -- as the namespace spells it
    endTime: float | None = None  # noqa: N815
    speaker: str | None = None


class _Transcript(Struct):
    segments: list[msgspec.Raw]


_MOST_OBJECTS: Final = 4 * MOST_SEGMENTS
"""Of a transcript; a million that hold nothing would block in the decoder for 0.2 s."""

_LONGEST_SPEAKER: Final = 1_000
_DECODER: Final = msgspec.json.Decoder(_Transcript)
_SEGMENT: Final = msgspec.json.Decoder(_Said, strict=False)
_BEGINNING: Final = re.compile(r"\s*\{[^\[\]]{0,2000}\"segments\"\s*:\s*\[")
_END: Final = re.compile(r"\}\s{0,100},?\s{0,100}\]")
"""The end of the list. Without it the file is cut off: it may be whole when it is asked for again."""

_FLAT: Final = re.compile(r"\{[^{}]*+\}")
_log: Final = logging.getLogger("verdict.transcripts")


def decode(text: str) -> Iterator[Segment]:
    """Read the JSON of the podcast namespace; numbers may be written as text.

    A bad segment costs that segment. Where the JSON itself is broken, each object in the list is read alone.

    Raises:
        UnreadableError: If it is anything else.
    """
    if text.count("{") > _MOST_OBJECTS:
        raise UnreadableError("more objects than any transcript has")
    try:
        rows = _DECODER.decode(text).segments
    except (msgspec.DecodeError, RecursionError) as error:
        begins = _BEGINNING.match(text)
        if begins is None or not _END.search(text, begins.end()):
            raise UnreadableError("not the JSON of a transcript") from error
        _log.info("The JSON of a transcript is broken.")
        rows = [msgspec.Raw(found.encode("utf-8", "replace")) for found in _FLAT.findall(text, begins.end())]
    said, lost = decode_rows(rows, _SEGMENT)
    if lost:
        _log.info("Segments of a transcript are unreadable.", extra={"lost": lost, "read": len(said)})
    return _segments(said)


def _segments(said: list[_Said]) -> Iterator[Segment]:
    for one in said:
        words = plain(one.body[:LONGEST_SEGMENT])
        start_ms = _ms(one.startTime)
        if words and start_ms is not None:
            speaker = plain(one.speaker[:_LONGEST_SPEAKER]) if one.speaker else None
            yield Segment(start_ms, None if one.endTime is None else _ms(one.endTime), speaker, words)


def _ms(seconds: float) -> int | None:
    """Milliseconds; null outside any episode, infinity and what is no number included."""
    return round(seconds * 1000) if 0 <= seconds * 1000 <= LATEST_MS else None
