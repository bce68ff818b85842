"""HTML from templates: everything is escaped, and a name that is not there is a defect, not an empty place."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from service.errors import ServiceError
from service.pages.page import Page
from service.pages.wording import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment


class Templates:
    """The templates of `service/pages/templates`.

    Args:
        static: Name of a static file → where it is served; `static(…)` in templates.
        source: Where data comes from; every page says so where it is a recording.
    """

    def __init__(self, static: Callable[[str], str], source: str) -> None:
        self._known = {"static": static, "source": source}

    def page(self, name: str, status: int = 200, **context: object) -> Page:
        """Write a page.

        Args:
            name: The template's file.
            status: Of the answer.
            context: What it is told.

        Raises:
            jinja2.TemplateError: If the template wants what it is not told.
        """
        return Page(_environment().get_template(name).render(self._known | context).encode(), status)


@cache
def _environment() -> "Environment":
    """Made for the first page: it takes 40 ms to load, which no caller of the API should wait for at a start."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - see above

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= FILTERS
    environment.tests["failed"] = _is_failure
    return environment


def _is_failure(told: object) -> bool:
    """Whether a room could not say what was asked."""
    return isinstance(told, ServiceError)
