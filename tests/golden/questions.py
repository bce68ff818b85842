"""Two hundred questions in plain words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answers import Answer
from tests.golden.asking import Request, ask, shown
from tests.golden.start import Running

_QUESTIONS: Final = Path(__file__).resolve().parent / "questions.txt"
_FORMS: Final = ("text/plain", "text/event-stream")
_IN_EVERY_FORM: Final = 20
"""Every twentieth question is asked in each form, the others as JSON only."""


async def answers_of_questions(running: Running, tokens: Mapping[str, str]) -> list[Answer]:
    """Ask them with the key of `pro`, and record the answers."""
    return [Answer(title, shown(await ask(running, request, tokens))) for title, request in _requests()]


def _requests() -> Iterator[tuple[str, Request]]:
    lines = [line for line in _QUESTIONS.read_text("utf-8").splitlines() if not line.startswith("#")]
    for number, line in enumerate(lines):
        for form in ("application/json", *(() if number % _IN_EVERY_FORM else _FORMS)):
            yield f"POST /api/cli · {line} · {form}", _question(line.split(" || "), form)


def _question(texts: Sequence[str], form: str) -> Request:
    """The last message of a user, each of which but the last was answered."""
    turns = [turn for text in texts for turn in (("user", text), ("assistant", "(answer)"))][:-1]
    body = json.dumps({"messages": [{"role": role, "content": text} for role, text in turns], "archetype": "base"})
    return Request("pro", "POST", "/api/cli", body, (("content-type", "application/json"), ("accept", form)))
