"""The rooms of data, each opened after those it asks."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from service.clock import Clock
from service.http.health import Check, Health
from service.market.filling import Filling
from service.market.room import Market, open_market
from service.market.schedule import Lead
from service.market.shelf import Shelf
from service.rwa.desk import RwaDesk
from service.rwa.room import open_rwa
from service.sentiment.desk import SentimentDesk
from service.sentiment.room import open_sentiment
from service.settings import Settings
from service.storage.database import Database
from service.table.factory import Table, open_table
from service.transcripts.desk import TranscriptDesk
from service.transcripts.room import open_transcripts
from service.upstream.visitor import Visitor, open_visitor
from service.verdict.desk import VerdictDesk
from service.verdict.room import open_verdict
from service.walkforward.desk import WalkforwardDesk
from service.walkforward.room import open_walkforward
from service.wallets.desk import WalletDesk
from service.wallets.room import Followed, open_wallets
from service.wallets.watchlist import read_listed
from service.watch.room import Watch, open_watch
from service.wire.cursor import Cursors
from service.wiring.venues import Upstreams


class Ground(Struct, frozen=True):
    """What the rooms stand on. `lead` says whether this process is the one that asks upstreams."""

    settings: Settings
    clock: Clock
    database: Database
    shelf: Shelf
    cursors: Cursors
    upstreams: Upstreams
    lead: Lead


class Data(Struct, frozen=True):
    """The rooms, open. `lead` says whether this process is the one that asks upstreams."""

    lead: Lead
    market: Market
    rwa: RwaDesk
    sentiment: SentimentDesk
    verdict: VerdictDesk
    table: Table
    walkforward: WalkforwardDesk
    transcripts: TranscriptDesk
    wallets: WalletDesk
    watch: Watch
    visitor: Visitor

    def health(self, source: str, store: Callable[[], Mapping[str, object]], payments: Check) -> Health:
        """What `/readyz` waits for, and what it shows beside.

        Args:
            source: `fixtures`: ready once every table is complete. `live`: ready once prices and funding are served;
                what is still loading is shown.
            store: Whether the store can be written.
            payments: Whether payments go through; shown.
        """
        waited = {"store": store, "market": self.market.readiness}
        rooms = {"rwa": self.rwa.readiness, "sentiment": self.sentiment.readiness}
        shown = {
            "payments": payments,
            "categories": self.market.categories.readiness,
            "streams": self.watch.readiness,
            "transcripts": self.transcripts.readiness,
            "wallets": self.wallets.readiness,
        }
        if source == "fixtures":
            return Health({**waited, **rooms, "loading": self._loading}, shown)
        return Health(waited, {**rooms, **shown, "loading": self._loading})

    def _loading(self) -> Mapping[str, object]:
        """What is still loading, by its name, and whether every route has something to answer from.

        What a recording does not contain is not waited for: a venue without BTC has no breadth, and what an upstream
        refuses stays missing. The process that leads waits until it has asked for transcripts and wallets.
        """
        every = {**self.market.filling(), "changes of coins": self.table.filling()}
        if self.rwa.filling().total or not self.rwa.readiness()["ready"]:
            every["real-world assets"] = self.rwa.filling()
        if self.market.categories.readiness()["failing"]:
            del every["categories"]
        else:
            every["sentiment"] = Filling(self.sentiment.categories(), every["categories"].total, "categories")
        if self.lead.held():
            for name, desk in (("transcripts", self.transcripts), ("wallets", self.wallets)):
                every[name] = Filling(int(desk.tried.is_set()), 1, "rounds")
        return {"ready": all(each.known for each in every.values())} | {
            name: str(each) for name, each in every.items() if not each.complete
        }


@asynccontextmanager
async def open_data(ground: Ground) -> AsyncIterator[Data]:
    """Open every room of data; close them in the reverse order on leaving.

    Raises:
        SettingsError: If the lists of feeds or wallets cannot be used.
        ServiceError: If the store does not answer.
    """
    settings, clock, database = ground.settings, ground.clock, ground.database
    shelf, cursors, upstreams, lead = ground.shelf, ground.cursors, ground.upstreams, ground.lead
    sessions, origin = upstreams.sessions, upstreams.origin
    followed = Followed(read_listed(settings), upstreams.nodes, origin)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        market = await enter(
            open_market(database, shelf, cursors, clock, sessions, upstreams.feed_url, origin, lead, upstreams.recorded)
        )
        coins = market.coins
        rwa = open_rwa(
            shelf, market.store, clock, sessions, origin, lead, coins.view, lambda: coins.state.origin, market.days
        )
        rwa_desk = await enter(rwa)
        sentiment = await enter(open_sentiment(database, shelf, market, clock, sessions, origin, lead))
        visitor = await enter(open_visitor(clock, upstreams.spoken))
        verdict = await enter(open_verdict(database, shelf, market, sentiment, clock, origin, lead))
        yield Data(
            lead,
            market,
            rwa_desk,
            sentiment,
            verdict,
            await enter(open_table(database, cursors, market, sentiment, verdict, clock, origin, lead)),
            await enter(open_walkforward(database, cursors, market, clock, origin, lead)),
            await enter(open_transcripts(settings, database, cursors, market, visitor, clock, origin, lead)),
            await enter(open_wallets(database, shelf, cursors, market, clock, followed, lead)),
            await enter(open_watch(database, cursors, market, sentiment, clock, lead)),
            visitor,
        )
