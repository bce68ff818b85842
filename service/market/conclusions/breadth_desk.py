"""What is said of the market's breadth: its health and its crossings, encoded once a published day."""

from collections.abc import Callable

from msgspec import UNSET, Raw
from msgspec.structs import replace

from service.clock import Clock
from service.market.conclusions.concluded import Conclusions
from service.market.conclusions.desk import ConclusionsDesk
from service.market.conclusions.telling import CROSSING_DAYS
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.shelf import Drawer, Kept
from service.wire.envelope import Answer, encode
from service.wire.market import Crossings, MarketHealth


class BreadthDesk(ConclusionsDesk):
    """Tells breadth and its crossings. Arguments: as `ConclusionsDesk`."""

    def __init__(
        self, clock: Clock, drawer: Drawer[Conclusions], coins: MarketDesk, filling: Callable[[], Filling] | None = None
    ) -> None:
        super().__init__(clock, drawer, coins, filling)
        self._encoded: dict[str, Answer] = {}
        drawer.on_change(self._forget)

    def health(self, context: int) -> Answer:
        """Tell the breadth of the last published day.

        Args:
            context: 1 adds velocity, regime, leadership, laggards, divergences and an interpretation.

        Returns:
            `MarketHealth`, as of the close of that day's bar.

        Raises:
            ServiceError: As `ConclusionsDesk`.
        """
        found = self._found("breadth")
        health = found.health if context else bare(found.health)
        return self._answer(f"health {context}", health, found.through_ms)

    def crossing(self) -> Answer:
        """Tell the breadth crossings of the last 90 days, newest first.

        Returns:
            `Crossings`, as of the close of the last published day's bar; with a message where there are none.

        Raises:
            ServiceError: As `ConclusionsDesk`.
        """
        found = self._found("breadth crossings")
        message = UNSET if found.crossings else _none_fired(found)
        return self._answer("crossing", Crossings(found.crossings, message), found.through_ms)

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
