"""The room, opened: a desk that judges, and the loops that write down what is known, issued, and how it turned out."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.clock import Clock
from service.market.room import Market
from service.market.schedule import Lead, Loop, running
from service.market.shelf import Shelf
from service.sentiment.desk import SentimentDesk
from service.storage.database import Database
from service.verdict.backtest import BACKTEST_EVERY_S, Backtest
from service.verdict.daily import DAILY_EVERY_S, Daily
from service.verdict.desk import VerdictDesk
from service.verdict.fanout import Observer
from service.verdict.inputs import RECORD_EVERY_S, InputStore, Recorder
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.scoring import SCORE_EVERY_S, Scoring
from service.verdict.sources import open_sources


@asynccontextmanager
async def open_verdict(
    database: Database,
    shelf: Shelf,
    market: Market,
    sentiment: SentimentDesk,
    clock: Clock,
    origin: Callable[[], str],
    lead: Lead,
) -> AsyncIterator[VerdictDesk]:
    """Open the room.

    Args:
        database: Where inputs and the ledger are kept.
        shelf: Where the scorecard is kept; its owner goes on following it.
        market: The coins there are: their risk, funding and regimes.
        sentiment: Their moods.
        clock: All of its time.
        origin: Which history the upstreams tell at this moment.
        lead: Whether this process is the one that records, issues the daily verdicts and scores.

    Yields:
        The desk.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    observer = Observer(clock, open_sources(clock, market, sentiment), market.coins)
    inputs, ledger = InputStore(database), Ledger(database)
    live, backtested = shelf.drawer(SCORECARD, Scorecard), shelf.drawer(BACKTEST, Scorecard)
    recorder = Recorder(clock, inputs, observer, market.coins, origin)
    daily = Daily(clock, market.conclusions, ledger, observer.observe_all, origin)
    scoring = Scoring(clock, database, market.store, live, origin)
    backtest = Backtest(database, market.store, market.conclusions, backtested, origin)
    await shelf.follow()
    loops = [
        Loop("inputs", recorder.round, RECORD_EVERY_S, after=market.loaded),
        Loop("daily verdicts", daily.round, DAILY_EVERY_S, after=market.loaded),
        Loop("outcomes", scoring.round, SCORE_EVERY_S, after=market.loaded),
        Loop("backtest", backtest.round, BACKTEST_EVERY_S, after=market.summed),
    ]
    async with running(loops, lead, clock):
        yield VerdictDesk(clock, market.coins, observer, inputs, ledger, Scorecards(live, backtested, origin))
