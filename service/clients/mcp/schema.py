"""JSON Schema 2020-12 of structs, kept short because a model reads all of it before its first question.

Objects are open: a tool ignores and names arguments that it does not take, and `notes` may be in every answer.

Arguments keep to what strict hosts take (OpenAI, Gemini): every schema has one `type`, enumerations hold texts, and
there is no `$ref`, no `anyOf` and no null. Hosts do not convert the schemas of answers, where null may stand.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

JsonSchema = dict[str, Any]

_KEPT: Final = frozenset({"type", "items", "description", "minimum", "maximum"})


_ANY_OBJECT: Final = {"type": "object"}
"""Says nothing of the entries of a list that a model does not see at once."""


def schema_of(kind: type[msgspec.Struct]) -> JsonSchema:
    """Describe a struct of arguments or of an answer, with every struct that it holds in its place."""
    (schema,), named = msgspec.json.schema_components([kind], ref_template="{name}")
    top = named[schema["$ref"]]
    required = {"required": top["required"]} if top["required"] else {}
    return _object(top, named) | required


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
        return {"type": "string", "enum": schema["enum"]}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    items = _short(kept.pop("items"), named) if "items" in kept else _ANY_OBJECT
    return kept if items == _ANY_OBJECT else kept | {"items": items}


def _either(branches: list[JsonSchema]) -> JsonSchema:
    """One of several: their types in one list, a null among the values of the enumeration beside it."""
    first, *_ = branches
    if "enum" in first:
        return {"enum": [*first["enum"], None]}
    return {**first, "type": [branch["type"] for branch in branches]}
