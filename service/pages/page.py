"""What a browser is given: a status, a kind, bytes, and how long it may be kept."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct

HTML: Final = b"text/html; charset=utf-8"

FLEETING: Final = b"no-cache"
"""Asked for again each time: what a page shows is of now."""

FOR_EVER: Final = b"public, max-age=31536000, immutable"
"""Never asked for again: its name says what is in it."""


class Page(Struct, frozen=True):
    """An answer to a browser."""

    body: bytes
    status: int = 200
    content_type: bytes = HTML
    cache_control: bytes = FLEETING


View = Callable[[str, Mapping[str, str]], Awaitable[Page]]
"""Shows a page: given the last segment of its path where that is a parameter (else nothing), and the query's values.

What it raises as a `ServiceError` is shown as a page, too.
"""
