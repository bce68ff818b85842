"""A person's browser, where there is one to be opened."""

import sys
import webbrowser
from collections.abc import Mapping
from typing import Final

_DISPLAYS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
_DESKTOPS: Final = frozenset({"darwin", "win32"})


def open_browser(url: str, environment: Mapping[str, str]) -> bool:
    """Open a page, unless the only browser would be one of text in this very terminal.

    Args:
        url: Of the page.
        environment: Of the process.

    Returns:
        Whether something was opened.
    """
    if sys.platform not in _DESKTOPS and not any(map(environment.get, _DISPLAYS)):
        return False
    return webbrowser.open(url)
