"""Loads what a row of the table names, once it is needed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def load(where: str) -> Callable[..., Any]:
    """The function at `module:function`."""
    module, _, name = where.partition(":")
    # What importlib offers for this takes a millisecond to load.
    function: Callable[..., Any] = getattr(__import__(module, None, None, (name,)), name)
    return function
