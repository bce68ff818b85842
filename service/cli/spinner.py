"""A spinner on stderr while a person waits. It is shown only on a terminal, and erased at the end."""

import threading
from collections.abc import Mapping
from itertools import cycle
from types import TracebackType
from typing import Final, Self, TextIO

from service.cli.terminal import is_plain, is_terminal, safe

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_EVERY_S: Final = 0.1
CLEAR: Final = "\r\x1b[2K"
"""Erases the line."""


class Spinner:
    """Turns while the `with` block runs.

    Args:
        stream: Standard error.
        environment: `TERM=dumb` keeps it still.
        text: What the program does: `asking`.
        delay_s: Seconds before it is shown: a shorter wait would only flicker.
    """

    def __init__(self, stream: TextIO, environment: Mapping[str, str], text: str, *, delay_s: float = 0.3) -> None:
        self._stream = stream
        self._text = safe(text)
        self._delay_s = delay_s
        self._done = threading.Event()
        shown = is_terminal(stream) and not is_plain(environment)
        self._thread = threading.Thread(target=self._turn, daemon=True) if shown else None

    def __enter__(self) -> Self:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Erase it, before other output; may be called twice."""
        self._done.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def _turn(self) -> None:
        if self._done.wait(self._delay_s):
            return
        for frame in cycle(_FRAMES):
            self._stream.write(f"{CLEAR}{frame} {self._text}")
            self._stream.flush()
            if self._done.wait(_EVERY_S):
                break
        self._stream.write(CLEAR)
        self._stream.flush()
