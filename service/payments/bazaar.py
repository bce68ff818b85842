"""Parameters and response of a priced route, as the `bazaar` extension of its challenge, for catalogues.

Source: the x402 specification v2, extension `bazaar`: `info` is an example of the call, `schema` is the JSON Schema
(2020-12) that `info` meets, `routeTemplate` the path that all calls of the route share.

A challenge is a header, and a proxy such as nginx buffers 4 KB of response headers by default. So responses are shown
down to their fields only; the OpenAPI document describes them in full.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from service.wire.manifest import ParameterRow
from service.wire.offer import Offer
from service.wire.schema import JsonSchema, body_rows, components, parameter_rows

BAZAAR: Final = "bazaar"

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_TEXT: Final = "text/plain"
_PROSE: Final = frozenset({"title", "description", "examples", "default"})
"""What a schema says to people (no field is called so); a parameter's own description stays."""

_LONGEST_PATTERN: Final = 40
"""Characters; the OpenAPI document has longer patterns."""

_MOST_VALUES: Final = 12
"""Of an enumeration; the OpenAPI document has longer ones."""

_MOST_KINDS: Final = 4
"""Of a response; the OpenAPI document has more."""

_NULL: Final = {"type": "null"}


def bazaar_extension(offer: Offer) -> dict[str, Any]:
    """Describe a route.

    Args:
        offer: The route.

    Returns:
        The value of `extensions.bazaar`.
    """
    rows = parameter_rows(offer)
    paths = [row for row in rows if row.location == "path"]
    queries = [row for row in rows if row.location == "query"]
    given: dict[str, Any] = {"type": "http", "method": offer.method}
    taken: dict[str, JsonSchema] = {"type": {"const": "http"}, "method": {"enum": [offer.method]}}
    for name, chosen in (("pathParams", paths), ("queryParams", queries)):
        if chosen:
            given[name] = {row.name: value for row in chosen if (value := _example(row)) is not None}
            taken[name] = _object_of(chosen)
    if offer.method == "POST":
        rows = body_rows(offer)
        given |= {"bodyType": "json", "body": {row.name: _example(row) for row in rows if row.required}}
        taken |= {"bodyType": {"const": "json"}, "body": _object_of(rows)}
    output: dict[str, JsonSchema] = {"type": {"const": "json"}, "example": _output_schema(offer)}
    if offer.forms[0] == _TEXT:
        output = {"type": {"const": "text"}}
    schema = {
        "$schema": _DIALECT,
        "type": "object",
        "properties": {
            "input": {"type": "object", "properties": taken, "required": list(given), "additionalProperties": False},
            "output": {"type": "object", "properties": output},
        },
        "required": ["input"],
    }
    declared = {"info": {"input": given, "output": {"type": output["type"]["const"]}}, "schema": schema}
    return declared | ({"routeTemplate": _IN_PATH.sub(r":\1", offer.path)} if paths else {})


def _example(row: ParameterRow) -> Any:
    return row.schema["examples"][0] if row.required else row.schema["default"]


def _object_of(rows: Iterable[ParameterRow]) -> JsonSchema:
    properties = {row.name: _parameter(row.schema) for row in rows}
    required = [row.name for row in rows if row.required]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _parameter(schema: JsonSchema) -> JsonSchema:
    """A parameter without its null (a query that leaves it out says so), and without what is long.

    A pattern that its format says is left out too, and what a description says after a semicolon.
    """
    (kind,) = (kind for kind in schema.get("anyOf", [schema]) if kind != _NULL)
    bare: JsonSchema = _without_prose(kind)
    if "format" in bare or len(bare.get("pattern", "")) > _LONGEST_PATTERN:
        del bare["pattern"]
    if len(bare.get("enum", ())) > _MOST_VALUES:
        bare = {"type": "string"}
    said = schema.get("description", kind.get("description"))
    return bare | ({"description": said.partition(";")[0]} if said else {})


def _without_prose(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_prose(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    excluded = _PROSE | {"type"} if "enum" in value else _PROSE  # the values of an enumeration show their type
    return {name: _without_prose(inner) for name, inner in value.items() if name not in excluded}


def _output_schema(offer: Offer) -> JsonSchema:
    results = list(dict.fromkeys((offer.result, *offer.results)))
    if len(results) > _MOST_KINDS:
        return {"type": "object", "properties": {"data": {"type": "object"}}}
    _, named = components(results)
    first, *others = (_fields(named[result.__name__], named) for result in results)
    kinds = [first, *(kind for kind in others if not _is_form_of(kind, first))]
    data = first if len(kinds) == 1 else {"anyOf": kinds}
    return {"type": "object", "properties": {"data": data}} if offer.envelope else data


def _is_form_of(kind: JsonSchema, first: JsonSchema) -> bool:
    """Whether an answer of one kind meets the schema of the first, and most of its fields are described there."""
    fields, described = kind["properties"].items(), first["properties"]
    same = sum(described.get(name) == field for name, field in fields)
    return 2 * same > len(fields) and all(described.get(name, field) == field for name, field in fields)


def _fields(schema: JsonSchema, named: dict[str, JsonSchema]) -> JsonSchema:
    return {"properties": {name: _kind(field, named) for name, field in schema["properties"].items()}}


def _kind(schema: JsonSchema, named: dict[str, JsonSchema]) -> JsonSchema:
    kinds = _types(schema, named)
    return {"type": kinds if len(kinds) > 1 else kinds[0]}


def _types(schema: JsonSchema, named: dict[str, JsonSchema]) -> list[str]:
    if "anyOf" in schema:
        return [kind for inner in schema["anyOf"] for kind in _types(inner, named)]
    if "$ref" in schema:
        return _types(named[schema["$ref"].rpartition("/")[2]], named)
    return ["string" if "enum" in schema else schema["type"]]
