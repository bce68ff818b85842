"""One writer at its desk: given results, for a persona."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from service.ask.draft import Draft
from service.ask.evidence import Evidence
from service.ask.grounding import check
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import style_of
from service.wire.ask import Archetype, Classification, Entities, Intent, Plan, Refusal, Step
from service.wire.envelope import encode

PERSONAS: tuple[Archetype, ...] = ("base", "trader", "analyst", "risk-manager", "explainer")
AS_OF = "2026-11-21T08:02:23.000Z"


class Told(NamedTuple):
    """What was written, and what of it no result holds."""

    paragraphs: tuple[str, ...]
    unbound: tuple[object, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)

    @property
    def main(self) -> str:
        """The main figure: what is bold first."""
        return self.text.split("**")[1]


def step(tool: str, payload: Struct | Mapping[str, Any], number: int = 1, **args: Any) -> Step:
    """A step that answered, as the engine hands it on."""
    return Step(id=f"s{number}", tool=tool, args=args, result=Raw(encode(payload)), as_of=AS_OF)


def tell(
    writer: ModuleType,
    *steps: Step,
    persona: Archetype = "base",
    intent: Intent = "help",
    refusal: Refusal | None = None,
    language: str = "en",
    **entities: Any,
) -> Told:
    """Let a writer write."""
    named = msgspec.convert(entities, Entities)
    asked = Classification(intent=intent, entities=named, refusal=refusal, language=language)
    evidence, style = Evidence(steps, named), style_of(persona)
    draft = Draft(explains=style.explains)
    writer.write(Assignment(asked, Plan(()), evidence, style), draft)
    return Told(draft.paragraphs, check("\n\n".join(draft.paragraphs), evidence))
