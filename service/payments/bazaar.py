"""What a priced route takes and gives, as the `bazaar` extension of its challenge: facilitators list it in catalogues.

Source: the x402 specification v2, extension `bazaar`: `info` is an example of the call, `schema` is the JSON Schema
(2020-12) that `info` meets, `routeTemplate` the path that all calls of the route share.

A challenge is a header, and a proxy such as nginx holds no more than 4 KB of an answer's head unless it is told to. So
what a route gives is shown down to its fields and no further; the OpenAPI document has all of it.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from service.wire.manifest import ParameterRow
from service.wire.offers import Offer
from service.wire.schema import JsonSchema, body_rows, components, parameter_rows

BAZAAR: Final = "bazaar"

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_TEXT: Final = "text/plain"
_SPOKEN: Final = frozenset({"title", "description", "examples", "default"})
"""What a schema says to people (no field is called so); a parameter's own description stays."""

_LONGEST_PATTERN: Final = 40
"""Characters; the OpenAPI document has longer patterns."""

_MOST_VALUES: Final = 12
"""Of an enumeration; the OpenAPI document has longer ones."""

_NULL: Final = {"type": "null"}


def declare(offer: Offer) -> dict[str, Any]:
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
    told: dict[str, JsonSchema] = {"type": {"const": "json"}, "example": _answer(offer)}
    if offer.forms[0] == _TEXT:
        told = {"type": {"const": "text"}}
    schema = {
        "$schema": _DIALECT,
        "type": "object",
        "properties": {
            "input": {"type": "object", "properties": taken, "required": list(given), "additionalProperties": False},
            "output": {"type": "object", "properties": told},
        },
        "required": ["input"],
    }
    declared = {"info": {"input": given, "output": {"type": told["type"]["const"]}}, "schema": schema}
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
    bare: JsonSchema = _unspoken(kind)
    if "format" in bare or len(bare.get("pattern", "")) > _LONGEST_PATTERN:
        del bare["pattern"]
    if len(bare.get("enum", ())) > _MOST_VALUES:
        bare = {"type": "string"}
    said = schema.get("description", kind.get("description"))
    return bare | ({"description": said.partition(";")[0]} if said else {})


def _unspoken(value: Any) -> Any:
    if isinstance(value, list):
        return [_unspoken(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {name: _unspoken(inner) for name, inner in value.items() if name not in _SPOKEN}


def _answer(offer: Offer) -> JsonSchema:
    results = (offer.result, *offer.results)
    _, named = components(results)
    kinds = [_fields(named[result.__name__], named) for result in results]
    data = kinds[0] if all(kind == kinds[0] for kind in kinds) else {"anyOf": kinds}
    return {"type": "object", "properties": {"data": data}} if offer.envelope else data


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
