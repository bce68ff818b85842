"""Turns a service answer into a tool result: validated, cleaned, annotated, cut to the byte budget."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from service.client.answer import RawAnswer, UnreadableAnswerError
from service.formats import duration
from service.mcp.summaries import summarize
from service.mcp.tools import McpTool, ToolRequest
from service.wire.offers import QUESTION

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What counts as printable and shows nothing: Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties.txt) without
the controls and the unassigned. A row of variation selectors is a row of bytes."""


def clean(value: Any) -> Any:
    """The same value, in all of whose texts what cannot be printed is replaced; line ends stay.

    What can be printed and shows nothing is left out: without it a text looks as it did.

    Invisible characters (Unicode's tags, its controls of direction and width) can carry orders to a model past the
    person who reads along.
    """
    if isinstance(value, str):
        value = value if value.isascii() else _UNSEEN.sub("", value)
        if value.isprintable():
            return value
        return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in value)
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    if isinstance(value, dict):
        return {name: clean(inner) for name, inner in value.items()}
    return value


DEFAULT_BYTES: Final = 24 * 1024
"""Default byte budget of a result: structured content and text."""

LEAST_BYTES: Final = 4 * 1024
"""Least budget that holds a useful answer."""

_NOTE_BYTES: Final = 120
"""Bytes reserved for the note on one cut."""

_SHORT: Final = 64
"""Texts up to this size are never cut: part of a date or name means nothing."""


def size(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def trim(text: str, available: int) -> str:
    """The longest prefix of a text that takes at most `available` bytes as JSON, quotes included."""
    while text and (taken := size(text)) > available:
        text = text[: min(len(text) - 1, len(text) * max(available, 0) // taken)]
    return text


def fit(answer: dict[str, Any], available: int) -> list[str]:
    """Cut the longest list or text of an answer, and the next longest, until it fits.

    A list loses its end, because lists begin with what matters most; `series` is thinned evenly and keeps its end.

    Args:
        answer: Modified in place.
        available: Bytes for it and the returned notes as JSON.

    Returns:
        One sentence for each cut.
    """
    sizes = {name: size(value) for name, value in answer.items() if isinstance(value, list | str)}
    sizes = {name: taken for name, taken in sizes.items() if isinstance(answer[name], list) or taken > _SHORT}
    notes: list[str] = []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        over = size(answer) + _NOTE_BYTES * len(notes) - available
        if over <= 0:
            break
        notes.append(_cut(answer, name, sizes[name] - over - _NOTE_BYTES))
    return notes


def _cut(answer: dict[str, Any], name: str, available: int) -> str:
    whole = answer[name]
    if isinstance(whole, str):
        answer[name] = trim(whole, available)
        return f"{name} is cut after {len(answer[name])} of {len(whole)} letters."
    if name == "series":
        step = 2
        while size(whole[::-step]) > available and step < len(whole):
            step += 1
        answer[name] = whole[::-step][::-1]
        return f"series holds one of every {step} of {len(whole)} points."
    while answer[name] and size(answer[name]) > available:
        answer[name] = answer[name][: len(answer[name]) * 9 // 10]
    return f"{len(answer[name])} of {len(whole)} {name} are shown: more would be too long."


RECORDED: Final = "Recorded figures, replayed: not live."
"""Note on every answer of a service that runs on fixtures."""

_GIST_BYTES: Final = 2_000
"""Longest summary beside structured content."""

_GIST_PART: Final = 8
_NOTES_PART: Final = 4
"""What text, and notes, may take of an answer at most: one part in so many. Notes stand in the data and in the text."""

_FRAME_BYTES: Final = 1_024
"""What the protocol puts around an answer, and its dates and cuts as they stand in the text."""


class ToolResult(NamedTuple):
    """A tool's answer: structured data, and a summary in words."""

    structured: dict[str, Any]
    text: str


def make_result(tool: McpTool, asked: ToolRequest, came: RawAnswer, most_bytes: int, happened: str = "") -> ToolResult:
    """Make a tool's result.

    Args:
        tool: The tool.
        asked: The request.
        came: The service's answer.
        most_bytes: Byte budget of the result.
        happened: A first note, if any.

    Raises:
        UnreadableAnswerError: If the answer contradicts the tool's schema.
    """
    document = came.document
    in_words = asked.offer == QUESTION.id  # the answer is its text, which then stands in both
    try:
        structured: dict[str, Any] = clean(msgspec.to_builtins(_view(tool, asked, document)))
        data = document if in_words else document["data"]
        said = [*([happened] if happened else []), *_notes(came.headers, data)]
        notes = _within(clean(said), most_bytes // _NOTES_PART)
        gist = trim(clean(summarize(asked.offer, data)), min(_GIST_BYTES, most_bytes // _GIST_PART))
    except (msgspec.ValidationError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableAnswerError(f"the service's answer is not what this tool promises: {error}") from None
    available = most_bytes - _FRAME_BYTES - 2 * size(notes)
    notes += fit(structured, available // 2 if in_words else available - size(gist))
    if notes:
        structured["notes"] = " ".join(notes)
    if in_words:
        return ToolResult(structured, "\n".join(filter(None, (structured["text"], *notes))))
    dated = f"As of {structured['as_of']}, {duration(structured['data_age_seconds'])} old."
    return ToolResult(structured, "\n".join(filter(None, (gist, dated, *notes))))


def _within(notes: list[str], available: int) -> list[str]:
    """Notes cut to a number of bytes together."""
    kept = []
    for note in notes:
        kept.append(trim(note, available))
        available -= size(kept[-1])
    return list(filter(None, kept))


def _view(tool: McpTool, asked: ToolRequest, document: Any) -> Any:
    """The payload in the tool's struct, with its time and age."""
    if asked.offer == QUESTION.id:
        times = [source["as_of"] for source in document["sources"] if source["as_of"]]
        return msgspec.convert({**document, "as_of": min(times, default=None)}, tool.view)
    data, meta = document["data"], document["meta"]
    shown = {**data, **data.get(asked.spread, {})}
    for key, name in asked.listed.items():
        value = data if not key else shown.get(key)
        if value is not None:
            shown[name] = value if isinstance(value, list | str) else [value]
    return msgspec.convert({**shown, **{name: meta[name] for name in ("as_of", "data_age_seconds")}}, tool.view)


def _notes(headers: Mapping[str, str], data: Mapping[str, Any]) -> Iterator[str]:
    if headers.get("x-data-source") == "fixtures":
        yield RECORDED
    if data.get("_stale_fields"):
        yield f"Not refreshed, or not known: {', '.join(data['_stale_fields'])}."
    yield from _sources(data.get("sources") or ())
    meta = data.get("meta", {})
    for message in (data.get("message"), meta.get("message")):
        if isinstance(message, str) and message:
            yield message
    lengths = [len(value) for value in data.values() if isinstance(value, list)]
    if lengths and meta.get("total", 0) > lengths[0]:
        yield f"{lengths[0]} of {meta['total']} are shown: ask with a higher limit for more."


def _sources(sources: Any) -> Iterator[str]:
    """Notes on missing or stale sources."""
    if isinstance(sources, dict):
        for name, state in sources.items():
            if state != "fulfilled":
                yield f"Its {name} is {'stale' if state == 'stale' else 'missing'}."
    else:
        for source in sources:
            if isinstance(source, dict) and source["stale"]:
                yield f"Not refreshed in {source['tool']}: {', '.join(source['stale'])}."
