"""What turns while a person waits."""

import io
import threading
from typing import Self

import pytest

from service.cli.spinner import Spinner

DELAY_S = 20


class Terminal(io.StringIO):
    """A terminal that says when it has been written to so many times."""

    def __init__(self, writes: int = 1) -> None:
        super().__init__()
        self.turned = threading.Event()
        self._left = writes

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._left -= 1
        if not self._left:
            self.turned.set()
        return super().write(text)

    def __enter__(self) -> Self:
        return self


def test_it_turns_and_is_gone_without_a_trace() -> None:
    stream = Terminal(writes=3)
    with Spinner(stream, {}, "asking\x1b", delay_s=0):
        assert stream.turned.wait(DELAY_S)
    drawn = stream.getvalue()
    assert drawn.startswith("\r\x1b[2K⠋ asking�\r\x1b[2K⠙ asking�\r\x1b[2K⠹ asking�")
    assert drawn.endswith("\r\x1b[2K")


def test_what_is_done_soon_shows_nothing() -> None:
    stream = Terminal()
    with Spinner(stream, {}, "asking", delay_s=DELAY_S):
        pass
    assert stream.getvalue() == ""


def test_it_is_taken_away_before_something_else_is_written() -> None:
    stream = Terminal()
    with Spinner(stream, {}, "asking", delay_s=0) as spinner:
        assert stream.turned.wait(DELAY_S)
        spinner.stop()
        stream.write("the answer")
    assert stream.getvalue().endswith("\r\x1b[2Kthe answer")


def test_it_is_taken_away_when_something_breaks() -> None:
    stream = Terminal()

    def asking() -> None:
        with Spinner(stream, {}, "asking", delay_s=0):
            assert stream.turned.wait(DELAY_S)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asking()
    assert stream.getvalue().endswith("\r\x1b[2K")


@pytest.mark.parametrize(("stream", "environment"), [(io.StringIO(), {}), (Terminal(), {"TERM": "dumb"})])
def test_it_stays_away_where_it_would_only_be_noise(stream: io.StringIO, environment: dict[str, str]) -> None:
    with Spinner(stream, environment, "asking", delay_s=0):
        pass
    assert stream.getvalue() == ""
