"""What every answer from the conclusions shares: whether they may still be given, and the refusal where not."""

from collections.abc import Callable

from service.clock import Clock
from service.market.conclusions.concluded import Conclusions
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.freshness import CHART, Freshness
from service.market.observed import VENUE
from service.market.shelf import Drawer
from service.market.silence import nothing_to_say


class ConclusionsDesk:
    """Answers from the conclusions, in any process.

    Args:
        clock: Ages are judged by it.
        drawer: Where the leader puts its conclusions.
        coins: Knows what is listed, at what price, and how the last refresh went.
        filling: Tells how far daily history is.
    """

    def __init__(
        self, clock: Clock, drawer: Drawer[Conclusions], coins: MarketDesk, filling: Callable[[], Filling] | None = None
    ) -> None:
        self._clock = clock
        self._drawer = drawer
        self._coins = coins
        self._filling = filling

    def _found(self, what: str) -> Conclusions:
        """The conclusions, if they may still be given.

        Args:
            what: What is wanted of them, for the refusal.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where nothing was concluded yet, or where the
                last published day closed more than 48 hours ago: these payloads cannot name a field stale.
        """
        found = self._drawer.now.value
        if (
            found is None
            or found.regime_trades is None
            or CHART.judge(found.through_ms, self._clock.now_ms()) is Freshness.GONE
        ):
            nothing_to_say(VENUE, self._coins.state.failure, what, self._filling and self._filling())
        return found
