"""The line that says that there is more."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.clients.cli.screen import Screen, safe


def more(screen: Screen, page: Mapping[str, Any]) -> Iterator[str]:
    """How to get the next page, where there is one; the cursor is never broken, so that it can be copied.

    Args:
        screen: Where it is read.
        page: With `next_cursor`, perhaps `total`.
    """
    if page["next_cursor"]:
        of = f" of {page['total']:,}" if "total" in page else ""
        yield screen.paint("dim", safe(f"More{of}: --cursor {page['next_cursor']}"))
