"""The live view: header and status around a stream's view, drawn on the terminal's alternate screen.

Source: the escape sequences are those of xterm ("XTerm Control Sequences": DECSET 1049 and 25, CUP, EL, ED).
"""

import signal
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self, TextIO

from service.cli.layout import flow
from service.cli.terminal import Cell, Display, Part, age, safe
from service.cli.watch.views import StreamView, take_event
from service.client.stream import StreamLine
from service.clock import Clock

_ENTER: Final = "\x1b[?1049h\x1b[?25l"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_TO_LINE_END: Final = "\x1b[K"
_TO_PAGE_END: Final = "\x1b[J"
_KILLED: Final = 128


class AlternateScreen:
    """Replaces the shown lines. Restores the terminal also on SIGTERM and while it is stopped.

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
        """Restore the terminal for the shell on Ctrl-Z; enter the alternate screen again after `fg`."""
        self._write(_LEAVE)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, self._stop)
        self._write(_ENTER)

    def draw(self, lines: Iterable[str]) -> None:
        """Show these lines, at most as many as the page has."""
        body = f"{_TO_LINE_END}\r\n".join(lines)
        self._write(f"{_HOME}{body}{_TO_LINE_END}{_TO_PAGE_END}")

    def _write(self, text: str) -> None:
        # Ctrl-Z waits until this write is done, because its handler writes to the same stream.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTSTP,))
        try:
            self._stream.write(text)
            self._stream.flush()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as `signal` calls it
    raise SystemExit(_KILLED + number)


_ABOVE: Final = 2
"""Rows above the stream's view."""

_HINT: Final = "Ctrl-C ends it"
LOST_EVENTS: Final = "Some events are lost: the service no longer stores them."


class LiveView:
    """The current state of a stream.

    Args:
        stream: Its name.
        view: Shows its data.
        clock: Measures the age of the last event.
    """

    def __init__(self, stream: str, view: StreamView, clock: Clock) -> None:
        self._stream = stream
        self._view = view
        self._clock = clock
        self._source = ""
        self._meta: Any = None
        self._came = 0.0
        self._fed = True
        self._trouble = ""

    def take(self, line: StreamLine) -> None:
        """Note a line.

        Raises:
            UnreadableAnswerError: If it is an event that this version does not know.
        """
        self._trouble = ""
        match line.kind:
            case "open":
                self._source = safe(line.document.get("source"))
            case "event":
                self._meta = take_event(self._view, line)
                self._came = self._clock.monotonic()
                self._fed = True
            case "heartbeat":
                self._fed = bool((line.document.get("meta") or {}).get("live"))
            case "gap":
                self._trouble = LOST_EVENTS
            case _:  # the end is reported afterwards; types of a newer service are ignored
                pass

    @property
    def opened(self) -> bool:
        """Whether the stream has been opened."""
        return bool(self._source)

    def trouble(self, text: str) -> None:
        """Set the message about the connection."""
        self._trouble = text

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """The page, in at most `rows` lines: the state, and below it the message about the connection."""
        note = Cell(self._trouble, "warn") if self._trouble else Cell(_HINT, "dim")
        below = ["", *list(flow(screen, [note]))[: max(rows - _ABOVE - 2, 1)]]
        yield from self.state(screen, rows - len(below))
        yield from below

    def state(self, screen: Display, rows: int) -> Iterator[str]:
        """The header and the stream's view, in at most `rows` lines."""
        available = max(rows - _ABOVE, 1)
        yield next(flow(screen, self._head()), "")
        yield ""
        if not self._waits:
            yield from [*self._view.lines(screen, available)][:available]

    @property
    def _waits(self) -> bool:
        return self._meta is None and self._stream not in {"alerts", "crossings"}

    def _head(self) -> list[Part]:
        said: list[Part] = [Cell(self._stream, "strong")]
        if self._source:
            said.append(Cell(f"· {self._source}", "dim"))
        if self._meta is None:
            said.append(Cell("· waiting for the first event" if self._source else "· opening", "dim"))
        else:
            old = float(self._meta["data_age_seconds"]) + self._clock.monotonic() - self._came
            said.append(Cell(f"· event {self._meta['tick']} · {age(old)}", "dim"))
        if not self._fed:
            said.append(Cell("· nothing comes from upstream", "warn"))
        return said
