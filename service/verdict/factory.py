"""Opens the verdict service and starts its loops."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.clock import Clock
from service.market.factory import MarketData
from service.scheduler import Leadership, PeriodicTask, running_tasks
from service.sentiment.service import SentimentService
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.verdict.backtest import BACKTEST_EVERY_S, BacktestRecord
from service.verdict.daily import DAILY_EVERY_S, DailyVerdicts
from service.verdict.inputs import RECORD_EVERY_S, InputRecorder, InputStore
from service.verdict.ledger import Ledger
from service.verdict.outcomes import SCORE_EVERY_S, OutcomeScorer
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.service import VerdictService
from service.verdict.sources import InputCollector, create_sources


@asynccontextmanager
async def open_verdict(
    database: Database,
    documents: DocumentStore,
    market: MarketData,
    sentiment: SentimentService,
    clock: Clock,
    origin: Callable[[], str],
    lead: Leadership,
) -> AsyncIterator[VerdictService]:
    """Open the service.

    Args:
        database: Holds inputs and the ledger.
        documents: Holds the scorecard; its owner refreshes it.
        market: The coins there are: their risk, funding and regimes.
        sentiment: Their moods.
        clock: All of its time.
        origin: Which history the upstreams tell at this moment.
        lead: Whether this process is the one that records, issues the daily verdicts and scores.

    Yields:
        The service.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be read.
    """
    collector = InputCollector(clock, create_sources(clock, market, sentiment), market.coins)
    inputs, ledger = InputStore(database), Ledger(database)
    live, backtested = documents.document(SCORECARD, Scorecard), documents.document(BACKTEST, Scorecard)
    recorder = InputRecorder(clock, inputs, collector, market.coins, origin)
    daily = DailyVerdicts(clock, market.daily_report, ledger, collector.collect_all, origin)
    scoring = OutcomeScorer(clock, database, market.store, live, origin)
    backtest = BacktestRecord(database, market.store, market.daily_report, backtested, origin)
    await documents.refresh()
    loops = [
        PeriodicTask("inputs", recorder.round, RECORD_EVERY_S, after=market.series_loaded),
        PeriodicTask("daily verdicts", daily.round, DAILY_EVERY_S, after=market.series_loaded),
        PeriodicTask("outcomes", scoring.round, SCORE_EVERY_S, after=market.series_loaded),
        PeriodicTask("backtest", backtest.round, BACKTEST_EVERY_S, after=market.momentum_ready),
    ]
    async with running_tasks(loops, lead, clock):
        yield VerdictService(clock, market.coins, collector, inputs, ledger, Scorecards(live, backtested, origin))
