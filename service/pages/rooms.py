"""Whom pages ask."""

from msgspec import Struct

from service.clock import Clock
from service.market.conclusions.concluded import Conclusions
from service.market.desk import MarketDesk
from service.market.quarantine import Report
from service.market.shelf import Drawer
from service.pages.asking import Asker
from service.pages.lately import Lately
from service.pages.rendering import Templates
from service.verdict.scorecard import Scorecards


class Rooms(Struct, frozen=True):
    """Whom pages ask: the routes by `asker`, and of what no route tells, the rooms themselves.

    `coins` has every coin at once, `conclusions` the breadth of every day, `quarantine` the values
    that failed the plausibility check, `scorecards` what became of verdicts.
    """

    clock: Clock
    asker: Asker
    coins: MarketDesk
    conclusions: Drawer[Conclusions]
    quarantine: Drawer[Report]
    scorecards: Scorecards
    templates: Templates
    lately: Lately
