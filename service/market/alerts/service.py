"""Answers about funding alerts: a page of events, read from the store."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from service.clock import iso
from service.market.alerts.store import AlertStore, FundingEvent
from service.market.loading import LoadProgress, raise_unavailable
from service.market.models import VENUE
from service.market.service import MarketService
from service.market.symbols import canonical
from service.wire.cursor import Cursors
from service.wire.envelope import Answer
from service.wire.market import FundingAlert, FundingAlerts, PageMeta
from service.wire.parameters import instant_ms
from service.wire.queries import AlertsQuery

ROUTE: Final = "funding.alerts"
_NEWEST: Final = (2**63 - 1, 2**63 - 1)


class AlertTransition(NamedTuple):
    """An event that fired, or that was cleared (`clearedAt` is set)."""

    at_ms: int
    alert: FundingAlert


class AlertService:
    """Answers which coins had extreme funding, and when.

    Args:
        alerts: The events.
        cursors: Encodes page positions.
        market: The coins.
        loading: How far payments are loaded.
    """

    def __init__(
        self,
        alerts: AlertStore,
        cursors: Cursors,
        market: MarketService,
        loading: Callable[[], Awaitable[LoadProgress]],
    ) -> None:
        self._alerts = alerts
        self._cursors = cursors
        self._market = market
        self._loading = loading

    async def alerts(self, query: AlertsQuery) -> Answer:
        """A page of events, newest first.

        New events come before those of a page, so reading page by page neither repeats nor skips events of the first
        page's time.

        Raises:
            ServiceError: `BAD_REQUEST` naming `since` or `cursor`; `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`,
                `UPSTREAM_5XX` or `UNAVAILABLE` before the first scan.
        """
        since_ms = None if query.since is None else instant_ms(query.since, "since")
        symbol = None if query.symbol is None else self._market.find(query.symbol)
        coin = None if symbol is None else self._market.directory.listing(symbol).venue_symbol
        filters = {"symbol": symbol, "since": since_ms}
        after = _NEWEST if query.cursor is None else self._cursors.read(query.cursor, ROUTE, filters)
        page = await self._alerts.page(coin, since_ms, after, query.limit + 1)
        if page.through_ms is None:
            raise_unavailable(VENUE, self._market.state.failure, "funding alerts", await self._loading())
        events, more = page.events[: query.limit], page.events[query.limit :]
        cursor = self._cursors.write(ROUTE, filters, (events[-1].fired_ms, events[-1].id)) if more else None
        return Answer(
            FundingAlerts([_serialize(event) for event in events], PageMeta(page.total, cursor)), page.through_ms
        )

    async def transitions(self, origin: str, since_ms: int) -> list[AlertTransition]:
        """Events that fired or were cleared after an instant, in order of time.

        Args:
            origin: The dataset wanted; empty if the watch holds another one.
            since_ms: Epoch milliseconds.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        transitions: list[AlertTransition] = []
        for event in await self._alerts.changed_since(origin, since_ms):
            alert = _serialize(event)
            transitions.append(AlertTransition(event.fired_ms, replace(alert, clearedAt=None)))
            if event.cleared_ms is not None:
                transitions.append(AlertTransition(event.cleared_ms, alert))
        # Sorting is stable: an event that fires and clears at one instant fires first.
        return sorted(
            (turn for turn in transitions if turn.at_ms > since_ms), key=lambda turn: (turn.at_ms, turn.alert.id)
        )


def _serialize(event: FundingEvent) -> FundingAlert:
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
