"""Loads what a row of the table names, once it is needed."""

from __future__ import annotations

import gc

# `signal` itself takes four milliseconds to load.
from _signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def load(where: str) -> Callable[..., Any]:
    """The function at `module:function`."""
    module, _, name = where.partition(":")
    # Extension modules that are interrupted while they load bring the interpreter down: an interrupt waits so long.
    before = pthread_sigmask(SIG_BLOCK, (SIGINT,))
    gc.disable()  # a fifth of the time goes into looking for garbage in modules, which have none
    try:
        # What importlib offers for this takes a millisecond to load.
        function: Callable[..., Any] = getattr(__import__(module, None, None, (name,)), name)
    finally:
        gc.freeze()
        gc.enable()
        pthread_sigmask(SIG_SETMASK, before)
    return function
