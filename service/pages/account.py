"""The page `/account`: what is left of the caller's questions, and receipts: its script asks, with their own token."""

import re
from collections.abc import Mapping
from typing import Final

from service.errors import ServiceError
from service.pages.rendering import HtmlPage, Templates


class AccountPage:
    """Shows the page, which is the same for everybody: whose account it is only their own browser knows.

    Args:
        templates: Writes pages.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    async def show(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Show it."""
        return self._templates.page("account.html")


_STATE: Final = re.compile(r"[A-Za-z0-9_-]{16,128}\Z")
_PORT: Final = re.compile(r"[1-9][0-9]{3,4}\Z")
_PORTS: Final = range(1024, 65_536)
_NAMES: Final = frozenset({"state", "port"})


class SignInPage:
    """Shows the page.

    Args:
        templates: Writes pages.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    async def show(self, _segment: str, query: Mapping[str, str]) -> HtmlPage:
        """Show the page of one login: `state`, which is returned as it is, and the `port` to return to.

        Without a port it shows what to paste.

        Raises:
            ServiceError: BAD_REQUEST where one of them is not what a command line gives.
        """
        state, port = query.get("state", ""), query.get("port", "")
        if not _STATE.match(state):
            raise _bad("state", "is made by `verdict login`: type that on a terminal, and open what it prints")
        if port and not (_PORT.match(port) and int(port) in _PORTS):
            raise _bad("port", f"is a number from {_PORTS[0]} to {_PORTS[-1]}")
        for name in query.keys() - _NAMES:
            raise _bad(name, "is not a parameter of this page")
        return self._templates.page("signin.html", state=state, port=port)

    async def done(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Show where the command line sends a browser that has returned."""
        return self._templates.page("signed-in.html")


def _bad(parameter: str, why: str) -> ServiceError:
    return ServiceError("BAD_REQUEST", f"{parameter} {why}", details={"parameter": parameter})
