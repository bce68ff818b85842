"""Standard streams that never make a serving process wait: a thread writes what was queued.

A full pipe that has no active reader, or a terminal that is stopped (Ctrl-S), blocks its writer. A service must go on
without its log, so writes only queue text. What does not fit, or cannot be written, is lost and counted.
"""

import atexit
import io
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

MOST_BYTES: Final = 4 * 2**20
"""Queued text, for one stream."""

LAST_WAIT_S: Final = 0.5
"""Longest wait for the queue at the end of the process."""


class QueuedStream(io.TextIOBase):
    """A text stream over a file descriptor. Writing never blocks and never fails.

    Args:
        stream: Gives descriptor, encoding and error handler; nothing else writes to it from now on.
        most_bytes: How much may be queued.

    Attributes:
        loss_note: Makes the line that says how many lines were lost, before the next one that gets through.
    """

    def __init__(self, stream: TextIO, most_bytes: int = MOST_BYTES) -> None:
        super().__init__()
        stream.flush()
        self._stream = stream
        self._descriptor = stream.fileno()
        self._most_bytes = most_bytes
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._lost = 0
        self._torn = False
        self._ended = False
        self._changed = threading.Condition()
        self.loss_note: Callable[[int], str] = lambda lost: f"{lost} lines of output were lost.\n"
        threading.Thread(target=self._run, name="output", daemon=True).start()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream."""
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """Of the stream; one that would fail is replaced by `backslashreplace`."""
        return "backslashreplace" if self._stream.errors in {None, "strict"} else self._stream.errors

    def fileno(self) -> int:
        """The file descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str, /) -> int:
        """Queue text, or lose it if the queue is full or the process ends."""
        data = self._encode(text)
        if not data:
            return 0
        with self._changed:
            note = self._encode(self.loss_note(self._lost)) if self._lost else b""
            size = len(note) + len(data)
            if self._ended or self._queued_bytes + size > self._most_bytes:
                self._lost += _count_lines(data)
            else:
                self._lost = 0
                self._queue.extend(filter(None, (note, data)))
                self._queued_bytes += size
                self._changed.notify_all()
        return len(text)

    def flush(self) -> None:
        """Do nothing: what is queued is written soon. `end` waits for it."""

    def end(self, wait_s: float = LAST_WAIT_S) -> None:
        """Wait until all is written, but not long; later text is lost. Called at the end of the process."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queued_bytes, wait_s)
            self._ended = True

    def _encode(self, text: str) -> bytes:
        return text.encode(self.encoding, str(self.errors))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                data = self._queue.popleft()
            is_lost = not self._put(data)
            with self._changed:
                self._queued_bytes -= len(data)
                self._lost += _count_lines(data) * is_lost
                self._changed.notify_all()

    def _put(self, data: bytes) -> bool:
        """Write all of it; whether that is done. After a line that broke off, the next one begins on a new line."""
        data = b"\n" + data if self._torn else data
        done = 0
        try:
            while done < len(data):
                try:
                    done += os.write(self._descriptor, memoryview(data)[done:])
                except BlockingIOError:  # another process made the open file non-blocking
                    _wait_until_writable(self._descriptor)
        except OSError:
            self._torn = data[done - 1] != ord("\n") if done else self._torn
            return False
        self._torn = False
        return True


def queue_output(*names: str) -> None:
    """Replace standard streams of this process by queued ones, which are ended with the process.

    Call it after privileges are dropped: on Linux a thread that runs already would keep them.

    Args:
        names: Of `sys`: `stdout`, `stderr`. A stream without a file descriptor stays as it is.
    """
    for name in names:
        stream = getattr(sys, name)
        try:
            stream.fileno()
        except (OSError, ValueError):
            continue
        if not isinstance(stream, QueuedStream):
            queued = QueuedStream(stream)
            atexit.register(queued.end)
            setattr(sys, name, queued)


def _wait_until_writable(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") or 1
