"""WebVTT and SubRip: cues between two times, after a line with an arrow.

Sources: WebVTT, W3C Candidate Recommendation, 4 and 6 (voices `<v Name>`, other tags, character references); SubRip as
players read it. Both are read leniently and alike: a comma for a point, no hours, blank lines that lack.
"""

import html
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from service.transcripts.cleaning import plain
from service.transcripts.formats.naming import named
from service.transcripts.segment import LONGEST_SEGMENT, TIME, Segment, read_ms

_ARROW: Final = "-->"
_LONGEST_TIMING: Final = 200
"""Characters in which the times of a cue stand: to look through millions of blanks would hold up everything else."""

_TIMING: Final = re.compile(rf"\s*({TIME})\s*-->\s*({TIME})")
_BAD_TIMING: Final = re.compile(r"\s{0,20}[0-9][^\s]{0,40}\s{0,20}-->")
_TAG: Final = re.compile(r"<(?:/?[A-Za-z][^<>]*|[0-9:.]+)>|\{\\[^{}]*\}")
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>")
_SILENT: Final = "</v>"


class _Cue(NamedTuple):
    start_ms: int
    end_ms: int | None
    lines: list[str]


def decode(text: str) -> Iterator[Segment]:
    """Read WebVTT or SubRip; nothing where there is no cue."""
    return named([segment for cue in _fresh(_cues(text)) for segment in _voices(cue)])


def _cues(text: str) -> Iterator[_Cue]:
    """Cues in order; comments, styles and headers have no times and are passed over."""
    cue: _Cue | None = None
    for line in text.splitlines():
        found = _TIMING.match(line[:_LONGEST_TIMING]) if _ARROW in line else None
        if not found and _BAD_TIMING.match(line):
            line = ""  # noqa: PLW2901 - ends the cue before: its text does not go on with that of the bad one
        if found:
            if cue:
                yield _Cue(cue.start_ms, cue.end_ms, _unnumbered(cue.lines))
            start_ms = read_ms(found[1])
            cue = None if start_ms is None else _Cue(start_ms, read_ms(found[2]), [])
        elif cue and line:
            cue.lines.append(line[:LONGEST_SEGMENT])
        elif cue:
            yield cue
            cue = None
    if cue:
        yield cue


def _unnumbered(lines: list[str]) -> list[str]:
    """The lines of a cue that ran into the next, without the number of that."""
    return lines[:-1] if lines and lines[-1].strip().isdigit() else lines


def _fresh(cues: Iterator[_Cue]) -> Iterator[_Cue]:
    """Cues without the line that still stands from the cue before, as captions that roll up repeat it."""
    standing = ""
    for cue in cues:
        lines = [line for line in cue.lines if line.strip()]
        bare = [_TAG.sub("", line).strip() for line in lines]
        if lines and bare[0] == standing:
            lines = lines[1:]
        standing = bare[-1] if bare else ""
        yield _Cue(cue.start_ms, cue.end_ms, lines)


def _voices(cue: _Cue) -> Iterator[Segment]:
    """What each voice of a cue says."""
    speaker: str | None = None
    said: list[str] = []
    at, joined = 0, " ".join(cue.lines)
    for tag in _TAG.finditer(joined):
        said.append(joined[at : tag.start()])
        at = tag.end()
        voice = _VOICE.match(tag[0])
        if voice or tag[0] == _SILENT:
            yield from _segment(cue, speaker, said)
            speaker, said = voice[1] if voice else None, []
    yield from _segment(cue, speaker, [*said, joined[at:]])


def _segment(cue: _Cue, speaker: str | None, said: list[str]) -> Iterator[Segment]:
    text = plain(html.unescape("".join(said)))
    if text:
        yield Segment(cue.start_ms, cue.end_ms, plain(html.unescape(speaker)) if speaker else None, text)
