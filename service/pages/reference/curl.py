"""A line that calls an operation."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from service.pages.reference.schema import JsonSchema, without_null

_AUTHORIZED: Final = '-H "Authorization: Bearer $VERDICT_TOKEN"'


def curl(base_url: str, path: str, method: str, operation: Mapping[str, Any], body: JsonSchema | None) -> str:
    """Write a call with what it needs and no more; what the document has no example of is written as its name.

    Args:
        base_url: Scheme and host.
        path: As the document has it.
        method: In lower case.
        operation: OpenAPI's Operation Object.
        body: Schema of the JSON body, if there is one.

    Returns:
        A line for a shell whose `VERDICT_TOKEN` holds a key or a session.
    """
    return " ".join(("curl", *_options(method, operation, body), shlex.quote(base_url + _target(path, operation))))


def _options(method: str, operation: Mapping[str, Any], body: JsonSchema | None) -> Iterator[str]:
    if any("x-lines" in form["schema"] for form in operation["responses"]["200"]["content"].values()):
        yield "-N"  # what comes is shown as it comes
    if method != ("get" if body is None else "post"):
        yield f"-X {method.upper()}"
    if operation["security"]:
        yield _AUTHORIZED
    if body is not None:
        yield "-H 'Content-Type: application/json'"
        sent = {name: _example(name, body["properties"][name]) for name in body["required"]}
        yield "-d " + shlex.quote(json.dumps(sent, ensure_ascii=False))


def _target(path: str, operation: Mapping[str, Any]) -> str:
    query: dict[str, object] = {}
    for row in _required(operation):
        examples = [each["value"] for each in row.get("examples", {}).values()]
        value = examples[0] if examples else _example(row["name"], row["schema"])
        if row["in"] == "path":
            path = path.replace(f"{{{row['name']}}}", quote(str(value), safe=""))
        else:
            query[row["name"]] = value
    return f"{path}?{urlencode(query)}" if query else path


def _required(operation: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [row for row in operation.get("parameters", ()) if row["required"]]


def _example(name: str, schema: JsonSchema) -> object:
    return without_null(schema).get("examples", [name.upper()])[0]
