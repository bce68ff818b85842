"""The OpenAPI document, taken apart into what the page shows."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from service.pages.reference.curl import curl
from service.pages.reference.schema import (
    FieldDoc,
    JsonSchema,
    RichText,
    SchemaDoc,
    name_of,
    parameter_doc,
    rich_text,
    schema_doc,
)
from service.pages.rendering import HtmlPage, Templates

Document = Mapping[str, Any]
_SUCCESS: Final = "200"
_JSON: Final = "application/json"


class AnswerForm(NamedTuple):
    """A form of an answer: its media type, what is around it (`envelope`, `lines`), and what it may be."""

    media_type: str
    around: str
    meta: str
    kinds: Sequence[SchemaDoc]


class OperationFailure(NamedTuple):
    """A status that is a failure, and its codes, where it has any."""

    status: str
    codes: Sequence[str]


class FailureStatus(NamedTuple):
    """A status that is a failure, all of its codes, what it means, and the schemas of its bodies by name."""

    status: str
    codes: Sequence[str]
    about: RichText
    bodies: Sequence[str]


class OperationDoc(NamedTuple):
    """An operation. `price` is empty where it is free, `callers` names the schemes, one of which a caller needs."""

    id: str
    method: str
    path: str
    summary: RichText
    price: str
    callers: Sequence[str]
    parameters: Sequence[FieldDoc]
    body: SchemaDoc | None
    answers: Sequence[AnswerForm]
    headers: Sequence[str]
    failures: Sequence[OperationFailure]
    curl: str
    lines: Sequence[str]


class ApiReference(NamedTuple):
    """All that the page shows."""

    version: str
    summary: str
    about: RichText
    base_url: str
    schemes: Sequence[tuple[str, RichText]]
    operations: Sequence[OperationDoc]
    failures: Sequence[FailureStatus]
    headers: Sequence[tuple[str, RichText]]
    schemas: Sequence[SchemaDoc]


def read_reference(document: Document, lines: Mapping[str, Sequence[str]]) -> ApiReference:
    """Take a document apart.

    Args:
        document: OpenAPI 3.1, as `service/http` writes it.
        lines: Operation id → lines of the command line that call it.
    """
    info, parts = document["info"], document["components"]
    return ApiReference(
        info["version"],
        info["summary"],
        rich_text(info["description"]),
        document["servers"][0]["url"],
        _descriptions(parts["securitySchemes"]),
        list(_operations(document, lines)),
        _failures(parts["responses"], document),
        _descriptions(parts["headers"]),
        [schema_doc(name, schema) for name, schema in sorted(parts["schemas"].items()) if not _is_envelope(schema)],
    )


def _descriptions(described_by: Mapping[str, Mapping[str, str]]) -> Sequence[tuple[str, RichText]]:
    return [(name, rich_text(each["description"])) for name, each in described_by.items()]


def _operations(document: Document, lines: Mapping[str, Sequence[str]]) -> Iterator[OperationDoc]:
    base_url = document["servers"][0]["url"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = _body(operation)
            answer = operation["responses"][_SUCCESS]
            yield OperationDoc(
                operation["operationId"],
                method.upper(),
                path,
                rich_text(operation["summary"]),
                _price(operation),
                [next(iter(each), "") for each in operation["security"]],
                [parameter_doc(row) for row in operation.get("parameters", ())],
                schema_doc(body, _schemas(document)[body]) if body else None,
                [_answer(document, media_type, form["schema"]) for media_type, form in answer["content"].items()],
                list(answer["headers"]),
                list(_failing(document, operation)),
                curl(base_url, path, method, operation, _schemas(document)[body] if body else None),
                lines.get(operation["operationId"], ()),
            )


def _schemas(document: Document) -> Mapping[str, JsonSchema]:
    schemas: Mapping[str, JsonSchema] = document["components"]["schemas"]
    return schemas


def _body(operation: Document) -> str | None:
    if "requestBody" not in operation:
        return None
    return name_of(operation["requestBody"]["content"][_JSON]["schema"])


def _price(operation: Document) -> str:
    payment = operation.get("x-payment-info")
    return f"{payment['price']['amount']} {payment['price']['currency']}" if payment else ""


def _answer(document: Document, media_type: str, schema: JsonSchema) -> AnswerForm:
    schemas = _schemas(document)
    around, meta, inner = "", "", schema
    if "x-lines" in schema:
        around, inner = "lines", schema["x-lines"]
    elif _is_envelope(schemas.get(name_of(schema), {})):
        properties = schemas[name_of(schema)]["properties"]
        around, meta, inner = "envelope", name_of(properties["meta"]), properties["data"]
    names = [name_of(each) for each in inner.get("anyOf", [inner])]
    return AnswerForm(media_type, around, meta, [schema_doc(name, schemas[name]) for name in names if name])


def _is_envelope(schema: JsonSchema) -> bool:
    return {"schemaVersion", "data", "meta"} <= set(schema.get("properties", ()))


def _failing(document: Document, operation: Document) -> Iterator[OperationFailure]:
    responses = document["components"]["responses"]
    for status, response in operation["responses"].items():
        if status != _SUCCESS:
            yield OperationFailure(status, responses[response["$ref"].rpartition("/")[2]].get("x-codes", ()))


def _kinds(response: Document) -> Sequence[JsonSchema]:
    schema = response["content"][_JSON]["schema"]
    kinds: Sequence[JsonSchema] = schema.get("anyOf", [schema])
    return kinds


def _failures(responses: Mapping[str, Document], document: Document) -> Sequence[FailureStatus]:
    """Every status that some operation fails with, in order, with whatever it may say."""
    found: dict[str, list[Document]] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status != _SUCCESS:
                    found.setdefault(status, []).append(responses[response["$ref"].rpartition("/")[2]])
    return [
        FailureStatus(
            status,
            list(dict.fromkeys(code for response in failing for code in response.get("x-codes", ()))),
            rich_text(failing[0]["description"]),
            list(dict.fromkeys(name_of(kind) for response in failing for kind in _kinds(response))),
        )
        for status, failing in sorted(found.items())
    ]


class ReferencePage:
    """Shows the page, which is written when somebody first asks for it: it is the same for as long as the service runs.

    Args:
        templates: Writes pages.
        openapi: The OpenAPI document, JSON.
        lines: Operation id → lines of the command line that call it.
    """

    def __init__(self, templates: Templates, openapi: bytes, lines: Mapping[str, Sequence[str]]) -> None:
        self._templates = templates
        self._openapi = openapi
        self._lines = lines
        self._page: HtmlPage | None = None

    async def show(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Show the page. It is rendered on a thread: that takes a tenth of a second."""
        if self._page is None:
            self._page = await asyncio.to_thread(self._write)
        return self._page

    def _write(self) -> HtmlPage:
        return self._templates.page(
            "docs.html", reference=read_reference(msgspec.json.decode(self._openapi), self._lines)
        )
