"""Pages as they were a moment ago: however many look at one, it is made once in a few seconds."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Final

from service.clock import Clock
from service.pages.rendering import HtmlPage

KEPT_S: Final = 5.0
"""How long a page is shown again: a little more than the feed takes to bring another price."""

MOST_KEPT: Final = 256
"""How many pages are kept; the one made longest ago goes first."""


class PageCache:
    """Pages by what they are about. Who asks while one is made waits for that one.

    Args:
        clock: Its monotonic time counts.
    """

    def __init__(self, clock: Clock) -> None:
        self._now = clock.monotonic
        self._made: dict[Hashable, tuple[float, asyncio.Task[HtmlPage]]] = {}

    async def page(self, key: Hashable, make: Callable[[], Awaitable[HtmlPage]], kept_s: float = KEPT_S) -> HtmlPage:
        """The page of a key, as of now or of a moment ago.

        Args:
            key: What it is about.
            make: Makes it. A failure is raised to all who wait for it, and not kept.
            kept_s: How long it is shown again, in seconds.

        Raises:
            ServiceError: As `make`.
        """
        made = self._made.get(key)
        if made is None or self._now() - made[0] >= kept_s or _has_failed(made[1]):
            made = self._make(key, make)
        return await asyncio.shield(made[1])  # who leaves must not end it for the others

    def _make(self, key: Hashable, make: Callable[[], Awaitable[HtmlPage]]) -> tuple[float, asyncio.Task[HtmlPage]]:
        async def made() -> HtmlPage:
            return await make()

        self._made.pop(key, None)
        if len(self._made) >= MOST_KEPT:
            del self._made[next(iter(self._made))]
        entry = self._made[key] = (self._now(), asyncio.ensure_future(made()))
        return entry


def _has_failed(task: asyncio.Task[HtmlPage]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
