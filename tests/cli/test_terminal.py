"""What is found out about a terminal."""

import fcntl
import io
import os
import struct
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from service.cli.terminal import is_terminal, screen_of, size_of


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """A real one, 97 cells wide."""
    controller, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 97, 0, 0))
    with open(controller, "rb", buffering=0), open(end, "w", encoding="utf-8") as stream:  # noqa: PTH123 - no paths
        yield stream


def test_a_terminal_is_known_from_a_file_and_a_closed_stream(terminal: TextIO) -> None:
    with Path(os.devnull).open() as closed:
        pass
    assert [is_terminal(stream) for stream in (terminal, io.StringIO(), closed)] == [True, False, False]
    assert screen_of({}, closed).width == 80


@pytest.mark.parametrize(
    ("told", "size"), [("132", (132, 132)), *((told, (97, 24)) for told in ("", "0", "-5", "wide", "٣"))]
)
def test_the_size_is_the_terminals_unless_a_variable_says_otherwise(
    terminal: TextIO, told: str, size: tuple[int, int]
) -> None:
    environment = {"COLUMNS": told, "LINES": told}
    assert (screen_of(environment, terminal).width, size_of("lines", environment, terminal, 5)) == size


def test_a_terminal_that_does_not_know_its_size_has_80_columns_and_none_is_too_narrow_for_a_figure(
    terminal: TextIO,
) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    for stream in (terminal, io.StringIO()):
        assert (screen_of({}, stream).width, size_of("lines", {}, stream, 5)) == (80, 5)
    assert screen_of({"COLUMNS": "3"}, terminal).width == 20


@pytest.mark.parametrize(
    ("environment", "on_terminal", "elsewhere"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "xterm-256color"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"CLICOLOR_FORCE": ""}, True, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colour_is_used_where_it_is_understood_and_wanted(
    environment: dict[str, str], on_terminal: bool, elsewhere: bool, terminal: TextIO
) -> None:
    assert screen_of(environment, terminal).colour == on_terminal
    assert screen_of(environment, io.StringIO()).colour == elsewhere
