"""JSON Schema 2020-12 of structs, kept short because a model reads all of it before its first question.

Arguments are closed: a tool refuses what it does not know. Answers are open, and say which fields there are and their
types: `notes` may be in every answer, and this server builds each answer from the struct of its schema.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

JsonSchema = dict[str, Any]

_KEPT: Final = frozenset({"type", "items", "description", "minimum", "maximum"})


_ANY_OBJECT: Final = {"type": "object"}
"""Says nothing of the entries of a list that a model does not see at once."""


def schema_of(kind: type[msgspec.Struct], *, closed: bool = False) -> JsonSchema:
    """Describe a struct, with every struct that it holds in its place.

    Args:
        kind: Arguments, or an answer.
        closed: Whether other properties are refused.
    """
    (schema,), named = msgspec.json.schema_components([kind], ref_template="{name}")
    top = named[schema["$ref"]]
    required = {"required": top["required"]} if top["required"] else {}
    return _object(top, named) | required | ({"additionalProperties": False} if closed else {})


def _object(schema: Mapping[str, Any], named: Mapping[str, Any]) -> JsonSchema:
    return {
        "type": "object",
        "properties": {name: _short(inner, named) for name, inner in schema["properties"].items()},
    }


def _short(schema: Mapping[str, Any], named: Mapping[str, Any]) -> JsonSchema:
    if "$ref" in schema:
        return _object(named[schema["$ref"]], named)
    if "anyOf" in schema:
        return _either([_short(branch, named) for branch in schema["anyOf"]])
    if "enum" in schema:
        return {"enum": schema["enum"]}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    items = _short(kept.pop("items"), named) if "items" in kept else _ANY_OBJECT
    return kept if items == _ANY_OBJECT else kept | {"items": items}


def _either(branches: list[JsonSchema]) -> JsonSchema:
    """One of several: their types in one list, a null among the values of the enumeration beside it."""
    first, *_ = branches
    if "enum" in first:
        return {"enum": [*first["enum"], None]}
    return {**first, "type": [branch["type"] for branch in branches]}
