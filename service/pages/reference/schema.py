"""What is sent and answered, field by field."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

JsonSchema = Mapping[str, Any]

_OWN: Final = "#/components/schemas/"
_NULL: Final = {"type": "null"}
_PAIR: Final = 2
_UNITS: Final[Sequence[tuple[str, str, str]]] = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
)
"""Keywords of a least and a most, and of what."""


class TextPart(NamedTuple):
    """A piece of a sentence: plain, `code`, or the name of a `schema`, which is linked."""

    text: str
    mark: str = ""


RichText = Sequence[TextPart]


def rich_text(text: str) -> RichText:
    """Words with `code` in backticks, as CommonMark has them; a backtick without another one stands for itself."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = ["`".join(pieces[-2:])]
    parts = [TextPart(piece, "code" if place % 2 else "") for place, piece in enumerate(pieces)]
    return [part for part in parts if part.text]


def name_of(schema: JsonSchema) -> str:
    """The component that a schema refers to; empty if it refers to none."""
    return str(schema.get("$ref", "")).removeprefix(_OWN)


def kind(schema: JsonSchema) -> RichText:
    """What a value is: `integer`, `list of Crossing`, `h or d`."""
    if "$ref" in schema:
        return [TextPart(name_of(schema), "schema")]
    if "anyOf" in schema:
        return _joined([kind(each) for each in schema["anyOf"]], " or ")
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        literals = [[literal(each)] for each in values]
        return _joined(literals, " or ") if len(values) <= _PAIR else [TextPart("one of "), *_joined(literals, ", ")]
    return _inner(schema)


def _inner(schema: JsonSchema) -> RichText:
    if schema.get("type") == "array":
        return [TextPart("list of "), *kind(schema["items"])]
    if isinstance(schema.get("additionalProperties"), Mapping):
        return [TextPart("object, each value: "), *kind(schema["additionalProperties"])]
    return [TextPart(schema.get("type", "anything"))]


def _joined(said: Sequence[RichText], by: str) -> RichText:
    first, *others = said
    return [*first, *(part for each in others for part in (TextPart(by), *each))]


def literal(value: object) -> TextPart:
    """A value as it is written where it stands by itself: texts without quotes."""
    return TextPart(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "code")


def without_null(schema: JsonSchema) -> JsonSchema:
    """What a value is if it is given at all."""
    kinds = [each for each in schema.get("anyOf", ()) if each != _NULL]
    return {**kinds[0], **{key: schema[key] for key in schema if key != "anyOf"}} if len(kinds) == 1 else schema


def limits(schema: JsonSchema) -> Iterator[RichText]:
    """What a value has to keep to beside its kind."""
    for least, most, unit in _UNITS:
        if least in schema and most in schema:
            yield [TextPart(f"{schema[least]:,} to {schema[most]:,}{unit}")]
        elif least in schema:
            yield [TextPart(f"at least {schema[least]:,}{unit}")]
        elif most in schema:
            yield [TextPart(f"at most {schema[most]:,}{unit}")]
    if "format" in schema:
        yield [TextPart(schema["format"])]
    if "pattern" in schema:
        yield [TextPart("matches "), TextPart(schema["pattern"], "code")]


_SECTION: Final = re.compile(r"\n\n(Attributes|Raises):\n")
_ATTRIBUTE: Final = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)


class FieldDoc(NamedTuple):
    """One field or parameter.

    Attributes:
        name: As it is sent.
        place: `path`, `query` or `header` of a parameter.
        required: Whether it has to be there.
        kind: What it is.
        limits: What it has to keep to.
        default: What it is where it is not sent, if that is anything.
        example: A value that does, if the document has one.
        about: What it means.
    """

    name: str
    place: str
    required: bool
    kind: RichText
    limits: Sequence[RichText]
    default: TextPart | None
    example: TextPart | None
    about: RichText


class SchemaDoc(NamedTuple):
    """A schema with a name: what it is about, a paragraph each, and its fields."""

    name: str
    about: Sequence[RichText]
    fields: Sequence[FieldDoc]


def parameter_doc(row: Mapping[str, Any]) -> FieldDoc:
    """A parameter of an operation (OpenAPI's Parameter Object)."""
    inner = without_null(row["schema"])
    examples = [each["value"] for each in row.get("examples", {}).values()] or inner.get("examples", [])
    about = row.get("description", inner.get("description", ""))
    return _field(row["name"], {**inner, "examples": examples}, about, row["required"], row["in"])


def schema_doc(name: str, schema: JsonSchema) -> SchemaDoc:
    """A schema of an object. What its description says of its fields (a section `Attributes`) is said with them."""
    text, *sections = _SECTION.split(schema.get("description", ""))
    titled = dict(zip(sections[::2], sections[1::2], strict=True))
    about = {field: re.sub(r"\s+", " ", said) for field, said in _ATTRIBUTE.findall(titled.get("Attributes", ""))}
    paragraphs = [rich_text(paragraph.replace("\n", " ")) for paragraph in text.split("\n\n") if paragraph]
    return SchemaDoc(name, paragraphs, list(_fields(schema, about)))


def _fields(schema: JsonSchema, about: Mapping[str, str]) -> Iterator[FieldDoc]:
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        said = inner.get("description", without_null(inner).get("description", about.get(name, "")))
        yield _field(name, inner, said, name in required)


def _field(name: str, schema: JsonSchema, about: str, required: bool, place: str = "") -> FieldDoc:
    default, examples = schema.get("default"), schema.get("examples", ())
    return FieldDoc(
        name,
        place,
        required,
        kind(schema),
        list(limits(without_null(schema))),
        None if default in (None, [], {}) else literal(default),
        literal(examples[0]) if examples else None,
        rich_text(about),
    )
