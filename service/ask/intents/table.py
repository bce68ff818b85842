"""The whole table of phrases."""

from collections.abc import Sequence
from typing import Final

from service.ask.intents.elsewhere import ELSEWHERE
from service.ask.intents.followed import FOLLOWED
from service.ask.intents.forecasts import FORECASTS
from service.ask.intents.market import MARKET
from service.ask.intents.named import NAMED
from service.ask.intents.ourselves import OURSELVES
from service.ask.intents.reckoned import RECKONED
from service.ask.intents.row import Row
from service.ask.intents.unkept import UNKEPT

TABLE: Final[Sequence[Row]] = (*ELSEWHERE, *FOLLOWED, *FORECASTS, *UNKEPT, *OURSELVES, *MARKET, *RECKONED, *NAMED)
"""Every row, in the order in which equals are preferred."""
