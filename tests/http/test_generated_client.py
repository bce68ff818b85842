"""A client generated from the OpenAPI document by openapi-python-client has every route and reads recorded answers."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType
from openapi_python_client.parser.errors import GeneratorError

from service.http.openapi import document
from service.wire.manifest import Anonymous
from service.wire.offers import OFFERS, WATCH
from service.wire.schema import path_fields
from tests.golden.answers import parsed, recorded

PACKAGE = "generated_verdict_client"


def generate_client(folder: Path, anonymous: Anonymous) -> list[GeneratorError]:
    """Generate the client's package in a folder, without the formatters that need a process."""
    source = folder / "openapi.json"
    source.write_bytes(document("https://api.example.org", anonymous=anonymous))
    # The generator knows no line-delimited JSON: a stream is bytes to it.
    settings = ConfigFile(post_hooks=[], content_type_overrides={WATCH.forms[0]: "application/octet-stream"})
    config = Config.from_sources(settings, MetaType.NONE, source, "utf-8", True, folder / PACKAGE)  # noqa: FBT003 - the generator's own form
    return list(generate(config=config))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package."""
    folder = tmp_path_factory.mktemp("client")
    assert generate_client(folder, "login") == []
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


def modules(client: ModuleType) -> dict[str, ModuleType]:
    """The module of each operation, by its name."""
    api = importlib.import_module(f"{client.__name__}.api")
    found = pkgutil.walk_packages(api.__path__, f"{api.__name__}.")
    return {each.name.rpartition(".")[2]: importlib.import_module(each.name) for each in found if not each.ispkg}


def route_of(path: str) -> str | None:
    """The id of the GET route at a path."""
    for offer in OFFERS:
        fixed, _, tail = offer.path.partition("{")
        matches = path.startswith(fixed) and "/" not in path[len(fixed) :] if tail else path == fixed
        if offer.method == "GET" and matches and not offer.streaming:
            return offer.id
    return None


def recorded_answers() -> Iterator[tuple[str, int, Any]]:
    """Route, status and JSON of each recorded GET."""
    for title, text in parsed(recorded("routes")).items():
        method, _, target = title.partition(" · ")[0].partition(" ")
        route = route_of(target.partition("?")[0])
        head, _, body = text.partition("\n\n")
        if method == "GET" and route is not None and body.startswith("{"):
            yield route, int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("anonymous", ["login", "pay"])
def test_the_document_is_generated_without_a_warning(tmp_path: Path, anonymous: Anonymous) -> None:
    assert generate_client(tmp_path, anonymous) == []


def test_every_route_has_a_function_with_every_parameter(client: ModuleType) -> None:
    found = modules(client)
    for offer in OFFERS:
        build = found[offer.id.replace(".", "_").replace("-", "_")]._get_kwargs
        names = set(build.__annotations__) - {"return"}
        wanted = {name.removeprefix("_") for name in (*path_fields(offer.path), *offer.parameters.__struct_fields__)}
        assert {name.rstrip("_") for name in names} >= {name.lower() for name in wanted}, offer.id
        assert ("idempotency_key" in names) is offer.payable


def test_recorded_answers_of_every_kind_are_read_and_written_back_alike(client: ModuleType) -> None:
    found, caller = modules(client), client.Client(base_url="https://api.example.org")
    seen = set()
    for route, status, body in recorded_answers():
        module = found[route.replace(".", "_").replace("-", "_")]
        answer = module._parse_response(client=caller, response=httpx.Response(status, json=body))
        assert answer is not None, (route, status)
        assert answer.to_dict() == body, (route, status)
        seen.add((route, HTTPStatus(status).value))
    priced = {offer.id for offer in OFFERS if offer.payable and offer.method == "GET"}
    assert {route for route, status in seen if status == HTTPStatus.OK} >= priced
    assert {status for _, status in seen} >= {200, 400, 404}
