"""Sentences of segments: who said what, from when. Pure.

Segments are cut where a line of captions is full or a word ends; sentences are what is quoted. A sentence ends at a
full stop, question or exclamation mark that no abbreviation explains, where somebody else speaks, in a pause, and
where it is too long to be quoted.

It starts with its segment. In a segment of more than ten seconds (a paragraph), with a known end, its start is
estimated by how many characters of the segment stand before it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from service.transcripts.segment import Segment

LONGEST_SENTENCE: Final = 300
"""Characters; speech without full stops, as machines write it down, is cut here."""

PAUSE_MS: Final = 2_500
"""Silence that ends a sentence without a full stop."""

_EXACT_MS: Final = 10_000
"""In a segment no longer than this, every sentence starts with it: captions are never longer."""

_END: Final = re.compile(r"(?:(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]*+(?=\s)|[\u3002\uff01\uff1f])\s*")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|inc|corp|ltd|co|jr|sr|no|u\.s|u\.k|a\.m|p\.m)|(?<!\w)[A-Z])\.\Z",
    re.IGNORECASE,
)
_ALWAYS: Final = re.compile(r"(?:etc|inc|corp|ltd|co|jr|sr|u\.s|u\.k|a\.m|p\.m)\.\Z", re.IGNORECASE)


class Sentence(Struct, frozen=True):
    """A sentence, when it begins in milliseconds since the episode did, and who says it."""

    start_ms: int
    speaker: str | None
    text: str


class _Piece(NamedTuple):
    """A segment within its turn: where its text begins there, when it starts, and its milliseconds a character."""

    at: int
    start_ms: int
    pace_ms: float


def merge(segments: Sequence[Segment]) -> list[Sentence]:
    """Make sentences of segments, in their order."""
    return [sentence for turn in _turns(segments) for sentence in _sentences(turn, segments)]


def _turns(segments: Sequence[Segment]) -> Iterator[range]:
    """Runs of segments that one speaker says without a pause."""
    begins = 0
    for at in range(1, len(segments)):
        before, after = segments[at - 1], segments[at]
        silent = before.end_ms is not None and after.start_ms - before.end_ms >= PAUSE_MS
        if before.speaker != after.speaker or silent:
            yield range(begins, at)
            begins = at
    if segments:
        yield range(begins, len(segments))


def _sentences(turn: range, segments: Sequence[Segment]) -> Iterator[Sentence]:
    pieces: list[_Piece] = []
    texts: list[str] = []
    length = 0
    for at in turn:
        segment = segments[at]
        pieces.append(_Piece(length, segment.start_ms, _pace_ms(segments, at)))
        texts.append(segment.text)
        length += len(segment.text) + 1
    text = " ".join(texts)
    piece = 0
    for begins, ends in _cuts(text):
        while piece + 1 < len(pieces) and pieces[piece + 1].at <= begins:
            piece += 1
        found = pieces[piece]
        start_ms = found.start_ms + int((begins - found.at) * found.pace_ms)
        yield Sentence(start_ms, segments[turn.start].speaker, text[begins:ends].rstrip())


def _pace_ms(segments: Sequence[Segment], at: int) -> float:
    """Milliseconds a character of a segment; 0 where its sentences all start with it."""
    segment = segments[at]
    ends_ms = [following.start_ms for following in segments[at + 1 : at + 2]]
    if segment.end_ms is not None:
        ends_ms.append(segment.end_ms)
    lasts_ms = min(ends_ms, default=segment.start_ms) - segment.start_ms
    return lasts_ms / len(segment.text) if lasts_ms > _EXACT_MS else 0.0


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    begins = 0
    for found in _END.finditer(text):
        if not _goes_on(text, found):
            yield from _short(text, begins, found.end())
            begins = found.end()
    if begins < len(text):
        yield from _short(text, begins, len(text))


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence goes on after a full stop."""
    head = text[max(0, found.start() - 8) : found.start() + 1]
    follows = text[found.end() : found.end() + 1]
    if found[0].rstrip() == "." and _ABBREVIATED.search(head):
        return not (_ALWAYS.search(head) and follows.isupper())
    return follows.islower() and found[0].rstrip() in {"...", "\u2026"}


def _short(text: str, begins: int, ends: int) -> Iterator[tuple[int, int]]:
    """A sentence in parts that can be quoted, cut after a comma or else a word where there is one."""
    while ends - begins > LONGEST_SENTENCE:
        latest = begins + LONGEST_SENTENCE
        earliest = begins + LONGEST_SENTENCE // 2
        comma = text.rfind(", ", earliest, latest)
        cut = comma if comma >= 0 else text.rfind(" ", earliest, latest)
        cut = latest if cut < 0 else cut + 1
        yield begins, cut
        begins = cut + (text[cut : cut + 1] == " ")
    if begins < ends:
        yield begins, ends
