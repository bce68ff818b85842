"""Taking what the streams tell, one round at a time, in the process that leads."""

from collections.abc import Awaitable, Callable, Mapping

from service.clock import Clock
from service.market.room import Market
from service.sentiment.desk import SentimentDesk
from service.watch.funding import Paid
from service.watch.happenings import of_alerts, of_crossings, since_when, untold
from service.watch.snapshots import take_funding, take_prices, take_regime, take_sentiment
from service.watch.store import StreamStore, Taken


class Sampler:
    """Takes states and happenings, and appends them to the store.

    Args:
        clock: Now.
        store: Where they are kept.
        market: What is known of the market.
        sentiment: Its mood.
        follow: Shows this process's readers what was appended.
    """

    def __init__(
        self,
        clock: Clock,
        store: StreamStore,
        market: Market,
        sentiment: SentimentDesk,
        follow: Callable[[], Awaitable[None]],
    ) -> None:
        self._clock = clock
        self._store = store
        self._market = market
        self._sentiment = sentiment
        self._follow = follow
        self._paid = Paid(clock, market.store)

    async def round(self) -> None:
        """Take all streams once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round takes what happened meanwhile.
        """
        origin = self._market.coins.state.origin
        listed = [coin.venue_symbol for coin in self._market.coins.view().values()]
        paid = await self._paid.aprs(origin, listed)
        standing = await self._store.standing(origin)
        now_ms = self._clock.now_ms()
        since_ms = since_when(standing, now_ms)
        alerts = of_alerts(await self._market.alerts.turns(origin, since_ms))
        happened = [*alerts, *of_crossings(self._market.conclusions.now, origin)]
        news = untold(happened, standing, since_ms)
        past, news = (news, []) if since_ms == now_ms else ([], news)
        await self._store.append(origin, now_ms, since_ms, [*self._states(paid), *news], past)
        await self._follow()

    def _states(self, paid: Mapping[str, float]) -> list[Taken]:
        coins = self._market.coins
        view, quotes_ms = coins.view(), coins.state.quotes_ms
        return [
            *take_prices(view, quotes_ms),
            *take_funding(view, quotes_ms, paid),
            *take_regime(self._market.regimes),
            *take_sentiment(self._sentiment),
        ]
