"""What is sent and answered, field by field."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from service.pages.reference.words import Part, Said, Schema, kind, limits, literal, prose, without_null

_SECTION: Final = re.compile(r"\n\n(Attributes|Raises):\n")
_ATTRIBUTE: Final = re.compile(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)


class Field(NamedTuple):
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
    kind: Said
    limits: Sequence[Said]
    default: Part | None
    example: Part | None
    about: Said


class Described(NamedTuple):
    """A schema with a name: what it is about, a paragraph each, and its fields."""

    name: str
    about: Sequence[Said]
    fields: Sequence[Field]


def parameter(row: Mapping[str, Any]) -> Field:
    """A parameter of an operation (OpenAPI's Parameter Object)."""
    inner = without_null(row["schema"])
    examples = [each["value"] for each in row.get("examples", {}).values()] or inner.get("examples", [])
    about = row.get("description", inner.get("description", ""))
    return _field(row["name"], {**inner, "examples": examples}, about, row["required"], row["in"])


def described(name: str, schema: Schema) -> Described:
    """A schema of an object. What its description says of its fields (a section `Attributes`) is said with them."""
    text, *sections = _SECTION.split(schema.get("description", ""))
    told = dict(zip(sections[::2], sections[1::2], strict=True))
    about = {field: re.sub(r"\s+", " ", said) for field, said in _ATTRIBUTE.findall(told.get("Attributes", ""))}
    paragraphs = [prose(paragraph.replace("\n", " ")) for paragraph in text.split("\n\n") if paragraph]
    return Described(name, paragraphs, list(_fields(schema, about)))


def _fields(schema: Schema, about: Mapping[str, str]) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        said = inner.get("description", without_null(inner).get("description", about.get(name, "")))
        yield _field(name, inner, said, name in required)


def _field(name: str, schema: Schema, about: str, required: bool, place: str = "") -> Field:
    default, examples = schema.get("default"), schema.get("examples", ())
    return Field(
        name,
        place,
        required,
        kind(schema),
        list(limits(without_null(schema))),
        None if default in (None, [], {}) else literal(default),
        literal(examples[0]) if examples else None,
        prose(about),
    )
