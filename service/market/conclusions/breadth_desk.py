"""What is said of the market's breadth: its health and its crossings, encoded once a published day."""

from collections.abc import Callable

from msgspec import UNSET, Raw
from msgspec.structs import replace

from service.clock import Clock
from service.market.conclusions.concluded import Conclusions
from service.market.conclusions.telling import CROSSING_DAYS
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.freshness import CHART, Freshness
from service.market.observed import VENUE, Failure
from service.market.shelf import Drawer, Kept
from service.market.silence import nothing_to_say
from service.wire.envelope import Answer, encode
from service.wire.market import Crossings, MarketHealth


def standing(
    kept: Kept[Conclusions], now_ms: int, failure: Failure | None, what: str, filling: Filling | None = None
) -> Conclusions:
    """The conclusions, if they may still be said.

    Args:
        kept: What the shelf holds.
        now_ms: Wall time.
        failure: How the last refresh of quotes failed, if it did.
        what: What is wanted of them, for the refusal.
        filling: How far the bars are that they are made of, where that is known.

    Raises:
        ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where nothing was concluded yet, or where the last
            published day closed more than 48 hours ago: these payloads cannot name a field stale, so they end instead.
    """
    found = kept.value
    if found is None or CHART.judge(found.through_ms, now_ms) is Freshness.GONE:
        nothing_to_say(VENUE, failure, what, filling)
    return found


class BreadthDesk:
    """Answers from the conclusions, in any process.

    Args:
        clock: Ages are judged by it.
        drawer: Where the leader puts its conclusions.
        coins: Knows how the last refresh went.
        filling: Tells how far daily history is.
    """

    def __init__(
        self,
        clock: Clock,
        drawer: Drawer[Conclusions],
        coins: MarketDesk,
        filling: Callable[[], Filling] | None = None,
    ) -> None:
        self._clock = clock
        self._drawer = drawer
        self._coins = coins
        self._filling = filling
        self._encoded: dict[str, Answer] = {}
        drawer.on_change(self._forget)

    def health(self, context: int) -> Answer:
        """Tell the breadth of the last published day.

        Args:
            context: 1 adds velocity, regime, leadership, laggards, divergences and an interpretation.

        Returns:
            `MarketHealth`, as of the close of that day's bar.

        Raises:
            ServiceError: As `standing`.
        """
        found = self._found("breadth")
        health = found.health if context else bare(found.health)
        return self._answer(f"health {context}", health, found.through_ms)

    def crossing(self) -> Answer:
        """Tell the breadth crossings of the last 90 days, newest first.

        Returns:
            `Crossings`, as of the close of the last published day's bar; with a message where there are none.

        Raises:
            ServiceError: As `standing`.
        """
        found = self._found("breadth crossings")
        message = UNSET if found.crossings else _none_fired(found)
        return self._answer("crossing", Crossings(found.crossings, message), found.through_ms)

    def _found(self, what: str) -> Conclusions:
        return standing(
            self._drawer.now, self._clock.now_ms(), self._coins.state.failure, what, self._filling and self._filling()
        )

    def _answer(self, key: str, payload: object, as_of_ms: int) -> Answer:
        answer = self._encoded.get(key)
        if answer is None:
            answer = self._encoded[key] = Answer(Raw(encode(payload)), as_of_ms)
        return answer

    def _forget(self, _: Kept[Conclusions]) -> None:
        self._encoded = {}


def bare(health: MarketHealth) -> MarketHealth:
    """The raw breadth alone."""
    return replace(
        health,
        velocity=UNSET,
        regime=UNSET,
        regime_age_days=UNSET,
        leadership=UNSET,
        laggards=UNSET,
        divergences=UNSET,
        interpretation=UNSET,
    )


def _none_fired(found: Conclusions) -> str:
    days = min(CROSSING_DAYS, len(found.breadth))
    lately = "on the last closed day" if days == 1 else f"in the last {days} closed days"
    newest = found.breadth[-1]
    return (
        f"UP less DOWN has not changed its sign {lately}; "
        f"on {found.health.date} it was {newest.up - newest.down:+d} ({newest.up} UP, {newest.down} DOWN)."
    )
