"""JSON Schema 2020-12 of structs, as short as it can be said: a model is given all of it before its first question.

Every object is closed. Where an inner object always has all of its fields, it says so by their number, which with
closed properties means the same as naming each of them a second time.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

JsonSchema = dict[str, Any]

_KEPT: Final = frozenset({"type", "items", "description", "minimum", "maximum"})


def of(kind: type[msgspec.Struct]) -> JsonSchema:
    """Describe a struct, with every struct that it holds in its place.

    Args:
        kind: Arguments, or an answer.
    """
    (schema,), named = msgspec.json.schema_components([kind], ref_template="{name}")
    top = named[schema["$ref"]]
    return _object(top, named, {"required": top["required"]} if top["required"] else {})


def _object(schema: Mapping[str, Any], named: Mapping[str, Any], required: JsonSchema) -> JsonSchema:
    properties = {name: _short(inner, named) for name, inner in schema["properties"].items()}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _short(schema: Mapping[str, Any], named: Mapping[str, Any]) -> JsonSchema:
    if "$ref" in schema:
        inner = named[schema["$ref"]]
        whole = len(inner["required"]) == len(inner["properties"])
        return _object(
            inner, named, {"minProperties": len(inner["required"])} if whole else {"required": inner["required"]}
        )
    if "anyOf" in schema:
        return _either([_short(branch, named) for branch in schema["anyOf"]])
    if "enum" in schema:
        return {"enum": schema["enum"]}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    return kept | {"items": _short(kept["items"], named)} if "items" in kept else kept


def _either(branches: list[JsonSchema]) -> JsonSchema:
    """One of several: their types in one list, a null among the values of the enumeration beside it."""
    first, *_ = branches
    if "enum" in first:
        return {"enum": [*first["enum"], None]}
    return {**first, "type": [branch["type"] for branch in branches]}
