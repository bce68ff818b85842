"""For whom an answer is written: what is stressed and how much is said, never a fact."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.wire.ask import Archetype


class Style(Struct, frozen=True):
    """How an answer is written.

    Attributes:
        terse: Figures first, no explanations.
        full: With tables, thresholds and what would change them.
        cautious: What is stale, missing or uncertain comes right after the main figure.
        explains: Terms are explained.
    """

    terse: bool = False
    full: bool = False
    cautious: bool = False
    explains: bool = False


_STYLES: Final[Mapping[Archetype, Style]] = {
    "base": Style(),
    "trader": Style(terse=True),
    "analyst": Style(full=True),
    "risk-manager": Style(cautious=True),
    "explainer": Style(explains=True),
}


def style_of(archetype: Archetype) -> Style:
    """The style that a persona is written for."""
    return _STYLES[archetype]
