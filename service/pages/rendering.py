"""HTML from templates: everything is escaped, and a name that is not there is a defect, not an empty place."""

import gzip
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from service import formats
from service.errors import ServiceError
from service.pages.wording import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment

HTML: Final = b"text/html; charset=utf-8"

NOT_STORED: Final = b"no-store"
"""Fetch it each time, also when a session is restored: a page shows the present."""

FOR_EVER: Final = b"public, max-age=31536000, immutable"
"""Never asked for again: its name says what is in it."""


class HtmlPage(Struct, frozen=True):
    """An answer to a browser.

    `gzipped` is the body compressed, `etag` its strong validator, `location` where the browser goes instead; each is
    empty where there is none.
    """

    body: bytes
    status: int = 200
    content_type: bytes = HTML
    cache_control: bytes = NOT_STORED
    gzipped: bytes = b""
    etag: bytes = b""
    location: bytes = b""


_GZIP_LEVEL: Final = 5

PageView = Callable[[str, Mapping[str, str]], Awaitable[HtmlPage]]
"""Shows a page: given the last segment of its path where that is a parameter (else nothing), and the query's values.

What it raises as a `ServiceError` is shown as a page, too.
"""


class Templates:
    """The templates of `service/pages/templates`.

    Args:
        static: Name of a static file → where it is served; `static(…)` in templates.
        source: Where data comes from; every page says so where it is a recording.
    """

    def __init__(self, static: Callable[[str], str], source: str) -> None:
        self._known = {"static": static, "source": source}

    def page(self, name: str, status: int = 200, **context: object) -> HtmlPage:
        """Write a page.

        Args:
            name: The template's file.
            status: Of the answer.
            context: Its variables.

        Raises:
            jinja2.TemplateError: If the template uses another variable.
        """
        return compressed(HtmlPage(_environment().get_template(name).render(self._known | context).encode(), status))


def compressed(page: HtmlPage) -> HtmlPage:
    """The page with its compressed form; no page holds a secret that its length could give away."""
    return replace(page, gzipped=gzip.compress(page.body, _GZIP_LEVEL, mtime=0))


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
    environment.globals |= {"breadth_words": formats.breadth, "move_words": formats.moves}
    environment.tests["failed"] = _is_failure
    return environment


def _is_failure(result: object) -> bool:
    """Whether a query failed."""
    return isinstance(result, ServiceError)
