"""What turns while a person waits."""

import io
import threading
from contextlib import suppress

import pytest

from service.cli.spinner import Spinner
from tests.cli.commanding import Terminal

PATIENCE_S = 20


class Turning(Terminal):
    """A terminal that says when it has been written to three times."""

    def __init__(self) -> None:
        super().__init__()
        self.turned = threading.Event()
        self._writes = 0

    def write(self, text: str) -> int:
        self._writes += 1
        if self._writes == 3:
            self.turned.set()
        return super().write(text)


@pytest.mark.parametrize("ends", ["with the block", "by a call", "by an error"])
def test_it_turns_and_is_gone_without_a_trace_before_something_else_is_written(ends: str) -> None:
    stream = Turning()
    with suppress(ValueError), Spinner(stream, {}, "asking\x1b", delay_s=0) as spinner:
        assert stream.turned.wait(PATIENCE_S)
        if ends == "by a call":
            spinner.stop()
            stream.write("the answer")
        if ends == "by an error":
            int("broken")
    drawn = stream.getvalue()
    assert drawn.startswith("\r\x1b[2K⠋ asking�\r\x1b[2K⠙ asking�\r\x1b[2K⠹ asking�")
    assert drawn.endswith("\r\x1b[2K" + "the answer" * (ends == "by a call"))


@pytest.mark.parametrize(
    ("stream", "environment", "delay_s"),
    [(Terminal(), {}, PATIENCE_S), (io.StringIO(), {}, 0), (Terminal(), {"TERM": "dumb"}, 0)],
)
def test_it_stays_away_where_what_is_asked_is_soon_done_or_it_would_only_be_noise(
    stream: io.StringIO, environment: dict[str, str], delay_s: float
) -> None:
    with Spinner(stream, environment, "asking", delay_s=delay_s):
        pass
    assert stream.getvalue() == ""
