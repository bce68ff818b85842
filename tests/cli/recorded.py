"""Real answers of every route, as a frozen service gave them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).resolve().parent.parent / "client" / "answers"


@cache
def _text(name: str) -> str:
    return (ANSWERS / f"{name}.json").read_text()


def answer(name: str) -> tuple[Any, Any]:
    """Data and meta of an answer, the caller's own to change."""
    document = json.loads(_text(name))
    return document["data"], document["meta"]


HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\n\u202e"
"""Retitles a terminal, clears it, goes back in the line, turns the letters around."""


_FIGURES = {"price_usdc": "0.05", "amount": "1.5"}
"""Figures that are written as text: a view reads them."""


def hostile(found: Any) -> Any:
    """The same answer, with every text in it out to steer the terminal, and a field of such a name beside each."""
    if isinstance(found, str):
        return HOSTILE + found
    if isinstance(found, list):
        return [hostile(entry) for entry in found]
    if isinstance(found, dict):
        hurt = {name: _FIGURES.get(name) or hostile(value) for name, value in found.items()}
        return {**{HOSTILE + name: value for name, value in hurt.items()}, **hurt}
    return found


def steering(lines: Iterator[str]) -> list[str]:
    """Those lines that are more than letters to look at."""
    return [line for line in lines if not line.isprintable()]
