"""Whom pages ask."""

from collections.abc import Callable

from msgspec import Struct

from service.clock import Clock
from service.market.conclusions.concluded import Conclusions
from service.market.desk import MarketDesk
from service.market.shelf import Drawer
from service.pages.asking import Asker
from service.pages.lately import Lately
from service.pages.rendering import Templates
from service.verdict.scorecard import Scorecard


class Rooms(Struct, frozen=True):
    """Whom pages ask: the routes by `asker`, and of what no route tells, the rooms themselves.

    `coins` has every coin at once, `conclusions` the breadth of every day, `scorecard` all scored outcomes.
    """

    clock: Clock
    asker: Asker
    coins: MarketDesk
    conclusions: Drawer[Conclusions]
    scorecard: Callable[[], Scorecard]
    templates: Templates
    lately: Lately
