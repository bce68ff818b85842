"""Which redirects of a feed are followed: those that stay on the publisher's own site."""

from typing import Final

import aiohttp
from yarl import URL

MOST_REDIRECTS: Final = 3
STATUSES: Final = frozenset({301, 302, 303, 307, 308})
PERMANENT: Final = frozenset({301, 308})
_LONGEST_URL: Final = 2_000


class RedirectRefusedError(Exception):
    """A redirect that is not followed; the message says why."""


class Redirects:
    """Decides about redirects, and remembers permanent ones for as long as they lead to an answer.

    A target must be `https` on the site's own host, its `www` form or a host below it, or on the very origin that was
    configured. Its address must be public unless it is that origin: the session sees to it.

    Args:
        base: The configured URL of the site.
    """

    def __init__(self, base: URL) -> None:
        self._origin = base.origin()
        self._site = (base.raw_host or "").removeprefix("www.")
        self._moved: dict[str, URL] = {}

    def is_own(self, url: URL) -> bool:
        """Whether a URL is on the configured origin."""
        return url.origin() == self._origin

    def remember(self, target: str, url: URL) -> None:
        """Start at this URL next time."""
        self._moved[target] = url

    def take(self, target: str) -> URL | None:
        """Where a path and query has moved permanently. It is forgotten until an answer confirms it."""
        return self._moved.pop(target, None)

    def next(self, visited: list[URL], response: aiohttp.ClientResponse) -> URL:
        """Where an answer leads.

        Args:
            visited: The URLs requested so far, in order.
            response: The redirect.

        Raises:
            RedirectRefusedError: If it is not followed.
        """
        location = response.headers.get("Location", "")
        try:
            to = visited[-1].join(URL(location)).with_fragment(None) if 0 < len(location) <= _LONGEST_URL else URL()
        except ValueError:
            to = URL()
        if not to.raw_host or to.user is not None or to.password is not None:
            raise RedirectRefusedError("redirect without a usable target")
        if not self.is_own(to) and not self._is_on_site(to):
            raise RedirectRefusedError("redirect to another site is not followed")
        if to in visited:
            raise RedirectRefusedError("redirect loop")
        if len(visited) > MOST_REDIRECTS:
            raise RedirectRefusedError(f"more than {MOST_REDIRECTS} redirects")
        return to

    def _is_on_site(self, url: URL) -> bool:
        host = url.raw_host or ""
        on_site = host == self._site or host.endswith("." + self._site)
        return url.scheme == "https" and url.is_default_port() and on_site
