"""What pages read."""

from collections.abc import Callable

from msgspec import Struct

from service.clock import Clock
from service.market.daily_report.models import DailyReport
from service.market.plausibility.quarantine import QuarantineReport
from service.market.service import MarketService
from service.pages.page_cache import PageCache
from service.pages.rendering import Templates
from service.pages.route_client import RouteClient
from service.storage.documents import Document
from service.table.history import CoinHistory
from service.verdict.scorecard import Scorecards


class PageDependencies(Struct, frozen=True):
    """What pages read: routes by `routes`, and the packages themselves for data that no route has.

    `conclusions` has the breadth of every day, `quarantine` the values that failed the plausibility check,
    `fear_greed` the index, 0 to 100, and when its day began (null: not known).
    """

    clock: Clock
    routes: RouteClient
    coins: MarketService
    conclusions: Document[DailyReport]
    quarantine: Document[QuarantineReport]
    history: CoinHistory
    fear_greed: Callable[[], tuple[int, int] | None]
    scorecards: Scorecards
    templates: Templates
    cache: PageCache
