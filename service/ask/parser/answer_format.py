"""What a message says of how to answer: numbers of sentences, "no commentary", templates of JSON. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from service.ask.parser.chunks import Chunk

_TEMPLATE: Final = re.compile(
    r"""(["'])\s*:\s*(?:\.{2,}|\u2026|null|\?+|(?:["'])(?:\.{2,}|\u2026)?(?:["'])|<[^<>]{0,20}>|number|string|float|0(?:\.0+)?)(?=\s*[,}])""",
)
_LAST: Final = re.compile(r"""(["'])(?:last|mark)\1(?=\s*[:,}])""")
_MOVED: Final = re.compile(r"\b(\d+[dh]) ?%(?=\s*(?:[|,;]|(?:for|of)\b|$))")

_PROSE: Final = frozenset({
    "array", "bullet", "bullets", "caveat", "caveats", "characters", "chat", "chitchat", "comment", "commentary",
    "comments", "disclaimer", "disclaimers", "emoji", "emojis", "explanation", "explanations",
    "fluff", "formatting", "fuss", "intro", "introduction", "json", "line", "lines", "markdown", "narrative",
    "paragraph", "paragraphs", "preamble", "prose", "sentence", "sentences", "small talk", "smalltalk", "table",
    "tables", "text", "waffle", "word", "words",
})  # fmt: skip
"""What an answer is made of."""

_PARTS: Final = frozenset({
    "columns", "facts", "fields", "figures", "items", "numbers", "parts", "pieces", "points", "questions", "requests",
    "tasks", "things", "values",
})  # fmt: skip
"""What a message announces before it lists it: "two things: …"."""

_MOST: Final = frozenset({"max", "maximum", "at most", "up to"})
_LIMITS: Final = _MOST | {
    "a", "brief", "exactly", "extra", "fewer than", "just", "less than", "limit", "long", "more than", "no",
    "no more than", "not", "one", "only", "plain", "quick", "separate", "short", "single", "the", "under", "without",
}  # fmt: skip
_FOLLOWING: Final = _MOST | {"are", "is", "necessary", "needed", "not", "only", "please", "pls", "required", "wanted"}
_SHORT: Final = re.compile(r"(?:keep (?:it|this)|make it|be|stay)(?: \w+)? short$")
_NOUNS: Final = frozenset({"word", "filler", "topic"})
_PLAIN: Final = frozenset({"filler", "ask", "and", "word"})
_HAVING: Final = frozenset({"i have", "i got", "ive got"})
_OF_TIME: Final = frozenset({"last", "latest", "first", "past", "previous", "next", "most recent", "top", "from"})
_ROLES: Final = frozenset({"you", "you are", "youre", "u r"})
_IN_ROLES: Final = _PLAIN | {"measure", "holding", "topic", "set", "or", "among"}
"""Pieces of a sentence that says who answers: "You are the data node of a portfolio rebalancer."."""

_MARKS: Final = ".?!;:"


def without_templates(text: str) -> str:
    """A text whose templates of JSON or of tables name only what they are to be filled with."""
    text = _MOVED.sub(r"\1 change", _TEMPLATE.sub(r"\1", _LAST.sub(r"\1price\1", text)))
    return text.replace("|", " , ")


def how_to_answer(chunks: Sequence[Chunk], written: Sequence[str]) -> list[Chunk]:
    """Pieces of a message, with what only says how to answer as fillers."""
    said: set[int] = set()
    for at, (chunk, words) in enumerate(zip(chunks, written, strict=True)):
        noun = words.split()[-1]
        if at and chunks[at - 1].has("super") and not chunk.gap:
            continue  # "the hottest narrative"
        if chunk.kind in _NOUNS and (noun in _PROSE or words in _PROSE or (noun in _PARTS and _announces(chunks, at))):
            said |= _beside(chunks, written, at)
        elif words == "short" and _SHORT.search(" ".join(written[max(0, at - 3) : at + 1])):
            said.add(at)
        elif words in _MOST and at + 2 < len(chunks) and ":" in chunks[at + 2].gap:
            said |= {at, at + 1} if chunks[at + 1].kind == "number" else set()
    if written and written[0] in _ROLES:
        end = next((at for at, chunk in enumerate(chunks) if at and any(mark in chunk.gap for mark in _MARKS)), 0)
        said |= set(range(end)) if all(chunk.kind in _IN_ROLES for chunk in chunks[:end]) else set()
    return [structs.replace(chunk, kind="filler", words=()) if at in said else chunk for at, chunk in enumerate(chunks)]


def _announces(chunks: Sequence[Chunk], at: int) -> bool:
    """Whether a noun ends what is said before a list, or a sentence."""
    at += 1
    while at < len(chunks) and chunks[at].kind in {"word", "filler"} and not chunks[at].gap:
        at += 1
    return at == len(chunks) or any(mark in chunks[at].gap for mark in _MARKS)


def _beside(chunks: Sequence[Chunk], written: Sequence[str], at: int) -> set[int]:
    """A noun of the form of an answer with what limits it: "max 15 words", "no commentary", "text not required"."""
    first = at
    while first > 0 and not chunks[first].gap and _limits(chunks[first - 1], written[first - 1]):
        first -= 1
    opens = first == 0 or bool(chunks[first].gap)
    if not opens and chunks[first - 1].kind == "holding" and written[first - 1] in _HAVING:
        first -= 1
    elif any(chunk.kind == "number" for chunk in chunks[first:at]) and not opens:
        first -= written[first - 1] == "return"
        before = max(first - 1, 0)
        if chunks[before].kind not in {*_PLAIN, "coin", "asset"} or written[before] in _OF_TIME:
            return set()  # "the last 5 values" is no form
    last = at
    while last + 1 < len(chunks) and not chunks[last + 1].gap and written[last + 1] in _FOLLOWING:
        last += 1
    return set(range(first, last + 1)) if first < at or last > at or chunks[at].kind != "topic" else set()


def _limits(chunk: Chunk, words: str) -> bool:
    plain = chunk.kind == "number" and chunk.value.unit is None and not chunk.value.scaled
    return plain or words in _LIMITS
