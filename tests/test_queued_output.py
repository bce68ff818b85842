import contextlib
import errno
import fcntl
import io
import json
import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Literal

import pytest

from service.logs import configure
from service.queued_output import QueuedStream, queue_output
from tests.test_logs import restored

PATIENCE_S = 20.0
__all__ = ["restored"]


class Pipe:
    """A pipe of 4 KB: a text stream that writes into it, and what its reader reads."""

    def __init__(self, errors: str = "strict", encoding: str = "utf-8") -> None:
        self.reader, self.writer = os.pipe()
        if sys.platform == "linux":
            fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4096)
        self.stream = open(self.writer, "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115

    def fill(self) -> int:
        """Write until nothing more fits; how many bytes that were."""
        os.set_blocking(self.writer, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(self.writer, b".")
        os.set_blocking(self.writer, True)
        return filled

    def read_until(self, end: bytes) -> bytes:
        """Read until what was read ends so."""
        read = b""
        while not read.endswith(end):
            assert select.select([self.reader], [], [], PATIENCE_S)[0], read
            read += os.read(self.reader, 65_536)
        return read

    def close_reader(self) -> None:
        """Leave, as a reader does that ends."""
        os.close(self.reader)
        self.reader = -1


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    if pipe.reader >= 0:
        pipe.close_reader()  # a thread that is blocked in a write goes on


def numbered(first: int, last: int) -> list[str]:
    return [f"line {number:04}\n" for number in range(first, last)]


@pytest.mark.parametrize("count", [1, 2, 7, 100, 399, 5_000])
def test_what_is_written_arrives_in_order(pipe: Pipe, count: int) -> None:
    queued = QueuedStream(pipe.stream)
    lines = numbered(0, count)
    queued.writelines(lines)
    assert pipe.read_until(lines[-1].encode()).decode() == "".join(lines)


@pytest.mark.parametrize("room", [10, 15, 95, 100, 1_000, 4_000])
def test_a_full_pipe_blocks_no_writer_and_what_is_lost_is_counted(pipe: Pipe, room: int) -> None:
    filled = pipe.fill()
    queued = QueuedStream(pipe.stream, most_bytes=room)
    lines = numbered(0, 500)
    queued.writelines(lines)  # returns though nobody reads
    fitting = room // len(lines[0])
    assert pipe.read_until(lines[fitting - 1].encode()) == b"." * filled + "".join(lines[:fitting]).encode()
    queued.loss_note = lambda lost: f"{lost}!\n"
    drained(queued)
    queued._most_bytes = 1_000
    queued.write("next\n")
    assert pipe.read_until(b"next\n") == b"%d!\nnext\n" % (500 - fitting)


def drained(queued: QueuedStream) -> None:
    """Wait until the thread has written all."""
    with queued._changed:
        assert queued._changed.wait_for(lambda: not queued._queued_bytes, PATIENCE_S)


def test_the_end_does_not_wait_for_a_reader_that_is_stuck(pipe: Pipe) -> None:
    pipe.fill()
    queued = QueuedStream(pipe.stream)
    queued.write("stuck\n")
    queued.end(wait_s=0.01)
    queued.write("after the end\n")
    assert queued._lost == 1


def test_the_end_waits_for_a_reader_that_reads(pipe: Pipe) -> None:
    queued = QueuedStream(pipe.stream)
    lines = numbered(0, 2_000)
    queued.writelines(lines)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_until(lines[-1].encode())))
    reader.start()
    queued.end(wait_s=PATIENCE_S)
    reader.join(PATIENCE_S)
    assert read == ["".join(lines).encode()]


def test_a_reader_that_has_left_costs_lines_and_nothing_else(pipe: Pipe) -> None:
    pipe.close_reader()
    queued = QueuedStream(pipe.stream)
    for text in ("one\n", "two\nthree\n", "four"):
        queued.write(text)
    queued.flush()
    drained(queued)
    assert queued._lost == 4


def test_a_non_blocking_pipe_loses_nothing(pipe: Pipe) -> None:
    os.set_blocking(pipe.writer, False)
    queued = QueuedStream(pipe.stream)
    lines = numbered(0, 3_000)
    queued.writelines(lines)
    assert pipe.read_until(lines[-1].encode()).decode() == "".join(lines)


def test_after_a_line_that_broke_off_the_next_one_begins_on_its_own(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, steps = os.write, [lambda data: real(pipe.writer, data[:3]), refuse_for_space]

    def write(descriptor: int, data: memoryview) -> int:
        step: Callable[[memoryview], int] | None = steps.pop(0) if descriptor == pipe.writer and steps else None
        return step(data) if step else real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    queued = QueuedStream(pipe.stream)
    queued.write("first\n")
    drained(queued)
    queued.write("second\n")
    assert pipe.read_until(b"second\n") == b"fir\n1 lines of output were lost.\nsecond\n"


def refuse_for_space(_: memoryview) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("encoding", "errors", "text", "written"),
    [
        ("utf-8", "strict", "é →\n", "é →\n".encode()),
        ("utf-8", "strict", "\ud800\n", rb"\ud800" + b"\n"),
        ("ascii", "strict", "é\n", rb"\xe9" + b"\n"),
        ("ascii", "replace", "é\n", b"?\n"),
        ("latin-1", "strict", "é\n", b"\xe9\n"),
        ("utf-8", "surrogateescape", "\udcff\n", b"\xff\n"),
    ],
)
def test_no_letter_makes_a_write_fail(encoding: str, errors: str, text: str, written: bytes) -> None:
    pipe = Pipe(errors, encoding)
    QueuedStream(pipe.stream).write(text)
    assert pipe.read_until(b"\n") == written
    pipe.close_reader()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("form", "expected"), [("json", '"lost": '), ("text", "lost=")])
def test_the_log_says_how_many_of_its_lines_were_lost(pipe: Pipe, form: Literal["json", "text"], expected: str) -> None:
    pipe.fill()
    queued = QueuedStream(pipe.stream, most_bytes=1_000)
    configure("info", form, stream=queued)  # type: ignore[arg-type]  # what a handler needs, it has
    log = logging.getLogger("verdict.test")
    for number in range(100):
        log.info("a line of some length", extra={"number": number})
    lost = queued._lost
    assert lost > 80
    read: list[bytes] = []
    end = b'"last"}\n' if form == "json" else b"last\n"  # of the last line alone: the two may arrive apart
    reader = threading.Thread(target=lambda: read.append(pipe.read_until(end)))
    os.read(pipe.reader, 65_536)
    drained(queued)
    os.read(pipe.reader, 65_536)
    reader.start()
    log.info("last")
    reader.join(PATIENCE_S)
    told, last = [line for line in read[0].decode().splitlines() if line][-2:]
    assert f"{expected}{lost}" in told
    assert "Log lines were lost: nothing read them in time." in told
    assert "last" in last
    if form == "json":
        assert json.loads(told)["level"] == "warning"


def test_a_stream_without_a_descriptor_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    queue_output("stderr")
    assert sys.stderr is plain


def test_a_standard_stream_is_queued_once(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", pipe.stream)
    queue_output("stdout")
    queued = sys.stdout
    queue_output("stdout")
    assert sys.stdout is queued
    for text in ("printed", "\n"):
        queued.write(text)
    assert pipe.read_until(b"\n") == b"printed\n"
    assert (queued.fileno(), queued.isatty(), queued.encoding) == (pipe.writer, False, "utf-8")
