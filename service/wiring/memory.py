"""How freed memory is kept: glibc would keep nearly all of it."""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

from service.clock import Clock

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_SETTINGS: Final = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 128 * 1_024), (_TRIM_THRESHOLD, 1_024 * 1_024))
"""Of `mallopt(3)`: one arena, and the thresholds as glibc begins with them, or eight times that.

Left alone it makes an arena for each thread, and raises the thresholds by what is freed: bodies of upstreams and pages
of the store, read once on threads that come and go, stay resident in pieces.
"""

TRIM_EVERY_S: Final = 15.0
"""What is free at the end goes by itself; what is free between things that stay only by `malloc_trim(3)`.

That takes some tenths of a millisecond, soon after a start up to four.
"""


def hand_back(library: object = None) -> None:
    """Have the C library give freed memory back. To be called before threads are started.

    Other C libraries than glibc have nothing to be told.

    Args:
        library: The C library; the one of this process where none is given.
    """
    mallopt: Callable[[int, int], int] | None = getattr(library or ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for setting in _SETTINGS:
            mallopt(*setting)


async def keep_trim(clock: Clock, library: object = None) -> None:
    """Give back what is free in the midst of the heap, now and then: some 18 MB of 152 after a start over 200 coins.

    Args:
        clock: Says when it is time again.
        library: As above; returns at once where it cannot.
    """
    trim: Callable[[int], int] | None = getattr(library or ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None:
        await clock.sleep(TRIM_EVERY_S)
        await asyncio.to_thread(trim, 0)  # on a thread: the loop waits only where it wants memory meanwhile
