"""The room, opened: desks that answer, and the loops that keep what they answer fresh."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from service.clock import Clock
from service.market.alerts.desk import AlertDesk
from service.market.alerts.refresh import AlertRefresh
from service.market.alerts.store import AlertStore
from service.market.bulk_history import PreparedHistory
from service.market.categories.caps import CapStore, PastCaps
from service.market.categories.desk import CategoryDesk
from service.market.categories.gecko import UPSTREAM as GECKO
from service.market.categories.gecko import GeckoDrawers, known_coins
from service.market.categories.month import CALLS, GeckoCalls, MonthlyCalls
from service.market.categories.refresh import CATEGORIES_EVERY_S, CategoryRefresh
from service.market.conclusions.breadth_desk import BreadthDesk
from service.market.conclusions.conclude import CONCLUDE_EVERY_S, ConcludeRefresh
from service.market.conclusions.concluded import CONCLUSIONS, Conclusions
from service.market.conclusions.regime_desk import RegimeDesk
from service.market.desk import MarketDesk
from service.market.fallback import FALLBACK_VENUE, BinanceFallback
from service.market.filling import Filling
from service.market.historical import HistoricalDesk
from service.market.live import FOLLOW_EVERY_S, Live
from service.market.momentum import MOMENTUM, Momenta, MomentumDesk, MomentumRefresh
from service.market.observed import MAJORS, VENUE
from service.market.quarantine import QUARANTINE, Report
from service.market.samples import SampleRefresh, SampleStore
from service.market.schedule import Lead, Loop, running
from service.market.shelf import Drawer, Shelf
from service.market.sources.coingecko import CoinGecko, GeckoCoin
from service.market.sources.hyperliquid import FEED_DECODERS, FEED_SUBSCRIPTIONS, Hyperliquid
from service.market.store import MarketStore
from service.storage.database import Database
from service.upstream.session import UpstreamSession
from service.upstream.socket import open_socket
from service.wire.cursor import Cursors

MINUTELY_S: Final = 60.0
"""How often coins are sampled, their funding is watched, and what they paid is added up."""


class Market(Struct, frozen=True):
    """The room's desks, one a topic, and what rooms above it need.

    `conclusions` is the document that `breadth` and `regimes` answer from, `quarantine` the one that tells what is held
    back, `store` holds the series, `past_caps` past market caps. `worth` gives the coins as CoinGecko last showed them,
    by ticker. `known` is set once there are prices, kept or accepted; `days` once the daily bars of coins have been
    had, `paid` once payments of funding are loaded in bulk, `loaded` once nothing is loaded in bulk any more, `summed`
    once momentum is known as well and the service is ready, `members` whenever coins of categories were read.
    `recorded` says whether recorded history is loaded in bulk. `readiness` says how far all is, `filling` how far what
    is loaded piece by piece.
    """

    coins: MarketDesk
    breadth: BreadthDesk
    regimes: RegimeDesk
    historical: HistoricalDesk
    categories: CategoryDesk
    alerts: AlertDesk
    momentum: MomentumDesk
    conclusions: Drawer[Conclusions]
    quarantine: Drawer[Report]
    store: MarketStore
    past_caps: PastCaps
    worth: Callable[[], Mapping[str, GeckoCoin]]
    known: asyncio.Event
    paid: asyncio.Event
    loaded: asyncio.Event
    summed: asyncio.Event
    members: asyncio.Event
    days: asyncio.Event
    recorded: bool
    readiness: Callable[[], Mapping[str, object]]
    filling: Callable[[], Mapping[str, Filling]]


@asynccontextmanager
async def open_market(  # noqa: PLR0913, PLR0917 - the parts it is built from, each used once
    database: Database,
    shelf: Shelf,
    cursors: Cursors,
    clock: Clock,
    sessions: Mapping[str, UpstreamSession],
    feed_url: str,
    origin: Callable[[], str],
    lead: Lead,
    recorded: PreparedHistory | None = None,
) -> AsyncIterator[Market]:
    """Open the market room; it answers at once from what the store holds.

    Args:
        database: Where the room keeps what it knows.
        shelf: Its documents; followed here, for every room.
        cursors: Writes and reads where pages begin.
        clock: All of its time.
        sessions: To the upstreams, by their names.
        feed_url: The first venue's WebSocket.
        origin: Which history the sessions tell at this moment (`live`, or a replay's own name for it): asked each time,
            because a replay's changes at midnight. What the store holds of another one is cleared.
        lead: Whether this process is the one that fetches; the others read what it stores.
        recorded: The recording that the upstreams replay, if they do: its history is loaded in bulk.

    Yields:
        The desks.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be used.
    """
    store, fallback = MarketStore(database), BinanceFallback(sessions[FALLBACK_VENUE], clock)
    venue, quarantine = Hyperliquid(sessions[VENUE], clock), shelf.drawer(QUARANTINE, Report)
    live = Live(clock, store, venue, fallback, origin, quarantine, recorded)
    topics = _Topics(
        gecko=GeckoDrawers.on(shelf),
        conclusions=shelf.drawer(CONCLUSIONS, Conclusions),
        momenta=shelf.drawer(MOMENTUM, Momenta),
        samples=SampleStore(database),
        alerts=AlertRefresh(clock, store, AlertStore(database), live.desk, origin, lead.ready),
        caps=CapStore(database),
    )
    topics.gecko.members.on_change(lambda _: topics.members.set())
    topics.gecko.coins.on_change(
        lambda kept: live.desk.entitle({symbol: coin.name for symbol, coin in known_coins(kept).items()})
    )
    month = MonthlyCalls(clock, shelf.drawer(CALLS, GeckoCalls), sessions[GECKO].calls_per_month)
    source = CoinGecko(sessions[GECKO], clock, month.take)
    await store.claim(origin())
    await shelf.follow()
    await live.load()
    async with open_socket(VENUE, feed_url, clock, FEED_SUBSCRIPTIONS, FEED_DECODERS) as socket:
        loops = [
            *live.loops(socket),
            Loop("shelf", shelf.follow, FOLLOW_EVERY_S, everywhere=True),
            *topics.loops(clock, live, database, store, source, origin, lead.ready),
        ]
        async with running(loops, lead, clock):
            yield topics.desks(clock, live, database, store, source, cursors, origin, lead)


class _Topics(Struct, frozen=True):
    """What is kept of each topic beside quotes and bars."""

    gecko: GeckoDrawers
    conclusions: Drawer[Conclusions]
    momenta: Drawer[Momenta]
    samples: SampleStore
    alerts: AlertRefresh
    caps: CapStore
    members: asyncio.Event = field(default_factory=asyncio.Event)
    summed: asyncio.Event = field(default_factory=asyncio.Event)

    def loops(
        self,
        clock: Clock,
        live: Live,
        database: Database,
        store: MarketStore,
        source: CoinGecko,
        origin: Callable[[], str],
        ready: asyncio.Event,
    ) -> Sequence[Loop]:
        """What keeps the topics fresh: one row each."""
        coins, known = live.desk, live.known()
        series = live.loaded() or known
        conclude = ConcludeRefresh(clock, store, self.conclusions, origin, lambda: live.history.asked_ms)
        held_back, is_loaded = live.held_back, series.is_set
        categories = CategoryRefresh(clock, self.gecko, self.caps, source, origin, coins.view, held_back, is_loaded)
        samples = SampleRefresh(clock, self.samples, coins, self.worth, origin)
        momentum = MomentumRefresh(database, self.momenta, origin)

        async def sum_up() -> None:
            await momentum.round()
            await series.wait()
            await ready.wait()
            self.summed.set()

        days, paid = live.history.news, live.funding.news
        return (
            Loop("conclude", live.shown(conclude.round), CONCLUDE_EVERY_S, after=known, wake=days.follow()),
            # Past market caps wait until the service is ready, and for nothing more.
            Loop("categories", categories.round, CATEGORIES_EVERY_S, after=known, wake=self.summed),
            Loop("samples", samples.round, MINUTELY_S, after=known),
            Loop("alerts", self.alerts.round, MINUTELY_S, after=series, wake=paid.follow()),
            Loop("momentum", sum_up, MINUTELY_S, after=self.alerts.tried, wake=paid.follow()),
        )

    def desks(
        self,
        clock: Clock,
        live: Live,
        database: Database,
        store: MarketStore,
        source: CoinGecko,
        cursors: Cursors,
        origin: Callable[[], str],
        lead: Lead,
    ) -> Market:
        """What answers."""
        coins, momentum = live.desk, MomentumDesk(self.momenta)
        categories = CategoryDesk(clock, self.gecko, coins.view, source.wait_s)

        def daily() -> Filling:
            known = coins.filling()
            left = live.history.left if lead.held() else known.total - known.known
            return replace(known, remaining_s=live.loading.daily_wait_s(left))

        def filling() -> Mapping[str, Filling]:
            published, view = self.conclusions.now, coins.view()
            concluded = published.value is not None and published.origin == origin()
            breadth = {"breadth": Filling(int(concluded), 1, "documents")} if view.keys() >= set(MAJORS) else {}
            return {
                "daily history": daily(),
                **breadth,
                "funding history": Filling(momentum.known(), len(view)),
                "categories": categories.filling(),
            }

        past = PastCaps(self.caps, origin, lambda: {symbol: coin.id for symbol, coin in self.worth().items()})
        return Market(
            coins=coins,
            breadth=BreadthDesk(clock, self.conclusions, coins, daily),
            regimes=RegimeDesk(clock, self.conclusions, coins, daily),
            historical=HistoricalDesk(clock, database, coins, self.samples, past, self.worth, live.loading.bars),
            categories=categories,
            alerts=AlertDesk(AlertStore(database), cursors, coins, live.loading.payments),
            momentum=momentum,
            conclusions=self.conclusions,
            quarantine=live.quarantine,
            store=store,
            past_caps=past,
            worth=self.worth,
            known=live.known(),
            paid=live.paid() or live.known(),
            loaded=live.loaded() or live.known(),
            summed=self.summed,
            members=self.members,
            days=live.history.caught_up if live.bulk is None else live.bulk.days,
            recorded=live.bulk is not None,
            readiness=lambda: live.readiness(leads=lead.held()),
            filling=filling,
        )

    def worth(self) -> Mapping[str, GeckoCoin]:
        """Our coins as CoinGecko last showed them, by ticker."""
        return known_coins(self.gecko.coins.now)
