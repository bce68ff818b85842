"""The site: which page is shown at which path."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.market.room import Market
from service.pages.account import AccountView
from service.pages.asking import Asker
from service.pages.coin import CoinView
from service.pages.files import PREFIX, Files
from service.pages.lately import Lately
from service.pages.market import MarketView
from service.pages.page import Page, View
from service.pages.reference.view import DocsView
from service.pages.rendering import Templates
from service.pages.rooms import Rooms
from service.pages.scorecard import ScorecardView
from service.pages.signin import SignInView
from service.routes.call import Bound
from service.verdict.scorecard import Scorecards

_TITLES: Final[Mapping[int, str]] = {
    400: "This address is not right",
    404: "There is nothing here",
    429: "One moment",
    502: "Nothing to show right now",
    503: "Not ready yet",
}


class Site:
    """Everything that browsers are shown.

    Args:
        templates: Writes pages.
        views: Path → what shows it.
    """

    def __init__(self, templates: Templates, views: Mapping[str, View]) -> None:
        self._templates = templates
        self._views = views

    @property
    def paths(self) -> Sequence[str]:
        """Every path; a last segment in braces is a parameter."""
        return tuple(self._views)

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> Page:
        """Show a page.

        Args:
            path: One of `paths`.
            segment: What stands for its parameter; empty where it has none.
            query: The query's values by name.

        Raises:
            ServiceError: Whatever the page cannot be shown for; `refuse` shows that.
        """
        return await self._views[path](segment, query)

    def refuse(self, error: ServiceError) -> Page:
        """Show why a page cannot be shown."""
        candidates = (error.details or {}).get("candidates") or ()
        title = _TITLES.get(error.status, "Something is missing")
        return self._templates.page("refused.html", error.status, error=error, title=title, candidates=candidates)


def open_site(
    source: str,
    clock: Clock,
    endpoints: Mapping[str, Bound],
    market: Market,
    scorecards: Scorecards,
    openapi: bytes,
    lines: Mapping[str, Sequence[str]],
) -> Site:
    """Read what pages are made of, once.

    Args:
        source: Where data comes from: `fixtures` or `live`; pages say so.
        clock: All of its time.
        endpoints: Offer id → what answers it.
        market: Every coin, and every day's breadth.
        scorecards: What became of verdicts.
        openapi: The OpenAPI document, JSON.
        lines: Offer id → lines of the command line that ask it.

    Returns:
        The site.
    """
    files = Files()
    templates = Templates(files.url, source)
    asker, lately = Asker(endpoints), Lately(clock)
    rooms = Rooms(clock, asker, market.coins, market.conclusions, market.quarantine, scorecards, templates, lately)
    sign_in = SignInView(templates)
    views: Mapping[str, View] = {
        "/": MarketView(rooms).show,
        "/coin/{symbol}": CoinView(rooms).show,
        "/scorecard": ScorecardView(rooms).show,
        "/docs": DocsView(templates, openapi, lines).show,
        "/account": AccountView(templates).show,
        "/auth/cli": sign_in.show,
        "/auth/cli/done": sign_in.done,
        f"{PREFIX}{{file}}": files.show,
    }
    return Site(templates, views)
