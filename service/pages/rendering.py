"""HTML from templates: everything is escaped, and a name that is not there is a defect, not an empty place."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.pages.page import Page

_FOLDER: Final = Path(__file__).parent / "templates"


class Templates:
    """The templates of `service/pages/templates`.

    Args:
        static: Name of a static file → where it is served; `static(…)` in templates.
        known: What every template may say.
        filters: Further filters, by name.
        tests: Further tests, by name.
    """

    def __init__(
        self,
        static: Callable[[str], str],
        known: Mapping[str, object],
        filters: Mapping[str, Callable[..., Any]],
        tests: Mapping[str, Callable[[Any], bool]],
    ) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(_FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals |= {"static": static, **known}
        self._environment.filters |= filters
        self._environment.tests |= tests

    def page(self, name: str, status: int = 200, **context: object) -> Page:
        """Write a page.

        Args:
            name: The template's file.
            status: Of the answer.
            context: What it is told.

        Raises:
            jinja2.TemplateError: If the template wants what it is not told.
        """
        return Page(self._environment.get_template(name).render(context).encode(), status)
