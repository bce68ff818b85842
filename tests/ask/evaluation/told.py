"""Asking the question route over HTTP, and reading its events."""

import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from tests.fakes.serving import PATIENCE_S


class Told(NamedTuple):
    """A whole answer.

    Attributes:
        classification: What the question was taken for.
        plan: The planned steps.
        steps: What they found.
        text: The whole prose.
        done: The last event.
    """

    classification: Mapping[str, Any]
    plan: Sequence[Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    text: str
    done: Mapping[str, Any]


class UnansweredError(Exception):
    """The service did not answer a question."""


def ask(port: int, token: str, body: Mapping[str, Any]) -> Told:
    """Ask one question, and read the answer to its end."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        fields = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
        }
        connection.request("POST", "/api/cli", json.dumps(body), fields)
        response = connection.getresponse()
        raw = response.read().decode()
    if response.status != 200:
        raise UnansweredError(f"{response.status}: {raw[:300]}")
    return told(raw)


def told(raw: str) -> Told:
    """Read the events of an answer."""
    events = [_event(block) for block in raw.split("\n\n") if block.strip()]

    def of(name: str) -> list[Any]:
        return [data for event, data in events if event == name]

    if not of("done"):
        raise UnansweredError(f"it did not end: {raw[-300:]}")
    text = "".join(piece["text"] for piece in of("text"))
    return Told(of("classification")[0], of("plan")[0]["steps"], of("step"), text, of("done")[0])


def _event(block: str) -> tuple[str, Any]:
    fields = [line.partition(":") for line in block.split("\n")]
    name = next((value.strip() for field, _, value in fields if field == "event"), "")
    data = "\n".join(value.removeprefix(" ") for field, _, value in fields if field == "data")
    return name, json.loads(data) if data else None
