"""Limits of the process: open files, and memory that the C library keeps."""

import asyncio
import ctypes
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from service.clock import Clock

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_SETTINGS: Final = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 128 * 1_024), (_TRIM_THRESHOLD, 1_024 * 1_024))
"""Of `mallopt(3)`: one arena, and the thresholds as glibc begins with them, or eight times that.

Left alone it makes an arena for each thread, and raises the thresholds by what is freed: bodies of upstreams and pages
of the store, read once on threads that come and go, stay resident in pieces.
"""

TRIM_EVERY_S: Final = 15.0
"""Free memory between live objects is returned only by `malloc_trim(3)`, which takes 0.1 to 4 ms."""


def configure_malloc(library: object = None) -> None:
    """Configure glibc to return freed memory. Call it before threads start; other C libraries are left alone.

    Args:
        library: The C library; that of this process by default.
    """
    mallopt: Callable[[int, int], int] | None = getattr(library or ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for setting in _SETTINGS:
            mallopt(*setting)


async def trim_periodically(clock: Clock, library: object = None) -> None:
    """Return free memory inside the heap every 15 s: some 18 MB of 152 after a start with 200 coins.

    Args:
        clock: The clock.
        library: As above; returns at once if it has no `malloc_trim`.
    """
    trim: Callable[[int], int] | None = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None:
        await clock.sleep(TRIM_EVERY_S)
        await asyncio.to_thread(trim, 0)  # on a thread: it may take milliseconds


def raise_open_files_limit() -> int:
    """Raise the soft limit of open files to the hard one, if the system permits.

    Returns:
        The soft limit now.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # macOS refuses what its kernel does not support, also below its hard limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
