"""The HTML of the podcast namespace: who (`cite`), when (`time`), what (`p`).

Source: Podcasting 2.0, `transcripts/transcripts.md`, HTML. Read by its tags one after another, in time that grows with
the length alone: whatever is nested or left open, nothing is built, looked up or run.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from service.transcripts.cleaning import plain
from service.transcripts.formats.naming import named
from service.transcripts.segment import LONGEST_SEGMENT, TIME, Segment, read_ms

_TAG: Final = re.compile(r"<!--|<(/?)([A-Za-z][A-Za-z0-9-]*)[^<>]*>")
_TIME: Final = re.compile(TIME)
_UNSPOKEN: Final = frozenset({"script", "style", "head", "template", "noscript", "title", "textarea", "svg", "iframe"})
"""What they hold is not for readers."""

_ENDINGS: Final = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in _UNSPOKEN} | {"": re.compile("-->")}
_BLOCKS: Final = frozenset({"p", "cite", "time"})
_INLINE: Final = frozenset({"a", "abbr", "b", "code", "em", "i", "mark", "q", "s", "small", "span", "strong", "u"})
"""Tags that part no word."""


def decode(text: str) -> Iterator[Segment]:
    """Read HTML; nothing where no paragraph in it holds a word."""
    return named(list(_Page().read(text)))


class _Page:
    """Where in a page the reading is, and who has been named and when."""

    def __init__(self) -> None:
        self._inside: str | None = None
        self._words: list[str] = []
        self._speaker: str | None = None
        self._at_ms = 0

    def read(self, text: str) -> Iterator[Segment]:
        """All segments, in order."""
        for said, closes, tag in _tags(text):
            if self._inside:
                self._words.append(said)
            if tag in _BLOCKS:
                yield from self._turn(closes, tag)
            elif tag not in _INLINE:
                self._words.append(" ")
        yield from self._turn("/", "p")

    def _turn(self, closes: str, tag: str) -> Iterator[Segment]:
        """A block begins or ends: take what was gathered for what it is."""
        text = plain(html.unescape("".join(self._words)[:LONGEST_SEGMENT]))
        if self._inside == "cite":
            self._speaker = text.removesuffix(":").strip() or None
        elif self._inside == "time":
            found = _TIME.search(text)
            at_ms = read_ms(found[0]) if found else None
            self._at_ms = self._at_ms if at_ms is None else at_ms
        elif self._inside and text:
            yield Segment(self._at_ms, None, self._speaker, text)
        self._words = []
        # A paragraph goes on where a name or a time in it ends.
        self._inside = ("p" if tag != "p" else None) if closes else tag


def _tags(text: str) -> Iterator[tuple[str, str, str]]:
    """The text before each tag, `/` where that closes, its name in lower case; at last the rest, and no name."""
    at = 0
    while found := _TAG.search(text, at):
        name = (found[2] or "").lower()
        yield text[at : found.start()], found[1] or "", name
        at = found.end()
        if not name or (name in _UNSPOKEN and not found[1]):
            ending = _ENDINGS[name].search(text, at)
            if ending is None:
                return
            at = ending.start()
    yield text[at:], "", ""
