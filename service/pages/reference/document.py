"""The OpenAPI document, taken apart into what the page shows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from service.pages.reference.example import curl
from service.pages.reference.fields import Described, Field, described, parameter
from service.pages.reference.words import Said, Schema, name_of, prose

Document = Mapping[str, Any]
_SUCCESS: Final = "200"
_JSON: Final = "application/json"


class Answer(NamedTuple):
    """A form of an answer: its media type, what is around it (`envelope`, `lines`), and what it may be."""

    media_type: str
    around: str
    meta: str
    kinds: Sequence[Described]


class Failing(NamedTuple):
    """A status that is a failure, and its codes, where it has any."""

    status: str
    codes: Sequence[str]


class Failure(NamedTuple):
    """A status that is a failure, all of its codes, what it means, and the schemas of its bodies by name."""

    status: str
    codes: Sequence[str]
    about: Said
    bodies: Sequence[str]


class Operation(NamedTuple):
    """An operation. `price` is empty where it is free, `callers` names the schemes, one of which a caller needs."""

    id: str
    method: str
    path: str
    summary: Said
    price: str
    callers: Sequence[str]
    parameters: Sequence[Field]
    body: Described | None
    answers: Sequence[Answer]
    headers: Sequence[str]
    failures: Sequence[Failing]
    curl: str
    lines: Sequence[str]


class Reference(NamedTuple):
    """All that the page shows."""

    version: str
    summary: str
    about: Said
    base_url: str
    schemes: Sequence[tuple[str, Said]]
    operations: Sequence[Operation]
    failures: Sequence[Failure]
    headers: Sequence[tuple[str, Said]]
    schemas: Sequence[Described]


def read(document: Document, lines: Mapping[str, Sequence[str]]) -> Reference:
    """Take a document apart.

    Args:
        document: OpenAPI 3.1, as `service/http` writes it.
        lines: Operation id → lines of the command line that call it.
    """
    info, parts = document["info"], document["components"]
    return Reference(
        info["version"],
        info["summary"],
        prose(info["description"]),
        document["servers"][0]["url"],
        _told(parts["securitySchemes"]),
        list(_operations(document, lines)),
        _failures(parts["responses"], document),
        _told(parts["headers"]),
        [described(name, schema) for name, schema in sorted(parts["schemas"].items()) if not _is_envelope(schema)],
    )


def _told(described_by: Mapping[str, Mapping[str, str]]) -> Sequence[tuple[str, Said]]:
    return [(name, prose(each["description"])) for name, each in described_by.items()]


def _operations(document: Document, lines: Mapping[str, Sequence[str]]) -> Iterator[Operation]:
    base_url = document["servers"][0]["url"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = _body(operation)
            answer = operation["responses"][_SUCCESS]
            yield Operation(
                operation["operationId"],
                method.upper(),
                path,
                prose(operation["summary"]),
                _price(operation),
                [next(iter(each), "") for each in operation["security"]],
                [parameter(row) for row in operation.get("parameters", ())],
                described(body, _schemas(document)[body]) if body else None,
                [_answer(document, media_type, form["schema"]) for media_type, form in answer["content"].items()],
                list(answer["headers"]),
                list(_failing(document, operation)),
                curl(base_url, path, method, operation, _schemas(document)[body] if body else None),
                lines.get(operation["operationId"], ()),
            )


def _schemas(document: Document) -> Mapping[str, Schema]:
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    return schemas


def _body(operation: Document) -> str | None:
    if "requestBody" not in operation:
        return None
    return name_of(operation["requestBody"]["content"][_JSON]["schema"])


def _price(operation: Document) -> str:
    told = operation.get("x-payment-info")
    return f"{told['price']['amount']} {told['price']['currency']}" if told else ""


def _answer(document: Document, media_type: str, schema: Schema) -> Answer:
    schemas = _schemas(document)
    around, meta, inner = "", "", schema
    if "x-lines" in schema:
        around, inner = "lines", schema["x-lines"]
    elif _is_envelope(schemas.get(name_of(schema), {})):
        told = schemas[name_of(schema)]["properties"]
        around, meta, inner = "envelope", name_of(told["meta"]), told["data"]
    names = [name_of(each) for each in inner.get("anyOf", [inner])]
    return Answer(media_type, around, meta, [described(name, schemas[name]) for name in names if name])


def _is_envelope(schema: Schema) -> bool:
    return set(schema.get("properties", ())) == {"schemaVersion", "data", "meta"}


def _failing(document: Document, operation: Document) -> Iterator[Failing]:
    responses = document["components"]["responses"]
    for status, response in operation["responses"].items():
        if status != _SUCCESS:
            yield Failing(status, _codes(responses[response["$ref"].rpartition("/")[2]]))


def _kinds(response: Document) -> Sequence[Schema]:
    schema = response["content"][_JSON]["schema"]
    kinds: Sequence[Schema] = schema.get("anyOf", [schema])
    return kinds


def _codes(response: Document) -> Sequence[str]:
    told = [
        kind["properties"]["error"]["properties"]["code"]["enum"] for kind in _kinds(response) if "properties" in kind
    ]
    return told[0] if told else ()


def _failures(responses: Mapping[str, Document], document: Document) -> Sequence[Failure]:
    """Every status that some operation fails with, in order, with whatever it may say."""
    found: dict[str, list[Document]] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status != _SUCCESS:
                    found.setdefault(status, []).append(responses[response["$ref"].rpartition("/")[2]])
    return [
        Failure(
            status,
            list(dict.fromkeys(code for response in told for code in _codes(response))),
            prose(told[0]["description"]),
            list(dict.fromkeys(name_of(kind) for response in told for kind in _kinds(response))),
        )
        for status, told in sorted(found.items())
    ]
