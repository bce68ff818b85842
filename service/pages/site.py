"""The site: which page is shown at which path."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.pages.account import AccountPage, SignInPage
from service.pages.chart import ChartPage
from service.pages.coin import CoinPage
from service.pages.dependencies import PageDependencies
from service.pages.market import MarketPage
from service.pages.page_cache import PageCache
from service.pages.reference.document import ReferencePage
from service.pages.rendering import HtmlPage, PageView, Templates
from service.pages.route_client import RouteClient
from service.pages.scorecard import ScorecardPage
from service.pages.search import SearchPage
from service.pages.snapshot import SnapshotPage
from service.pages.static_files import PREFIX, StaticFiles
from service.pages.topics import TopicPages
from service.routes.call import Bound
from service.routes.table import RouteServices

_TITLES: Final[Mapping[int, str]] = {
    400: "This address is not right",
    404: "There is nothing here",
    429: "One moment",
    502: "Nothing to show right now",
    503: "Not ready yet",
}


class PageSite:
    """Everything that browsers are shown.

    Args:
        templates: Writes pages.
        views: Path → what shows it.
    """

    def __init__(self, templates: Templates, views: Mapping[str, PageView]) -> None:
        self._templates = templates
        self._views = views

    @property
    def paths(self) -> Sequence[str]:
        """Every path; a last segment in braces is a parameter."""
        return tuple(self._views)

    async def answer(self, path: str, segment: str, query: Mapping[str, str]) -> HtmlPage:
        """Show a page.

        Args:
            path: One of `paths`.
            segment: What stands for its parameter; empty where it has none.
            query: The query's values by name.

        Raises:
            ServiceError: Whatever the page cannot be shown for; `refuse` shows that.
        """
        return await self._views[path](segment, query)

    def refuse(self, error: ServiceError) -> HtmlPage:
        """Show why a page cannot be shown."""
        candidates = (error.details or {}).get("candidates") or ()
        title = _TITLES.get(error.status, "Something is missing")
        return self._templates.page("refused.html", error.status, error=error, title=title, candidates=candidates)


def open_site(
    source: str,
    clock: Clock,
    endpoints: Mapping[str, Bound],
    services: RouteServices,
    openapi: bytes,
    lines: Mapping[str, Sequence[str]],
) -> PageSite:
    """Read what pages are made of, once.

    Args:
        source: Where data comes from: `fixtures` or `live`; pages say so.
        clock: All of its time.
        endpoints: Offer id → what answers it.
        services: For data that no route has.
        openapi: The OpenAPI document, JSON.
        lines: Offer id → lines of the command line that ask it.
    """
    files = StaticFiles()
    templates = Templates(files.url, source)
    market = services.market
    dependencies = PageDependencies(
        clock,
        RouteClient(endpoints),
        market.coins,
        market.daily_report,
        market.quarantine,
        services.table.history,
        services.sentiment.fear_greed,
        services.verdict.scorecards,
        templates,
        PageCache(clock),
    )
    sign_in, snapshot = SignInPage(templates), SnapshotPage(dependencies)
    views: Mapping[str, PageView] = {
        "/": MarketPage(dependencies).show,
        "/snapshot.json": snapshot.show,
        "/coins.csv": snapshot.csv,
        "/search": SearchPage(dependencies).show,
        "/coin/{symbol}": CoinPage(dependencies).show,
        "/chart/{symbol}": ChartPage(dependencies).show,
        "/scorecard": ScorecardPage(dependencies).show,
        **TopicPages(dependencies).views,
        "/docs": ReferencePage(templates, openapi, lines).show,
        "/account": AccountPage(templates).show,
        "/auth/cli": sign_in.show,
        "/auth/cli/done": sign_in.done,
        f"{PREFIX}{{file}}": files.show,
    }
    return PageSite(templates, views)
