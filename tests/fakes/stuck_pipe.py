"""A log whose reader is stuck, and a look at a server that must not care."""

import fcntl
import http.client
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE_S = 5


@contextmanager
def stuck_pipe() -> Iterator[int]:
    """The writing end of a pipe of 4 KB that is full and that nobody reads."""
    reader, writer = os.pipe()
    if sys.platform == "linux":
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b".")
    os.set_blocking(writer, True)
    try:
        yield writer
    finally:
        os.close(writer)
        os.close(reader)


def status_at(port: int, path: str) -> int:
    """The status of one answer on loopback; 0 if there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
