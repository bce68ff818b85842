"""The site: which page is shown at which path."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.errors import ServiceError
from service.pages.files import PREFIX, Files
from service.pages.page import Page, View
from service.pages.rendering import Templates

_TITLES: Final[Mapping[int, str]] = {
    400: "This address is not right",
    404: "There is nothing here",
    429: "One moment",
    502: "Nothing to show right now",
    503: "Not ready yet",
}


class Site:
    """Everything that browsers are shown.

    Args:
        templates: Writes pages.
        views: Path → what shows it.
    """

    def __init__(self, templates: Templates, views: Mapping[str, View]) -> None:
        self._templates = templates
        self._views = views

    @property
    def paths(self) -> Sequence[str]:
        """Every path; a last segment in braces is a parameter."""
        return tuple(self._views)

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> Page:
        """Show a page.

        Args:
            path: One of `paths`.
            segment: What stands for its parameter; empty where it has none.
            query: The query's values by name.

        Raises:
            ServiceError: Whatever the page cannot be shown for; `refuse` shows that.
        """
        return await self._views[path](segment, query)

    def refuse(self, error: ServiceError) -> Page:
        """Show why a page cannot be shown."""
        candidates = (error.details or {}).get("candidates") or ()
        title = _TITLES.get(error.status, "Something is missing")
        return self._templates.page("refused.html", error.status, error=error, title=title, candidates=candidates)


def open_site(source: str) -> Site:
    """Read what pages are made of, once.

    Args:
        source: Where data comes from: `fixtures` or `live`; pages say so.

    Returns:
        The site.
    """
    files = Files()
    templates = Templates(files.url, {"source": source}, {})
    return Site(templates, {f"{PREFIX}{{file}}": files.show})
