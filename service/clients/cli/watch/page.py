"""The terminal's other page: drawn over and over, left as if nothing had been there.

Source: the escape sequences are those of xterm ("XTerm Control Sequences": DECSET 1049 and 25, CUP, EL, ED).
"""

import os
import signal
from collections.abc import Iterable, Mapping
from types import FrameType, TracebackType
from typing import Final, NoReturn, Self, TextIO

_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_TO_LINE_END: Final = "\x1b[K"
_TO_PAGE_END: Final = "\x1b[J"
_ROWS: Final = 24
_KILLED: Final = 128


def rows_of(environment: Mapping[str, str], stream: TextIO) -> int:
    """Lines of the terminal: as `LINES` says, else as it says itself, else 24."""
    told = environment.get("LINES", "")
    if told.isascii() and told.isdigit() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).lines or _ROWS
    except (OSError, ValueError):  # no terminal, no file, or closed
        return _ROWS


class Page:
    """Shows lines in place of the lines before. Leaves the terminal clean on SIGTERM, too, and while it is stopped.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __enter__(self) -> Self:
        self._ended = signal.signal(signal.SIGTERM, _end)
        self._stopped = signal.signal(signal.SIGTSTP, self._stop)
        self._write(_ENTER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write(_LEAVE)
        signal.signal(signal.SIGTSTP, self._stopped)
        signal.signal(signal.SIGTERM, self._ended)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as `signal` calls it
        """Ctrl-Z: the shell gets its terminal as it was, and the page is entered again with `fg`."""
        self._write(_LEAVE)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, self._stop)
        self._write(_ENTER)

    def draw(self, lines: Iterable[str]) -> None:
        """Show these lines, no more of them than the page has."""
        body = f"{_TO_LINE_END}\r\n".join(lines)
        self._write(f"{_HOME}{body}{_TO_LINE_END}{_TO_PAGE_END}")

    def _write(self, text: str) -> None:
        # A write that were interrupted by Ctrl-Z could not be followed by another before it is done.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTSTP,))
        try:
            self._stream.write(text)
            self._stream.flush()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as `signal` calls it
    raise SystemExit(_KILLED + number)
