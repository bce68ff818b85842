"""Makes a tool's answer of the service's: read into its view, cleaned, qualified, cut to the budget."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from service.clients.cli.screen import age
from service.clients.mcp import budget
from service.clients.mcp.clean import clean
from service.clients.mcp.telling import tell
from service.clients.mcp.tools import Asked, Tool
from service.clients.sdk.answer import Answer, UnreadableError
from service.wire.offers import QUESTION

RECORDED: Final = "Recorded figures, replayed: not live."
"""Said of every answer of a service that runs on fixtures."""

_GIST_BYTES: Final = 2_000
"""Longest text beside structured content that says the same."""

_GIST_PART: Final = 8
_NOTES_PART: Final = 4
"""What text, and notes, may take of an answer at most: one part in so many. Notes stand in the data and in the text."""

_FRAME_BYTES: Final = 1_024
"""What the protocol puts around an answer, and its dates and cuts as they stand in the text."""


class Told(NamedTuple):
    """What a tool answers: data that its schema describes, and the gist in words."""

    structured: dict[str, Any]
    text: str


def answer(tool: Tool, asked: Asked, came: Answer, most_bytes: int, happened: str = "") -> Told:
    """Make a tool's answer.

    Args:
        tool: Which.
        asked: What it asked for.
        came: What the service answered.
        most_bytes: Of the whole answer.
        happened: What the reader has to know of the way here.

    Raises:
        UnreadableError: If the service's answer is not what the tool's schema promises.
    """
    document = came.document
    try:
        data, dates = _parts(asked, document)
        structured: dict[str, Any] = clean(msgspec.to_builtins(_view(tool, asked, data, dates)))
        said = [*([happened] if happened else []), *_notes(came.headers, data)]
        notes = _within(clean(said), most_bytes // _NOTES_PART)
        gist = budget.trim(clean(tell(asked.offer, data)), min(_GIST_BYTES, most_bytes // _GIST_PART))
    except (msgspec.ValidationError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableError(f"the service's answer is not what this tool promises: {error}") from None
    room = most_bytes - _FRAME_BYTES - 2 * budget.size(notes)
    in_words = asked.offer == QUESTION.id  # the answer is its text, which then stands in both
    notes += budget.fit(structured, room // 2 if in_words else room - budget.size(gist))
    if notes:
        structured["notes"] = " ".join(notes)
    text = structured["text"] if in_words else gist
    return Told(structured, "\n".join(filter(None, (text, _dated(structured), *notes))))


def _within(notes: list[str], room: int) -> list[str]:
    """Notes that take at most so many bytes together; what comes last may lose its end."""
    kept = []
    for note in notes:
        kept.append(budget.trim(note, room))
        room -= budget.size(kept[-1])
    return [note for note in kept if note]


def _parts(asked: Asked, document: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The payload, and when it is of."""
    if asked.offer == QUESTION.id:
        times = [source["as_of"] for source in document["sources"] if source["as_of"]]
        return document, {"as_of": min(times, default=None)}
    meta = document["meta"]
    return document["data"], {"as_of": meta["as_of"], "data_age_seconds": meta["data_age_seconds"]}


def _view(tool: Tool, asked: Asked, data: Mapping[str, Any], dates: Mapping[str, Any]) -> Any:
    shown = {**data, **data.get(asked.spread, {})}
    for key, name in asked.listed.items():
        value = data if not key else data.get(key)
        if value is not None:
            shown[name] = value if isinstance(value, list) else [value]
    return msgspec.convert({**shown, **dates}, tool.view)


def _notes(headers: Mapping[str, str], data: Mapping[str, Any]) -> Iterator[str]:
    if headers.get("x-data-source") == "fixtures":
        yield RECORDED
    if data.get("_stale_fields"):
        yield f"Not refreshed, or not known: {', '.join(data['_stale_fields'])}."
    yield from _sources(data.get("sources"))
    meta = data.get("meta", {})
    for message in (data.get("message"), meta.get("message")):
        if message:
            yield message
    lengths = [len(value) for value in data.values() if isinstance(value, list)]
    if lengths and meta.get("total", 0) > lengths[0]:
        yield f"{lengths[0]} of {meta['total']} are shown: ask with a higher limit for more."


def _sources(sources: Any) -> Iterator[str]:
    """What a verdict or an answer in words says of what it rests on."""
    if isinstance(sources, dict):
        for name, state in sources.items():
            if state != "fulfilled":
                yield f"Its {name} is {'stale' if state == 'stale' else 'missing'}."
    else:
        for source in sources or ():
            if isinstance(source, dict) and source["stale"]:
                yield f"Not refreshed in {source['tool']}: {', '.join(source['stale'])}."


def _dated(structured: Mapping[str, Any]) -> str:
    if "data_age_seconds" not in structured:
        return ""
    return f"As of {structured['as_of']}, {age(structured['data_age_seconds'])}."
