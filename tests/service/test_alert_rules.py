"""The examples of docs/alerts.md, against the service and a receiver."""

import base64
import http.server
import json
import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from service.clock import SystemClock
from service.notify.messages import AlertMessage, sign
from service.wire.offers import OFFERS
from tests.cli.commanding import typed
from tests.fakes.serving import serving, wait_until

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "alerts.md").read_text()


class Received(NamedTuple):
    """A request at the receiver."""

    headers: dict[str, str]
    body: bytes


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Received]]]:
    heard: list[Received] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            heard.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.process
@pytest.mark.promise("notify.commands", "notify.signed", "notify.delivery")
def test_the_example_goes_as_the_page_shows_it(tmp_path: Path, receiver: tuple[str, list[Received]]) -> None:
    url, heard = receiver
    example = re.search(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert example
    secret = ""
    with serving(tmp_path, alert_targets="any") as service:
        reached = f"http://127.0.0.1:{service.port}"
        environment = {
            "VERDICT_URL": reached,
            "VERDICT_TOKEN": service.make_key(),
            "HOME": str(tmp_path),
            "COLUMNS": "80",
        }

        def run(line: str) -> str:
            words = shlex.split(line.replace("https://example.org/hook", url))[1:]
            told = typed(*words, environment=environment | {"NO_COLOR": "1"}, terminal=True)
            assert told.code == 0, told.err
            return told.out.replace(url.removesuffix("/hook"), "https://example.org")

        for part in example[1].split("$ ")[1:]:
            line, _, shown = part.partition("\n")
            if line == "verdict alerts list":
                wait_until(lambda: " armed " in run("verdict alerts list"))
            said = run(line)
            found = re.search(r"whsec_\S+", said)
            secret = found[0] if found else secret
            assert re.sub(r"whsec_\S+", "whsec_…", said) == shown
            if line == "verdict alerts test 1":
                wait_until(lambda: bool(heard))
    (request,) = heard
    timestamp = int(request.headers["webhook-timestamp"])
    assert abs(timestamp - SystemClock().now_ms() // 1_000) < 3_600
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert request.headers["webhook-signature"] == sign(key, request.headers["webhook-id"], timestamp, request.body)
    assert json.loads(request.body)["data"]["id"] == request.headers["webhook-id"]


def test_the_message_that_the_page_shows_is_one() -> None:
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    message = msgspec.json.decode(shown[1], type=AlertMessage, strict=True)
    assert json.loads(msgspec.json.encode(message)) == json.loads(shown[1])


def test_the_page_names_every_route() -> None:
    routes = {f"{offer.method} {offer.path}" for offer in OFFERS if offer.id.startswith("alerts.")}
    assert set(re.findall(r"^\| `((?:GET|POST|DELETE) [^`?]+)", PAGE, re.MULTILINE)) - routes == set()
    assert all(route in PAGE for route in routes)
