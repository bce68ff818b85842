"""Who speaks, where a transcript says so in its text: `Travis: When you first get started …`.

A label counts where the transcript begins with it, or has it twice: "Bitcoin: the question is" names no speaker. A
speaker speaks until another one is named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from service.transcripts.segment import Segment

LONGEST_NAME: Final = 60
"""Characters of a speaker's name that are kept."""

_TWICE: Final = 2
_REST: Final = r"[\w.'\u2019&-]{0,30}"
_CAPITALS: Final = r"A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f"
_PARTICLES: Final = r"(?:de|da|di|du|van|von|der|den|el|al|bin|la|le)"
NAME: Final = rf"[{_CAPITALS}0-9]{_REST}(?: (?:[{_CAPITALS}]{_REST}|{_PARTICLES}|[0-9]{{1,3}})){{0,3}}"
"""Up to four words with capitals ("Speaker 1", "Ben de Carman"); no group of its own."""

_LABEL: Final = re.compile(rf"(?:>>\s*|-\s*)?({NAME})(?:\s\(([A-Z]{{1,4}})\))?:(?:\s+|\Z)")
"""`Speaker 1: `, `Adam Jonas (AJ): `, and the chevrons of broadcast captions."""


class Label(NamedTuple):
    """A name at the beginning of a text, its initials if they are introduced, and where what is said begins."""

    name: str
    initials: str | None
    end: int


def label(text: str) -> Label | None:
    """Find a label at the beginning of a text."""
    found = _LABEL.match(text)
    return Label(found[1], found[2], found.end()) if found and not found[1].isdigit() else None


class Cast:
    """Those who speak in a transcript: the labels that count, and whom initials stand for.

    Args:
        texts: Everything that may begin with a label, in order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        labels = [label(text) for text in texts]
        found = [one for one in labels if one is not None]
        self._initials = {one.initials: one.name for one in found if one.initials is not None}
        counted = Counter(one.name for one in found)
        self._names = {name for name, times in counted.items() if times >= _TWICE}
        self._names.update(self._initials, self._initials.values())
        if labels and labels[0] is not None:
            self._names.add(labels[0].name)

    def part(self, text: str) -> tuple[str | None, str]:
        """Split a text into the speaker named at its beginning (or null) and what is said."""
        found = label(text)
        if found is None or found.name not in self._names:
            return None, text
        return self._initials.get(found.name, found.name), text[found.end :]


def named(segments: Sequence[Segment]) -> Iterator[Segment]:
    """Take the names out of the texts, where the format itself names no speakers."""
    if any(segment.speaker for segment in segments):
        yield from segments
        return
    cast = Cast(segment.text for segment in segments)
    speaker: str | None = None
    for segment in segments:
        name, text = cast.part(segment.text)
        speaker = name or speaker
        if text:
            yield replace(segment, speaker=speaker, text=text)
