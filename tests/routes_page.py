"""Writes docs/routes.md: every data route with its parameters, a call in three languages, and a real answer.

The text comes from the service's OpenAPI document, the examples from the table in docs/http-api.md, and the answers
from a service on the bundled recording. `python -m tests.routes_page` writes the page; tests/test_routes_page.py
compares it and runs every example.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from service.pages.reference.schema import FieldDoc, parameter_doc
from tests.fakes.serving import WHOLE, Serving, serving, wait_until

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PAGE: Final = DOCS / "routes.md"
BASE: Final = "http://127.0.0.1:8402"
SHOWN_ELEMENTS: Final = 1
"""How many elements of a list an answer shows; the page says how many more there are."""

SHOWN_FIELDS: Final = 24
"""How many fields of an inner object an answer shows."""

SHOWN_CHARACTERS: Final = 100
"""How much of a text an answer shows."""

LONGEST_PATTERN: Final = 60
"""A longer pattern is left out: the parameter's meaning says the same in words."""

INTRODUCTION: Final = f"""\
# Routes

Every data route with its parameters, a call, and the answer of a service on the bundled recording. Lists are cut after
the first element, long texts after some words. The calls read the key from the environment variable `KEY`; `make run`
prints one. Start with [HTTP API](http-api.md) for quota, errors and ages. This page is written by `make commands`; a
test compares it with the service and runs every call.

Every route answers `{{schemaVersion, data, meta}}`, or `{{schemaVersion, error}}` with a code. Beside the errors named
here, every route can answer `BAD_REQUEST`, `AUTH_REQUIRED`, `AUTH_INVALID`, `PAYMENT_REQUIRED`, `RATE_LIMITED`,
`UNAVAILABLE`, `INTERNAL` and the codes for malformed HTTP; <{BASE}/openapi.json> has all of them with their statuses.
"""

PYTHON: Final = """\
import json
import os
from urllib.request import Request, urlopen

url = "{url}"
request = Request(url, headers={{"Authorization": f"Bearer {{os.environ['KEY']}}"}})
with urlopen(request) as response:
    print(json.load(response)["data"])
"""

JAVASCRIPT: Final = """\
const url = "{url}";
const response = await fetch(url, {{ headers: {{ Authorization: `Bearer ${{process.env.KEY}}` }} }});
console.log((await response.json()).data);
"""


class Example(NamedTuple):
    """A call: its target and what it returns, in words."""

    target: str
    meaning: str


def examples() -> dict[str, list[Example]]:
    """Calls of docs/http-api.md by the path template they match."""
    section = (DOCS / "http-api.md").read_text().split("\n## What you can ask\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(/[^`]+)` \| `[^`]+` \| (.+) \|$", section, re.MULTILINE)
    found: dict[str, list[Example]] = {}
    for target, meaning in rows:
        found.setdefault(target.partition("?")[0].rpartition("/")[0], []).append(Example(target, meaning))
        found.setdefault(target.partition("?")[0], []).append(Example(target, meaning))
    return found


def calls_of(path: str, known: Mapping[str, list[Example]]) -> Sequence[Example]:
    """The examples of one path template; a parameter is its last segment."""
    prefix, _, last = path.rpartition("/")
    return known.get(prefix if last.startswith("{") else path, ())


def shortened(value: Any, depth: int = 0) -> Any:
    """An answer with one element of each list and at most `SHOWN_FIELDS` fields of an inner object."""
    if isinstance(value, list):
        rest = len(value) - SHOWN_ELEMENTS
        shown = [shortened(each, depth + 1) for each in value[:SHOWN_ELEMENTS]]
        return [*shown, f"... {rest} more"] if rest > 0 else shown
    if isinstance(value, dict):
        fields = list(value.items())
        limit = SHOWN_FIELDS if depth > 1 else len(fields)
        cut = {
            name: "..." if name.endswith("cursor") and inner else shortened(inner, depth + 1)  # differs in each run
            for name, inner in fields[:limit]
        }
        return cut | ({"...": f"{len(fields) - limit} more fields"} if len(fields) > limit else {})
    if isinstance(value, str) and len(value) > SHOWN_CHARACTERS:
        return value[:SHOWN_CHARACTERS].rpartition(" ")[0] + " ..."
    return value


def text_of(parts: Sequence[Any]) -> str:
    """Parts of a sentence as Markdown."""
    return "".join(f"`{part.text}`" if part.mark == "code" else part.text for part in parts).replace("|", "\\|")


def parameter_row(field: FieldDoc) -> str:
    """A row of the table of parameters."""
    limits = [text for limit in field.limits if len(text := text_of(limit)) <= LONGEST_PATTERN]
    kind = ", ".join([text_of(field.kind), *limits]).replace(" or null", "")
    default = "required" if field.required else f"`{field.default.text}`" if field.default else ""
    return f"| `{field.name}` | {field.place} | {kind} | {default} | {text_of(field.about)} |"


def route(path: str, operation: Mapping[str, Any], calls: Sequence[Example], ask: Callable[[str], Any]) -> str:
    """The section of one route."""
    price = operation.get("x-payment-info", {}).get("price", {}).get("amount")
    facts = [f"{operation['summary']}.", f"{price} USDC once the quota is spent." if price else "Free; never counted."]
    codes = sorted(
        {
            code
            for name in operation["responses"].values()
            for code in name.get("$ref", "").rpartition("/")[2].split(".")
            if code.isupper() and code.startswith(("UNKNOWN", "NOT_FOUND", "UPSTREAM"))
        }
    )
    if codes:
        facts.append(f"Own errors: {', '.join(f'`{code}`' for code in codes)}.")
    fields = [parameter_doc(row) for row in operation.get("parameters", ()) if row["in"] != "header"]
    table = "\n".join(map(parameter_row, fields))
    head = "| Parameter | In | Type | Default | Meaning |\n|---|---|---|---|---|\n"
    first, *others = calls
    answer = json.dumps(shortened(ask(first.target)), indent=2, ensure_ascii=False)
    curl = f"curl -s -H \"Authorization: Bearer $KEY\" '{BASE}{first.target}'"
    also = "\n".join(f"- `{each.target}`: {each.meaning}" for each in others)
    blocks = [
        f"## GET {path}",
        " ".join(facts),
        head + table if fields else "No parameters.",
        f"```sh\n{curl}\n```",
        f"```python\n{PYTHON.format(url=BASE + first.target)}```",
        f"```javascript\n{JAVASCRIPT.format(url=BASE + first.target)}```",
        f"Answer:\n\n```json\n{answer}\n```",
        *([f"Also:\n\n{also}"] if also else []),
    ]
    return "\n\n".join(blocks) + "\n"


def page(document: Mapping[str, Any], ask: Callable[[str], Any]) -> str:
    """The whole page.

    Args:
        document: The service's OpenAPI document.
        ask: Returns the answer of a target.
    """
    known = examples()
    sections = [
        route(path, operations["get"], calls, ask)
        for path, operations in document["paths"].items()
        if "get" in operations and (calls := calls_of(path, known))
    ]
    return "\n".join([INTRODUCTION, *sections])


def answers(service: Serving, key: str) -> Callable[[str], Any]:
    """Asks a service, once it is ready, for answers that are complete: 200 and nothing stale."""
    wait_until(lambda: service.ask("/readyz")[0] == 200)

    def ask(target: str) -> Any:
        body: dict[str, Any] = {}

        def complete() -> bool:
            status, _, found = service.ask(target, key)
            body.update(found)
            return status == 200 and not found["data"].get("_stale_fields")

        wait_until(complete)
        return body

    return ask


def blocks(text: str, language: str) -> Iterator[str]:
    """The code blocks of one language."""
    yield from re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def main() -> None:
    """Write the page."""
    with TemporaryDirectory() as folder, serving(Path(folder), replay="frozen", **WHOLE) as service:
        service.make_key()
        ask = answers(service, service.make_key("--tier", "pro"))
        PAGE.write_text(page(service.ask("/openapi.json")[2], ask))


if __name__ == "__main__":
    main()
