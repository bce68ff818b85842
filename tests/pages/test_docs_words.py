"""JSON Schema in words."""

from typing import Any

import pytest

from service.pages.reference.schema import RichText, kind, limits, parameter_doc, rich_text, schema_doc

REFERENCE = {"$ref": "#/components/schemas/Crossing"}


def plain(said: RichText) -> str:
    """Codes in backticks, schemas in brackets."""
    marks = {"": "{}", "code": "`{}`", "schema": "[{}]"}
    return "".join(marks[part.mark].format(part.text) for part in said)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer"}, "integer"),
        ({}, "anything"),
        ({"type": "object"}, "object"),
        (REFERENCE, "[Crossing]"),
        ({"type": "array", "items": REFERENCE}, "list of [Crossing]"),
        ({"anyOf": [REFERENCE, {"type": "null"}]}, "[Crossing] or null"),
        ({"enum": ["d", "h"]}, "`d` or `h`"),
        ({"enum": [0, 1]}, "`0` or `1`"),
        ({"enum": ["UP"]}, "`UP`"),
        ({"enum": ["a", "b", None]}, "one of `a`, `b`, `null`"),
        ({"const": 1}, "`1`"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object, each value: integer"),
        ({"type": "object", "additionalProperties": False}, "object"),
    ],
)
def test_what_a_value_is(schema: dict[str, Any], words: str) -> None:
    assert plain(kind(schema)) == words


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"minimum": 1, "maximum": 1000}, ["1 to 1,000"]),
        ({"minimum": 0}, ["at least 0"]),
        ({"maxLength": 80}, ["at most 80 characters"]),
        ({"minItems": 1, "maxItems": 20}, ["1 to 20 entries"]),
        ({"format": "date-time", "pattern": "^x$"}, ["date-time", "matches `^x$`"]),
        ({"type": "string"}, []),
    ],
)
def test_what_a_value_has_to_keep_to(schema: dict[str, Any], words: list[str]) -> None:
    assert [plain(limit) for limit in limits(schema)] == words


@pytest.mark.parametrize(
    "text", ["Check `apr` first", "`apr`", "", "none", "`a` and `b`", "one ` alone", "`a` and ` b"]
)
def test_prose_is_what_was_written(text: str) -> None:
    assert plain(rich_text(text)) == text


def test_a_lonely_backtick_marks_nothing() -> None:
    assert [part.mark for part in rich_text("`a` and ` b")] == ["code", ""]


def test_a_parameter_that_may_be_left_out_is_not_said_to_be_null() -> None:
    symbol = {"type": "string", "description": "A ticker", "examples": ["BTC"], "pattern": "^[A-Z]+$"}
    schema = {"anyOf": [symbol, {"type": "null"}], "default": None}
    told = parameter_doc({"name": "symbol", "in": "query", "required": False, "schema": schema})
    assert (told.name, told.place, told.required, told.default) == ("symbol", "query", False, None)
    assert (plain(told.kind), plain(told.about)) == ("string", "A ticker")
    assert told.example is not None
    assert told.example.text == "BTC"
    assert [plain(limit) for limit in told.limits] == ["matches `^[A-Z]+$`"]


def test_a_parameters_own_words_and_examples_come_first() -> None:
    schema = {"type": "integer", "description": "of the type", "default": 0}
    row = {"name": "n", "in": "path", "required": True, "schema": schema, "description": "own"}
    told = parameter_doc({**row, "examples": {"7": {"value": 7}}})
    assert plain(told.about) == "own"
    assert told.example is not None
    assert told.default is not None
    assert (told.example.text, told.default.text) == ("7", "0")


def test_what_a_description_says_of_fields_is_said_with_them_and_what_is_for_programmers_is_not() -> None:
    told = schema_doc(
        "Thing",
        {
            "description": "A thing\nof two lines.\n\nMore of `it`.\n\n"
            "Attributes:\n    days: For how\n        many days.\n    size: How large.\n\n"
            "Raises:\n    ValueError: Never.",
            "properties": {"days": {"type": "integer"}, "size": {"description": "its own", "enum": [1]}, "x": {}},
            "required": ["days"],
        },
    )
    assert [plain(paragraph) for paragraph in told.about] == ["A thing of two lines.", "More of `it`."]
    assert [(field.name, field.required, plain(field.about)) for field in told.fields] == [
        ("days", True, "For how many days."),
        ("size", False, "its own"),
        ("x", False, ""),
    ]


def test_an_object_without_fields_has_none() -> None:
    assert schema_doc("Empty", {"type": "object"}) == ("Empty", [], [])


@pytest.mark.parametrize(("default", "shown"), [(None, None), ([], None), ({}, None), (False, "false"), ("", "")])
def test_a_default_is_told_where_it_says_something(default: object, shown: str | None) -> None:
    told = schema_doc("A", {"properties": {"a": {"default": default}}}).fields[0].default
    assert (told and told.text) == shown
