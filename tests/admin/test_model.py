"""`verdict doctor` asks the model that writes prose, if there is one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.admin.conftest import Told, Verdict
from tests.fakes.in_thread import in_thread
from tests.fakes.model import Answer, Model, chunk, hangs_after, model, sends, used, writes
from tests.upstream import faults

KEY = "a-key-that-is-not-to-be-seen"


@pytest.fixture(scope="module")
def running() -> Iterator[Model]:
    with in_thread(model()) as it:
        yield it


@pytest.fixture
def looked(verdict: Verdict, running: Model) -> Any:
    """What the doctor says of the model, with settings of its own."""
    verdict("admin", "keys", "create", "--name", "first")

    def asked(answer: Answer, **settings: str) -> tuple[Told, dict[str, Any]]:
        running.answer = answer
        named = {"llm_url": running.url, "llm_model": "small", "llm_key": KEY, "llm_seconds": "1", **settings}
        told = verdict("admin", "doctor", "--json", **named)
        (found,) = [check for check in told.json["checks"] if check["check"] == "model"]
        assert KEY not in told.out + told.err
        return told, found

    return asked


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (used(9, 1), "small answers and reports its usage"),
        (None, "small answers and does not report its usage, so the maximum is counted"),
    ],
)
def test_a_model_that_writes_is_sound(looked: Any, running: Model, usage: Any, said: str) -> None:
    told, found = looked(writes("ready", usage=usage))
    assert (told.code, found["findings"], found["said"]) == (0, [], said)
    assert running.asked[-1]["model"] == "small"
    assert running.headers[-1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (faults.answer(401, KEY.encode()), "small: status 401"),
        (faults.html, "small: no stream of events"),
        (sends(chunk(" ", "stop")), "small: an empty answer"),
        (hangs_after(b""), "small: no whole answer within 1 s"),
    ],
    ids=["401", "HTML", "empty", "hangs"],
)
def test_a_model_that_does_not_write_is_found_with_what_to_do(looked: Any, answer: Answer, said: str) -> None:
    told, found = looked(answer)
    assert (told.code, found["findings"], found["said"]) == (1, [said], "it does not answer")
    assert "VERDICT_LLM_URL" in found["remedy"]


def test_nobody_there_is_found_and_its_address_not_told(looked: Any) -> None:
    told, found = looked(writes("ready"), llm_url="http://127.0.0.1:9/verysecretkey")
    assert found["findings"] == ["small: connection refused"]
    assert "verysecretkey" not in told.out + told.err


def test_no_model_is_nothing_to_find(verdict: Verdict) -> None:
    verdict("admin", "keys", "create", "--name", "first")
    (found,) = [check for check in verdict("admin", "doctor", "--json").json["checks"] if check["check"] == "model"]
    assert (found["said"], found["findings"]) == ("no model is configured; the rules write every answer", [])
