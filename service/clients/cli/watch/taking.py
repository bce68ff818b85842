"""Which view shows which stream, and how an event gets into it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from service.clients.cli.watch.following import Line
from service.clients.cli.watch.views.funding import Funding
from service.clients.cli.watch.views.happenings import Alerts, Crossings
from service.clients.cli.watch.views.prices import Prices
from service.clients.cli.watch.views.regime import Regime
from service.clients.cli.watch.views.sentiment import Sentiment
from service.clients.cli.watch.views.view import View
from service.clients.sdk.answer import UnreadableError

VIEWS: Final[Mapping[str, Callable[[], View]]] = {
    "funding": Funding,
    "regime": Regime,
    "sentiment": Sentiment,
    "prices": Prices,
    "alerts": Alerts,
    "crossings": Crossings,
}


def take(view: View, line: Line) -> Any:
    """Give an event to a view.

    Returns:
        The event's `meta`.

    Raises:
        UnreadableError: If it is not as this version knows it.
    """
    try:
        meta = line.document["meta"]
        int(meta["tick"]), float(meta["data_age_seconds"])
        view.take(line.document["data"], meta)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnreadableError("an event is not as this version knows it; --ndjson shows it as it comes") from None
    return meta
