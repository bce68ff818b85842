"""JSON Schema 2020-12 of the structs that travel, as the manifest and the OpenAPI document show them."""

import re
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import Any, Final

import msgspec

from service.wire.manifest import ParameterRow
from service.wire.offers import Offer

REFERENCE: Final = "#/components/schemas/{name}"

JsonSchema = dict[str, Any]

_IN_PATH: Final = re.compile(r"\{(\w+)\}")


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
    _, named = components([offer.parameters])
    described = named[offer.parameters.__name__]
    in_path = path_fields(offer.path)
    return [
        ParameterRow(
            name=name,
            location="path" if name in in_path else "query",
            required=name in described["required"],
            schema=schema,
        )
        for name, schema in described["properties"].items()
    ]


def _portable(value: Any, key: str = "") -> Any:
    r"""Write patterns as ECMA-262 knows them (`$` is the end of the text, there is no `\Z`), docstrings unindented."""
    if isinstance(value, str):
        return re.sub(r"\\Z\Z", "$", value) if key == "pattern" else cleandoc(value) if key == "description" else value
    if isinstance(value, Mapping):
        return {inner: _portable(value[inner], inner) for inner in value}
    return [_portable(inner) for inner in value] if isinstance(value, list | tuple) else value
