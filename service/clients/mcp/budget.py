"""Cuts an answer to the bytes that a model is given at most, and says what was cut."""

import json
from typing import Any, Final

DEFAULT: Final = 24 * 1024
"""Bytes of a whole answer: its structured content and its text."""

LEAST: Final = 4 * 1024
"""Fewer hold no answer that is worth its question."""

_NOTE_BYTES: Final = 120
"""Room for what is said of one cut."""

_SHORT: Final = 64
"""Bytes of a text that is left as it is: dates, and names of which there are only so many, mean nothing in part."""


def size(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def trim(text: str, room: int) -> str:
    """The beginning of a text that takes at most so many bytes as JSON, with its quotes."""
    while text and (taken := size(text)) > room:
        text = text[: min(len(text) - 1, len(text) * max(room, 0) // taken)]
    return text


def fit(answer: dict[str, Any], room: int) -> list[str]:
    """Cut the longest list or text of an answer, and the next longest, until it fits.

    A list loses its end, as lists here begin with what matters most; `series` is thinned evenly and keeps its end.

    Args:
        answer: Is changed.
        room: Bytes that it may take as JSON together with what is returned.

    Returns:
        What was cut, a sentence each.
    """
    sizes = {name: size(value) for name, value in answer.items() if isinstance(value, list | str)}
    sizes = {name: taken for name, taken in sizes.items() if isinstance(answer[name], list) or taken > _SHORT}
    notes: list[str] = []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        over = size(answer) + _NOTE_BYTES * len(notes) - room
        if over <= 0:
            break
        notes.append(_cut(answer, name, sizes[name] - over - _NOTE_BYTES))
    return notes


def _cut(answer: dict[str, Any], name: str, room: int) -> str:
    whole = answer[name]
    if isinstance(whole, str):
        answer[name] = trim(whole, room)
        return f"{name} is cut after {len(answer[name])} of {len(whole)} letters."
    if name == "series":
        step = 2
        while size(whole[::-step]) > room and step < len(whole):
            step += 1
        answer[name] = whole[::-step][::-1]
        return f"series holds one of every {step} of {len(whole)} points."
    while answer[name] and size(answer[name]) > room:
        answer[name] = answer[name][: len(answer[name]) * 9 // 10]
    return f"{len(answer[name])} of {len(whole)} {name} are shown: more would be too long."
