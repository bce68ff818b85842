"""Style sheets, scripts and pictures, each under a name with its hash, so that a browser asks for it once."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from service.errors import ServiceError
from service.pages.rendering import FOR_EVER, HtmlPage, compressed

FOLDER: Final = Path(__file__).parent / "static"
PREFIX: Final = "/static/"

_TYPES: Final[Mapping[str, bytes]] = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_HASH_LENGTH: Final = 12


class StaticFiles:
    """The files, read once.

    Args:
        folder: Where they lie; what is no style sheet, script or picture is not served.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._names: dict[str, str] = {}
        self._pages: dict[str, HtmlPage] = {}
        for path in sorted(folder.rglob("*")):
            if path.suffix in _TYPES:
                self._add(path.relative_to(folder).as_posix(), path)

    def _add(self, name: str, path: Path) -> None:
        body = path.read_bytes()
        served = f"{path.stem}.{hashlib.sha256(body).hexdigest()[:_HASH_LENGTH]}{path.suffix}"
        self._names[name] = PREFIX + served
        self._pages[served] = compressed(HtmlPage(body, content_type=_TYPES[path.suffix], cache_control=FOR_EVER))

    def url(self, name: str) -> str:
        """Where a file is served, by its path in the folder.

        Raises:
            KeyError: If there is none.
        """
        return self._names[name]

    async def show(self, segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Answer with a file.

        Raises:
            ServiceError: NOT_FOUND.
        """
        page = self._pages.get(segment)
        if page is None:
            raise ServiceError("NOT_FOUND", "File not found. It may belong to another release. Load the page again.")
        return page
