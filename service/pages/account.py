"""The page `/account`: what is left of the caller's questions, and receipts: its script asks, with their own token."""

from collections.abc import Mapping

from service.pages.page import Page
from service.pages.rendering import Templates


class AccountView:
    """Shows the page, which is the same for everybody: whose account it is only their own browser knows.

    Args:
        templates: Writes pages.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    async def show(self, _segment: str, _query: Mapping[str, str]) -> Page:
        """Show it."""
        return self._templates.page("account.html")
