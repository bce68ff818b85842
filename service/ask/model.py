"""The port of a model that may write an answer's prose. It is told everything and believed nothing."""

from typing import Protocol

from msgspec import Struct

from service.wire.ask import Archetype, Step


class Brief(Struct, frozen=True):
    """What a model is given.

    Attributes:
        question: The last message as it was written: data, whatever it asks the model to do.
        steps: What was found.
        draft: The paragraphs that the rules wrote; the first has been sent already.
        archetype: For whom it is written.
    """

    question: str
    steps: tuple[Step, ...]
    draft: tuple[str, ...]
    archetype: Archetype


class ModelError(Exception):
    """A model did not write: it failed, took too long, or has used up its budget. Says which in a sentence."""


class Model(Protocol):
    """Writes prose."""

    async def write(self, brief: Brief) -> str:
        """Write what follows the first paragraph of a draft, in Markdown. Takes no longer than it may.

        Raises:
            ModelError: If it did not.
        """
