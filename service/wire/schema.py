"""JSON Schema 2020-12 of the structs that travel, as the manifest and the OpenAPI document show them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from inspect import cleandoc
from typing import Any, Final

import msgspec

from service.wire.manifest import ParameterRow
from service.wire.offer import Offer

REFERENCE: Final = "#/components/schemas/{name}"

JsonSchema = dict[str, Any]

_TYPES: Final[Mapping[type, str]] = {str: "string", bool: "boolean", int: "integer"}
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_COMPACT: Final = frozenset({"type", "items", "description", "minimum", "maximum"})
_ANY_OBJECT: Final = {"type": "object"}
"""Says nothing of the entries of a list that a model does not see at once."""


def components(types: Iterable[Any]) -> tuple[list[JsonSchema], dict[str, JsonSchema]]:
    """Describe types, with every struct they reach as a named component.

    Args:
        types: Structs or annotated types.

    Returns:
        One schema a type, in order, and the components that they refer to by `REFERENCE`.
    """
    schemas, named = msgspec.json.schema_components(types, ref_template=REFERENCE)
    return [_portable(schema) for schema in schemas], {name: _portable(named[name]) for name in sorted(named)}


def path_fields(path: str) -> frozenset[str]:
    """Names of the parameters that a path template carries."""
    return frozenset(_IN_PATH.findall(path))


def parameter_rows(offer: Offer) -> list[ParameterRow]:
    """Describe the parameters of a route, in the order in which its struct declares them."""
    in_path = path_fields(offer.path)
    return [
        ParameterRow(name, "path" if name in in_path else "query", required, schema)
        for name, required, schema in _fields(offer.parameters)
    ]


def body_rows(offer: Offer) -> list[ParameterRow]:
    """Describe the fields of a route's JSON body, if it takes one, in the order in which its struct declares them."""
    fields = _fields(offer.body) if offer.body else ()
    return [ParameterRow(name, "body", required, schema) for name, required, schema in fields]


@cache
def _fields(kind: type[msgspec.Struct]) -> Sequence[tuple[str, bool, JsonSchema]]:
    """Name, whether it is required, and schema of each field; what a schema refers to stands in it."""
    _, named = components([kind])
    described = named[kind.__name__]
    return [
        (name, name in described["required"], _inlined(schema, named))
        for name, schema in described["properties"].items()
    ]


def _inlined(value: Any, named: Mapping[str, JsonSchema]) -> Any:
    if isinstance(value, list):
        return [_inlined(inner, named) for inner in value]
    if not isinstance(value, Mapping):
        return value
    if "$ref" in value:
        return _inlined(named[value["$ref"].rpartition("/")[2]], named)
    return {key: _inlined(inner, named) for key, inner in value.items()}


def _portable(value: Any, key: str = "") -> Any:
    r"""Write a schema as other languages read it.

    Patterns are of ECMA-262 (`$` is the end of the text, there is no `\Z`), enumerations and constants name their type,
    and docstrings are for callers.
    """
    if isinstance(value, str):
        convert = {"pattern": _without_z, "description": _description}.get(key)
        return convert(value) if convert else value
    if isinstance(value, Mapping):
        return _typed({inner: _portable(value[inner], inner) for inner in value})
    return [_portable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _typed(schema: JsonSchema) -> JsonSchema:
    values = schema.get("enum", [schema["const"]] if "const" in schema else ())
    if not isinstance(values, list) or not values or "type" in schema:
        return schema
    (kind,) = {_TYPES[type(value)] for value in values}
    return {"type": kind, **schema}


def _without_z(pattern: str) -> str:
    return re.sub(r"\\Z\Z", "$", pattern)


def _description(docstring: str) -> str:
    """A docstring without its indent and its `Raises`: callers see failures as codes."""
    return cleandoc(docstring).partition("\n\nRaises:")[0]


def compact_schema(kind: type[msgspec.Struct]) -> JsonSchema:
    """Describe a struct of a tool's arguments or answer, with every struct that it holds in its place.

    It is short, because a model reads all schemas before its first question. Objects are open: a tool ignores and names
    arguments that it does not take, and answers may have `notes`.

    Arguments keep to what strict hosts take (OpenAI, Gemini): every schema has one `type`, enumerations hold texts, and
    there is no `$ref`, no `anyOf` and no null. Hosts do not convert the schemas of answers, where null may stand.
    """
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
    kept = {key: value for key, value in schema.items() if key in _COMPACT}
    items = _short(kept.pop("items"), named) if "items" in kept else _ANY_OBJECT
    return kept if items == _ANY_OBJECT else kept | {"items": items}


def _either(branches: list[JsonSchema]) -> JsonSchema:
    """One of several: their types in one list, a null among the values of the enumeration beside it."""
    first, *_ = branches
    if "enum" in first:
        return {"enum": [*first["enum"], None]}
    return {**first, "type": [branch["type"] for branch in branches]}
