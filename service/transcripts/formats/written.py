r"""What people write down: plain text and Markdown, by lines that name who speaks and perhaps when.

No standard says how. These are read, as published transcripts have them (bitcointranscripts, Otter, Rev, and others):
`NVK: 00:01:02` on a line of its own, that without a colon or with the time in brackets, `[00:01:02] NVK: text`,
`NVK (00:12): text`, `NVK: text`. Front matter, headings, links' addresses and other markup go.
"""

import re
from collections.abc import Iterator
from typing import Final

from service.transcripts.cleaning import plain
from service.transcripts.formats.naming import NAME, Cast
from service.transcripts.segment import LONGEST_SEGMENT, MOST_SEGMENTS, TIME, Segment, read_ms

_FENCE: Final = "---"
_WHOLE_TIME: Final = rf"(?=[0-9]+:[0-9]+:){TIME}"
_MARKED: Final = re.compile(
    rf"({NAME})(?:\s\([A-Z]{{1,4}}\))?(?::\s*({_WHOLE_TIME})|:?\s+[\[(]({TIME})[\])]:?|:?\s+({TIME})(?=\Z))\s*"
)
"""A name and a time: all that a line holds, but where the time has hours or stands in brackets."""

_TIMED: Final = re.compile(rf"\A[\[(]?({TIME})[\])]?(?:\s*-\s+|\s+|\Z)")
_UNSAID: Final = re.compile(r"#{1,6}\s|={3,}\Z|-{3,}\Z|\{\{.*\}\}\Z|<!--|[^:]{1,80}:\s*<?https?://\S+\Z")
"""Headings, rules, templates, and notes of where something is found."""

_LINK: Final = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)|<https?://[^<>\s]*>|https?://\S+")
_MARKUP: Final = re.compile(r"\\(?=[^\w\s])|\*{1,3}|`{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|^(?:>\s*|[*+-]\s+)+")


def decode(text: str) -> Iterator[Segment]:
    """Read plain text or Markdown; nothing where there is no word in it."""
    lines = [_bare(line) for line in _body(text.splitlines())]
    return _segments(lines, Cast(_TIMED.sub("", line, count=1) for line in lines if line))


def _body(lines: list[str]) -> Iterator[str]:
    """Lines after the front matter; headings and lists of links are blank lines."""
    begins = 0
    if lines and lines[0].strip() == _FENCE and _FENCE in (rest := [line.strip() for line in lines[1:]]):
        begins = rest.index(_FENCE) + 2
    for line in lines[begins : begins + MOST_SEGMENTS]:
        stripped = line.strip()[:LONGEST_SEGMENT]
        yield "" if _UNSAID.match(stripped) else stripped


def _bare(line: str) -> str:
    return plain(_MARKUP.sub("", _LINK.sub(r"\1", line)))


def _segments(lines: list[str], cast: Cast) -> Iterator[Segment]:
    """A segment for whatever is said under one name and time: its lines only break where somebody broke them."""
    speaker: str | None = None
    at_ms, said, length = 0, list[str](), 0
    for line in lines:
        who, line_ms, text = _read(line, cast)
        if said and (who or line_ms is not None or length > LONGEST_SEGMENT):
            yield Segment(at_ms, None, speaker, " ".join(said))
            said, length = [], 0
        speaker = who or speaker
        at_ms = at_ms if line_ms is None else line_ms
        if text:
            said.append(text)
            length += len(text)
    if said:
        yield Segment(at_ms, None, speaker, " ".join(said))


def _read(line: str, cast: Cast) -> tuple[str | None, int | None, str]:
    """Who is named by a line, the time that it tells, and what is said in it."""
    marked = _MARKED.match(line)
    if marked and not marked[1].isdigit():
        return marked[1], read_ms(marked[2] or marked[3] or marked[4]), line[marked.end() :]
    timed = _TIMED.match(line)
    rest = line[timed.end() :] if timed else line
    who, text = cast.part(rest)
    return who, read_ms(timed[1]) if timed else None, text
