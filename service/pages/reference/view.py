"""The page `/docs`."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from service.pages.page import Page
from service.pages.reference.document import read
from service.pages.rendering import Templates


class DocsView:
    """Shows the page, which is written when somebody first asks for it: it is the same for as long as the service runs.

    Args:
        templates: Writes pages.
        openapi: The OpenAPI document, JSON.
        lines: Operation id → lines of the command line that call it.
    """

    def __init__(self, templates: Templates, openapi: bytes, lines: Mapping[str, Sequence[str]]) -> None:
        self._templates = templates
        self._openapi = openapi
        self._lines = lines
        self._page: Page | None = None

    async def show(self, _segment: str, _query: Mapping[str, str]) -> Page:
        """Show it. Writing takes a tenth of a second, for which nobody else is kept waiting."""
        if self._page is None:
            self._page = await asyncio.to_thread(self._write)
        return self._page

    def _write(self) -> Page:
        return self._templates.page("docs.html", reference=read(msgspec.json.decode(self._openapi), self._lines))
