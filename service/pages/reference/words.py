"""JSON Schema and the prose of a document in words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

Schema = Mapping[str, Any]

_OWN: Final = "#/components/schemas/"
_NULL: Final = {"type": "null"}
_PAIR: Final = 2
_UNITS: Final[Sequence[tuple[str, str, str]]] = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
)
"""Keywords of a least and a most, and of what."""


class Part(NamedTuple):
    """A piece of a sentence: plain, `code`, or the name of a `schema`, which is linked."""

    text: str
    mark: str = ""


Said = Sequence[Part]


def prose(text: str) -> Said:
    """Words with `code` in backticks, as CommonMark has them; a backtick without another one stands for itself."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    parts = [Part(piece, "code" if place % 2 else "") for place, piece in enumerate(pieces)]
    return [part for part in parts if part.text]


def name_of(schema: Schema) -> str:
    """The component that a schema refers to; empty if it refers to none."""
    return str(schema.get("$ref", "")).removeprefix(_OWN)


def kind(schema: Schema) -> Said:
    """What a value is: `integer`, `list of Crossing`, `h or d`."""
    if "$ref" in schema:
        return [Part(name_of(schema), "schema")]
    if "anyOf" in schema:
        return _joined([kind(each) for each in schema["anyOf"]], " or ")
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        told = [[literal(each)] for each in values]
        return _joined(told, " or ") if len(values) <= _PAIR else [Part("one of "), *_joined(told, ", ")]
    return _inner(schema)


def _inner(schema: Schema) -> Said:
    if schema.get("type") == "array":
        return [Part("list of "), *kind(schema["items"])]
    if isinstance(schema.get("additionalProperties"), Mapping):
        return [Part("object, each value: "), *kind(schema["additionalProperties"])]
    return [Part(schema.get("type", "anything"))]


def _joined(said: Sequence[Said], by: str) -> Said:
    first, *others = said
    return [*first, *(part for each in others for part in (Part(by), *each))]


def literal(value: object) -> Part:
    """A value as it is written where it stands by itself: texts without quotes."""
    return Part(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "code")


def without_null(schema: Schema) -> Schema:
    """What a value is if it is given at all."""
    kinds = [each for each in schema.get("anyOf", ()) if each != _NULL]
    return {**kinds[0], **{key: schema[key] for key in schema if key != "anyOf"}} if len(kinds) == 1 else schema


def limits(schema: Schema) -> Iterator[Said]:
    """What a value has to keep to beside its kind."""
    for least, most, unit in _UNITS:
        if least in schema and most in schema:
            yield [Part(f"{schema[least]:,} to {schema[most]:,}{unit}")]
        elif least in schema:
            yield [Part(f"at least {schema[least]:,}{unit}")]
        elif most in schema:
            yield [Part(f"at most {schema[most]:,}{unit}")]
    if "format" in schema:
        yield [Part(schema["format"])]
    if "pattern" in schema:
        yield [Part("matches "), Part(schema["pattern"], "code")]
