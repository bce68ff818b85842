"""JSON, changed into other JSON: here and there a value, a name, a piece of a text."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

RAW_OF_TEN: Final = 3
"""So many inputs of ten are changed byte by byte all the same."""

_MOST_CHANGES: Final = 4
_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 2**256, 10**400, 10**18 + 1),
    *(0.1, -0.0, 1e308, -1e308, 5e-324, 1e-9, 1e15, 1e100, 1e300, 1.5),
    *("", "0", "-1", "1_0", "+1", " 1", "1e400", "nan", "Infinity", "0x", "0x0", "0X1", "0x" + "f" * 64, "9" * 400),
    *(
        "\x00",
        "\ud800",
        "\u202e",
        "\u2028",
        "\U0010ffff",
        "\xe9",
        "e\u0301",
        "\u0661\u0662",
        "<b>",
        "&#x110000;",
        "&#xd800;",
    ),
    *("1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2025-02-30T00:00:00Z", "9999-12-31T23:59:59-23:59"),
    *([], {}, [[]], [{}], [None], {"": None}, "a" * 3_000, list(range(64))),
)


def mutate(data: bytes, largest: int, seed: int, bytewise: Callable[[bytes, int], bytes]) -> bytes:
    """Change an input.

    Args:
        data: The input.
        largest: Bytes that the outcome may have.
        seed: Of what is random here.
        bytewise: How libFuzzer itself changes bytes.

    Returns:
        Another input; no JSON where the input is none, and now and then.
    """
    random = Random(seed)  # noqa: S311 - for variety, not for secrets
    if random.randrange(10) >= RAW_OF_TEN:
        try:
            changed = _write(_change(json.loads(data), random), random)
        except (ValueError, RecursionError):
            return bytes(bytewise(data, largest))
        if len(changed) <= largest:
            return changed
    return bytes(bytewise(data, largest))


def _write(document: Any, random: Random) -> bytes:
    separators = random.choice([(",", ":"), (", ", ": ")])
    return json.dumps(document, ensure_ascii=random.random() < 0.5, separators=separators).encode(errors="replace")


def _change(document: Any, random: Random) -> Any:
    for _ in range(random.randint(1, _MOST_CHANGES)):
        document = _changed(document, random)
    return document


def _changed(node: Any, random: Random) -> Any:
    """Go down at random, and change what is there."""
    if isinstance(node, dict) and node and random.random() < 0.85:
        name = random.choice(list(node))
        return _within_object(node, name, random)
    if isinstance(node, list) and node and random.random() < 0.85:
        return _within_list(node, random.randrange(len(node)), random)
    if isinstance(node, str) and random.random() < 0.6:
        return _respelt(node, random)
    if isinstance(node, int | float) and not isinstance(node, bool) and random.random() < 0.5:
        return random.choice(
            [-node, node + 1, node * 1_000, str(node), node * 10**20, node / 7 if abs(node) < 2**64 else 0.5]
        )
    return random.choice(_VALUES)


def _within_object(node: dict[str, Any], name: str, random: Random) -> dict[str, Any]:
    way = random.randrange(12)
    if way == 0:
        return {key: value for key, value in node.items() if key != name}
    if way == 1:
        return {**node, _respelt(name, random): node[name]}
    if way == 2:
        return {**node, name: node[random.choice(list(node))]}
    return {**node, name: _changed(node[name], random)}


def _within_list(node: list[Any], place: int, random: Random) -> list[Any]:
    way = random.randrange(12)
    if way == 0:
        return node[:place] + node[place + 1 :]
    if way == 1:
        return [*node, node[place]]
    if way == 2:
        return [*node[:place], node[random.randrange(len(node))], *node[place + 1 :]]
    return [*node[:place], _changed(node[place], random), *node[place + 1 :]]


def _respelt(text: str, random: Random) -> str:
    first, last = sorted(random.randint(0, len(text)) for _ in range(2))
    other = random.choice(_VALUES)
    return random.choice(
        [
            text[:first] + text[last:],
            text[:first] + (other if isinstance(other, str) else str(random.randrange(100))) + text[first:],
            text[:first] + chr(random.randrange(1, 0x3000)) + text[last:],
            text + text[first:last],
            text.swapcase(),
        ]
    )
