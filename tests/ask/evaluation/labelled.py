"""The labelled questions of `fixtures/questions`, and the rule by which some are never read."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

FOLDER: Final = Path(__file__).resolve().parents[3] / "fixtures" / "questions"
DEV: Final = "dev"
"""What may be tuned on, and whose failures are shown."""

PRACTICE: Final = "practice"
"""Written by another hand once the classifier stood, to see what it had not met; may be tuned on."""

HELD_OUT: Final = "held-out"


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a tool; of its arguments those that are sure."""

    tool: str
    args: Mapping[str, Any]


class Fact(Struct, frozen=True, forbid_unknown_fields=True):
    """What a text must say: the value at `at` of what `tool` gives with `args`."""

    tool: str
    args: Mapping[str, Any]
    at: str


class Labelled(Struct, frozen=True, forbid_unknown_fields=True):
    """A question and what a right answer holds; the fields are described beside the files."""

    id: str
    intent: str | None
    coins: list[str]
    assets: list[str]
    categories: list[str]
    unknown: list[str]
    tools: list[Call]
    facts: list[Fact]
    refusal: str | None
    ask: str | None = None
    messages: list[tuple[str, str]] | None = None
    context: str | None = None
    may: list[str] = []

    @property
    def turns(self) -> Sequence[tuple[str, str]]:
        """The conversation, as role and text."""
        return self.messages or [("user", self.ask or "")]

    @property
    def body(self) -> dict[str, Any]:
        """What is sent."""
        asked: dict[str, Any] = {"messages": [{"role": role, "content": text} for role, text in self.turns]}
        return asked if self.context is None else {**asked, "commandContext": self.context}


def is_held_out(question_id: str) -> bool:
    """Whether a question is only ever scored."""
    return hashlib.sha256(question_id.encode()).digest()[0] % 3 == 0


def labelled(part: str) -> list[Labelled]:
    """The questions of a part."""
    lines = (FOLDER / f"{part}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Labelled) for line in lines]
