import asyncio
from collections.abc import AsyncIterator
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from service.access.caller import Caller
from service.access.meter import Meter, open_meter
from service.access.room import Access, open_access
from service.access.secrets import open_secrets
from service.ask.questions import open_questions
from service.ask.tools import Rooms
from service.market.alerts.desk import AlertDesk
from service.market.alerts.store import AlertStore
from service.market.categories.caps import CapStore, PastCaps
from service.market.categories.desk import CategoryDesk
from service.market.categories.gecko import GeckoDrawers
from service.market.conclusions.breadth_desk import BreadthDesk
from service.market.conclusions.concluded import CONCLUSIONS, Conclusions
from service.market.conclusions.regime_desk import RegimeDesk
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.historical import HistoricalDesk
from service.market.momentum import MOMENTUM, Momenta, MomentumDesk
from service.market.observed import Chart, Quote, Snapshot, State
from service.market.quarantine import QUARANTINE, Report
from service.market.room import Market
from service.market.samples import SampleStore
from service.market.shelf import Shelf
from service.market.store import MarketStore
from service.payments.receipts import ReceiptDesk, ReceiptSigner
from service.routes.call import Asking, Bound, Call, Watching
from service.routes.table import Desks, bind
from service.rwa.desk import RwaDesk
from service.rwa.drawers import Drawers
from service.sentiment.desk import SentimentDesk
from service.sentiment.mood import Conclusions as Moods
from service.settings import Settings
from service.storage.database import Database, open_database
from service.streams.hub import Hub
from service.table.coins import CoinTable
from service.table.factory import Table as CoinTables
from service.table.history import CoinHistory
from service.table.references import References
from service.transcripts.desk import TranscriptDesk
from service.transcripts.pages import TranscriptPages
from service.verdict.desk import VerdictDesk
from service.verdict.fanout import Observer
from service.verdict.inputs import InputStore
from service.verdict.ledger import Ledger
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.verdict.sources import open_sources
from service.walkforward.desk import WalkforwardDesk
from service.walkforward.store import RunStore
from service.wallets.desk import WalletDesk
from service.wallets.store import Scanned, WalletStore
from service.wallets.watchlist import Watchlist
from service.watch.changes import SHAPES
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.queries import NoParameters
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import FakeClock
from tests.fakes.loading import calls_wait_s, series_loading

T = TypeVar("T", bound=msgspec.Struct)

RECEIPT_KEY = b"receipts".rjust(32, b"\0")
PEPE = Quote("kPEPE", "KPEPE", 1e6, 0.0123, 1_753_444_790_000, 0.0000125, 1_753_444_795_000)


class Table:
    """The bound routes, called as the service calls them."""

    def __init__(
        self, bound: dict[str, Bound], access: Access, clock: FakeClock, desks: Desks, database: Database
    ) -> None:
        self.bound = bound
        self.database = database
        self.desks = desks
        self.access = access
        self.clock = clock

    async def call(
        self, offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> Answer:
        endpoint = self.bound[offer_id]
        assert not isinstance(endpoint, Asking | Watching)
        result = endpoint(Call(parameters or NoParameters(), body, caller, network=NETWORK))
        answer: Any = await result if isawaitable(result) else result
        assert isinstance(answer, Answer)
        return answer

    async def data(
        self, kind: type[T], offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> T:
        answer = await self.call(offer_id, caller, parameters, body)
        assert isinstance(answer.data, kind)
        return answer.data

    async def sign_in(self, number: int = 1) -> Caller:
        """A caller with a session of a wallet."""
        nonce = self.access.desk.nonce().nonce
        session = await self.access.desk.login(login(wallet(number), nonce, self.clock.now_ms()), NETWORK)
        return await self.access.doorkeeper.admit(session.token)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def desks_over(database: Database, clock: FakeClock, access: Access, meter: Meter, coins: MarketDesk) -> Desks:
    """Every desk, as it is before anything has been fetched; the coins' answers from what it is shown."""
    shelf, store, cursors = Shelf(database), MarketStore(database), Cursors(bytes(32))
    conclusions, gecko = shelf.drawer(CONCLUSIONS, Conclusions), GeckoDrawers.on(shelf)
    past = PastCaps(CapStore(database), lambda: "test", dict)
    market = Market(
        coins=coins,
        breadth=BreadthDesk(clock, conclusions, coins),
        regimes=RegimeDesk(clock, conclusions, coins),
        historical=HistoricalDesk(clock, database, coins, SampleStore(database), past, dict, series_loading),
        categories=CategoryDesk(clock, gecko, coins.view, calls_wait_s),
        alerts=AlertDesk(AlertStore(database), cursors, coins, series_loading),
        momentum=MomentumDesk(shelf.drawer(MOMENTUM, Momenta)),
        conclusions=conclusions,
        quarantine=shelf.drawer(QUARANTINE, Report),
        store=store,
        past_caps=past,
        worth=dict,
        known=asyncio.Event(),
        loaded=asyncio.Event(),
        summed=asyncio.Event(),
        paid=asyncio.Event(),
        members=asyncio.Event(),
        days=asyncio.Event(),
        recorded=False,
        readiness=coins.readiness,
        filling=dict,
    )
    sentiment = SentimentDesk(
        clock, shelf.drawer("sentiment.conclusions", Moods), market.categories.find, market.categories.filling
    )
    observer = Observer(clock, open_sources(clock, market, sentiment), coins)
    scorecards = Scorecards(shelf.drawer(SCORECARD, Scorecard), shelf.drawer(BACKTEST, Scorecard), lambda: "test")
    verdict = VerdictDesk(clock, coins, observer, InputStore(database), Ledger(database), scorecards)
    walkforward = WalkforwardDesk(clock, RunStore(database), cursors, coins, lambda: "test")
    receipts = ReceiptDesk(database, ReceiptSigner(RECEIPT_KEY), cursors)
    rwa = RwaDesk(clock, Drawers.open(shelf))
    transcripts = TranscriptDesk(clock, TranscriptPages(database), cursors, (), coins.find, market.categories.find)
    scanned = shelf.drawer("wallets.scanned", Scanned)
    wallets = WalletDesk(clock, Watchlist(database, (), clock), WalletStore(database), scanned, cursors)
    references = References(database)
    table = CoinTables(
        CoinTable(clock, market, sentiment, references, cursors),
        CoinHistory(clock, database, market, verdict, lambda: "test"),
        lambda: Filling(1, 1),
    )
    rooms = Rooms(
        access.desk, meter, market, rwa, sentiment, verdict, table, walkforward, transcripts, wallets, Answer({}), clock
    )
    streams = Hub(clock, cursors, SHAPES, lambda: True)
    asked = open_questions(rooms)
    return Desks(
        access.desk, market, rwa, sentiment, verdict, table, walkforward, receipts, transcripts, wallets, streams, asked
    )


@pytest.fixture
async def table(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Table]:
    settings = Settings(data_dir=tmp_path, public_url="https://api.example.org")
    coins = MarketDesk(clock)
    coins.show(Snapshot(State("test", 1, quotes_ms=clock.now_ms()), [(PEPE, Chart())]))
    async with open_database(tmp_path / "verdict.db", clock) as db, open_meter(db, clock) as meter:
        access = await open_access(settings, open_secrets(tmp_path), db, clock)
        desks = desks_over(db, clock, access, meter, coins)
        yield Table(bind(settings, clock.now_ms(), desks), access, clock, desks, db)
