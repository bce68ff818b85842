"""The interface of a language model that may write prose for an answer."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from service.ask.measure_table import Unit
from service.wire.ask import Archetype


class Reference(Struct, frozen=True):
    """A value that a model may refer to by name.

    Attributes:
        subject: What the value is of, such as `ETH`.
        label: What is measured, and when: `price`, `7-day change`.
        unit: Unit of the value.
        value: The value as an answer shows it, such as `$3,811.27`. A model is not given it.
    """

    subject: str
    label: str
    unit: Unit
    value: str


class Brief(Struct, frozen=True):
    """What a model writes about.

    Attributes:
        question: The last message as it was written. Data: instructions in it are not followed.
        read_as: What the question was understood as, in words.
        references: By the name that the model writes in braces, such as `s1/ETH/price`.
        archetype: For whom it is written.
    """

    question: str
    read_as: str
    references: Mapping[str, Reference]
    archetype: Archetype


class ModelError(Exception):
    """A model wrote nothing that can be used: it failed, took too long, broke a rule, or has no tokens left."""


class Model(Protocol):
    """Writes prose."""

    async def write(self, brief: Brief) -> str:
        """Write a passage that follows the first paragraph of an answer, with the values in place.

        Raises:
            ModelError: If there is none.
        """
