"""Text that a model may be given, whoever wrote it."""

import re
from typing import Any, Final

from service.clients.cli.screen import safe

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What counts as printable and shows nothing: Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties.txt) without
the controls and the unassigned. A row of variation selectors is a row of bytes."""


def clean(value: Any) -> Any:
    """The same value, in all of whose texts what cannot be printed is replaced; line ends stay.

    What can be printed and shows nothing is left out: without it a text looks as it did.

    Letters that nobody sees (Unicode's tags, its controls of direction and width) can carry orders to a model past the
    person who reads along.
    """
    if isinstance(value, str):
        value = value if value.isascii() else _UNSEEN.sub("", value)
        return value if value.isprintable() else "\n".join(map(safe, value.split("\n")))
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    if isinstance(value, dict):
        return {name: clean(inner) for name, inner in value.items()}
    return value
