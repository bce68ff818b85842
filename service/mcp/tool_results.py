"""Turns an answer of the service into a tool result: validated, cleaned, with notes, cut to the byte budget."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from mcp import types

from service.client.answer import RawAnswer, UnreadableAnswerError
from service.mcp.tools import McpTool, ToolRequest
from service.wire.offers import QUESTION
from service.wire.schema import compact_schema

DEFAULT_BYTES: Final = 24 * 1024
"""Default byte budget of a result: structured content and text together, as they are sent."""

LEAST_BYTES: Final = 4 * 1024
"""Smallest budget that holds a useful answer."""

RECORDED: Final = "The figures are recorded, not live."
"""Note on every answer of a service that runs on fixtures."""

_FRAME_BYTES: Final = 512
"""Reserved for the JSON-RPC message around structured content and text."""

_CUT_BYTES: Final = 240
"""Reserved for the note on one cut."""

_SHORT_BYTES: Final = 160
"""Texts up to this size are not cut: part of a date or name means nothing."""

_NOTES_PART: Final = 4
"""Notes on the answer take at most one part in so many of the budget."""

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Printable characters that show nothing: Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties.txt) without the
controls and the unassigned. A row of variation selectors can encode bytes."""


def clean(value: Any) -> Any:
    """Replace unprintable characters in all texts of a value, names of fields included; line ends stay.

    Printable characters that show nothing are removed: the text looks the same without them. Invisible characters
    (Unicode's tags, its controls of direction and width) can carry instructions that a person does not see.
    """
    if isinstance(value, str):
        value = value if value.isascii() else _UNSEEN.sub("", value)
        if value.isprintable():
            return value
        return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in value)
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    if isinstance(value, dict):
        return {clean(name): clean(inner) for name, inner in value.items()}
    return value


def compact(value: Any) -> str:
    """A value as JSON without spaces, not limited to ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size(value: Any) -> int:
    """Bytes of a value in a result, which holds it twice: as JSON, and in the text as a JSON string of that JSON."""
    text = compact(value)
    return len(text.encode()) + len(compact(text).encode())


def trim(text: str, available: int) -> str:
    """The longest prefix of a text that has at most `available` bytes by `size`."""
    while text and (taken := size(text)) > available:
        text = text[: min(len(text) - 1, len(text) * max(available, 0) // taken)]
    return text


def make_result(
    tool: McpTool, asked: ToolRequest, came: RawAnswer, most_bytes: int, ignored: str = ""
) -> types.CallToolResult:
    """Make a tool's result: structured content, and the same as JSON in the text.

    Args:
        tool: The tool.
        asked: The request.
        came: The service's answer.
        most_bytes: Byte budget of the result.
        ignored: A note on arguments that were ignored, if any.

    Raises:
        UnreadableAnswerError: If the answer does not match the tool's schema.
    """
    document = came.document
    try:
        structured: dict[str, Any] = clean(msgspec.to_builtins(_view(tool, asked, document)))
        data = document if asked.offer == QUESTION.id else document["data"]
        notes = trim(clean(" ".join(_notes(came.headers, ignored, data, structured))), most_bytes // _NOTES_PART)
        available = most_bytes - _FRAME_BYTES - size(notes)
        cuts = fit(structured, compact_schema(tool.view)["properties"], available)
    except (msgspec.ValidationError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableAnswerError(f"The service's answer does not match the schema of {tool.name}: {error}") from None
    if notes := " ".join(filter(None, (notes, *cuts))):
        structured["notes"] = notes
    return types.CallToolResult(content=[types.TextContent(text=compact(structured))], structured_content=structured)


def fit(answer: dict[str, Any], properties: Mapping[str, Any], available: int) -> list[str]:
    """Cut the longest list, table or text of an answer, and the next longest, until it fits.

    A list loses its end, because lists begin with what matters most; `trends` loses its beginning, the oldest;
    `series` is thinned evenly and keeps its end.

    Args:
        answer: Modified in place.
        properties: Schemas of its fields. An object with named properties is not a table and is not cut.
        available: Bytes by `size` for it and the returned notes.

    Returns:
        One sentence for each cut.

    Raises:
        UnreadableAnswerError: If it does not fit after all cuts.
    """
    sizes = {name: size(value) for name, value in answer.items() if _can_be_cut(value, properties[name])}
    cuts: list[str] = []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        over = size(answer) + _CUT_BYTES * len(cuts) - available
        if over <= 0:
            break
        answer[name], cut = _cut(name, answer[name], sizes[name] - over - _CUT_BYTES)
        cuts.append(cut)
    if size(answer) + _CUT_BYTES * len(cuts) > available:
        raise UnreadableAnswerError("The service's answer is too long and cannot be cut.")
    return cuts


def _can_be_cut(value: Any, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, str):
        return size(value) > _SHORT_BYTES
    return isinstance(value, list) or (isinstance(value, dict) and "properties" not in schema)


def _cut(name: str, whole: Any, available: int) -> tuple[Any, str]:
    """A value cut to a size, and the note on it."""
    if isinstance(whole, str):
        text = trim(whole, available)
        return text, f"The first {len(text)} of {len(whole)} characters of {name} are shown."
    if name == "series":
        step = 2
        while size(whole[::-step]) > available and step < len(whole):
            step += 1
        return whole[::-step][::-1], f"One of every {step} of the {len(whole)} points of series is shown."
    kind, kept = type(whole), list(whole.items() if isinstance(whole, dict) else whole)
    part = "last" if name == "trends" else "first"
    while kept and size(kind(kept)) > available:
        most = len(kept) * 9 // 10
        kept = kept[len(kept) - most :] if part == "last" else kept[:most]
    cut = f"The {part} {len(kept)} of {len(whole)} entries of {name} are shown. More would exceed the byte budget."
    return kind(kept), cut


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


def _notes(
    headers: Mapping[str, str], ignored: str, data: Mapping[str, Any], shown: Mapping[str, Any]
) -> Iterator[str]:
    """Sentences on an answer, those that matter most first; on stale fields only if they are shown."""
    if headers.get("x-data-source") == "fixtures":
        yield RECORDED
    if ignored:
        yield ignored
    if stale := [name for name in data.get("_stale_fields", ()) if name.partition(".")[0] in shown]:
        yield f"These fields are stale or unknown: {', '.join(stale)}."
    if data.get("matches") == []:
        yield "Nothing matches. Ask your user what they mean."
    yield from _sources(data.get("sources") or ())
    meta = data.get("meta", {})
    for message in (data.get("message"), meta.get("message")):
        if isinstance(message, str) and message:
            yield message
    lengths = [len(value) for value in data.values() if isinstance(value, list)]
    if lengths and meta.get("total", 0) > lengths[0]:
        yield f"The service sent {lengths[0]} of {meta['total']} entries. `limit` sets how many."


def _sources(sources: Any) -> Iterator[str]:
    """Notes on missing or stale sources."""
    if isinstance(sources, dict):
        for name, state in sources.items():
            if state != "fulfilled":
                yield f"The source {name} is {'stale' if state == 'stale' else 'missing'}."
    else:
        for source in sources:
            if isinstance(source, dict) and source["stale"]:
                yield f"These fields of {source['tool']} are stale: {', '.join(source['stale'])}."
