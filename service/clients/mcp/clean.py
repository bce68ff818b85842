"""Text that a model may be given, whoever wrote it."""

from typing import Any

from service.clients.cli.screen import safe


def clean(value: Any) -> Any:
    """The same value, in all of whose texts what cannot be printed is replaced; line ends stay.

    Letters that nobody sees (Unicode's tags, its controls of direction and width) can carry orders to a model past the
    person who reads along.
    """
    if isinstance(value, str):
        return value if value.isprintable() else "\n".join(map(safe, value.split("\n")))
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    if isinstance(value, dict):
        return {name: clean(inner) for name, inner in value.items()}
    return value
