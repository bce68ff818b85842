"""What is found out about a terminal."""

import fcntl
import io
import os
import struct
import termios
from collections.abc import Iterator
from contextlib import closing
from typing import TextIO

import pytest

from service.cli.terminal import is_terminal, screen_of


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """A real one, 97 cells wide."""
    controller, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 97, 0, 0))
    with open(controller, "rb", buffering=0), open(end, "w", encoding="utf-8") as stream:  # noqa: PTH123 - no paths
        yield stream


def test_a_terminal_is_known_from_a_file(terminal: TextIO) -> None:
    assert is_terminal(terminal)
    assert not is_terminal(io.StringIO())


def test_a_closed_stream_is_no_terminal() -> None:
    with closing(io.StringIO()) as stream:
        pass
    assert not is_terminal(stream)
    assert screen_of({}, stream).width == 80


def test_the_width_is_the_terminals_unless_columns_says_otherwise(terminal: TextIO) -> None:
    assert screen_of({}, terminal).width == 97
    assert screen_of({"COLUMNS": "132"}, terminal).width == 132
    assert [screen_of({"COLUMNS": told}, terminal).width for told in ("", "0", "-5", "wide", "٣")] == [97] * 5


def test_a_terminal_that_does_not_know_its_width_is_taken_for_80(terminal: TextIO) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    assert screen_of({}, terminal).width == 80
    assert screen_of({}, io.StringIO()).width == 80


def test_no_screen_is_too_narrow_for_a_figure() -> None:
    assert screen_of({"COLUMNS": "3"}, io.StringIO()).width == 20


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
