"""The front of funding alerts: a page of events, read from the store."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from service.clock import iso
from service.market.alerts.store import AlertStore, Event
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.observed import VENUE
from service.market.silence import nothing_to_say
from service.market.symbols import canonical
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.market import FundingAlert, FundingAlerts, PageMeta
from service.wire.parameters import instant_ms
from service.wire.queries import AlertsQuery

ROUTE: Final = "funding.alerts"
_NEWEST: Final = (2**63 - 1, 2**63 - 1)


class Turn(NamedTuple):
    """An event fired, as it was told then, or was cleared: `clearedAt` says which."""

    at_ms: int
    alert: FundingAlert


class AlertDesk:
    """Answers which coins' funding was out of the ordinary, and when.

    Args:
        alerts: Where events are kept.
        cursors: Writes and reads where pages begin.
        market: The coins there are.
        loading: How long it takes until there are payments to look at.
    """

    def __init__(
        self, alerts: AlertStore, cursors: Cursors, market: MarketDesk, loading: Callable[[], Awaitable[Filling]]
    ) -> None:
        self._alerts = alerts
        self._cursors = cursors
        self._market = market
        self._loading = loading

    async def alerts(self, query: AlertsQuery) -> Answer:
        """Read a page of events, newest first.

        New events come before those of a page, so a list that is read page by page neither repeats nor leaves out what
        was there when it was begun.

        Raises:
            ServiceError: `BAD_REQUEST` naming `since` or `cursor`; `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`,
                `UPSTREAM_5XX` or `UNAVAILABLE` where nobody has looked yet.
        """
        since_ms = None if query.since is None else instant_ms(query.since, "since")
        symbol = None if query.symbol is None else self._market.find(query.symbol)
        coin = None if symbol is None else self._market.directory.listing(symbol).venue_symbol
        filters = {"symbol": symbol, "since": since_ms}
        after = _NEWEST if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)
        page = await self._alerts.page(coin, since_ms, after, query.limit + 1)
        if page.through_ms is None:
            nothing_to_say(VENUE, self._market.state.failure, "funding alerts", await self._loading())
        events, more = page.events[: query.limit], page.events[query.limit :]
        cursor = self._cursors.write(ROUTE, filters, (events[-1].fired_ms, events[-1].id)) if more else None
        return Answer(FundingAlerts([_tell(event) for event in events], PageMeta(page.total, cursor)), page.through_ms)

    async def turns(self, origin: str, since_ms: int) -> list[Turn]:
        """What fired and what was cleared after an instant, in the order in which it happened.

        Args:
            origin: The history wanted; nothing where the watch tells of another one.
            since_ms: Epoch milliseconds.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        turns: list[Turn] = []
        for event in await self._alerts.turned(origin, since_ms):
            alert = _tell(event)
            turns.append(Turn(event.fired_ms, replace(alert, clearedAt=None)))
            if event.cleared_ms is not None:
                turns.append(Turn(event.cleared_ms, alert))
        # Sorting is stable: of one that fired and was cleared at the same instant, the firing stays the first.
        return sorted((turn for turn in turns if turn.at_ms > since_ms), key=lambda turn: (turn.at_ms, turn.alert.id))


def _tell(event: Event) -> FundingAlert:
    asset = canonical(event.venue_symbol)
    return FundingAlert(
        id=f"{asset}-{event.zone}-{event.fired_ms}",
        asset=asset,
        triggerZone=event.zone,
        fundingAtTrigger=event.apr,
        percentile=event.percentile,
        interval_hours=event.interval_hours,
        firedAt=iso(event.fired_ms),
        clearedAt=None if event.cleared_ms is None else iso(event.cleared_ms),
        price=event.price,
    )
