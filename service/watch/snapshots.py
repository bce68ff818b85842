"""What the desks know at this moment, as the streams of states tell it. Nothing is asked of anybody."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

import msgspec
from msgspec import Raw, Struct

from service.clock import iso
from service.errors import ServiceError
from service.market.conclusions.regime_desk import RegimeDesk
from service.market.observed import CoinView
from service.sentiment.desk import SentimentDesk
from service.watch.funding import tell_funding
from service.watch.store import Taken
from service.wire.envelope import Answer, encode
from service.wire.streams import PricesState, PriceTick, StreamName


class _Active(Struct, frozen=True):
    """Of `wire.regime.ActiveRegime`, what the stream tells."""

    positions: Raw


_active: Final = msgspec.json.Decoder(_Active)


def take_prices(view: Mapping[str, CoinView], quotes_ms: int | None) -> Iterator[Taken]:
    """Take all prices, by ticker.

    Args:
        view: All coins as they stand now.
        quotes_ms: When quotes were last observed; null: never, and nothing is taken.
    """
    if quotes_ms is None:
        return
    seen = {
        symbol: (coin.price, coin.price_ms)
        for symbol, coin in sorted(view.items())
        if coin.price is not None and coin.price_ms is not None
    }
    told = PricesState({symbol: PriceTick(price, iso(at_ms)) for symbol, (price, at_ms) in seen.items()})
    yield Taken("prices", min((at_ms for _, at_ms in seen.values()), default=quotes_ms), encode(told))


def take_funding(view: Mapping[str, CoinView], quotes_ms: int | None, paid: Mapping[str, float]) -> Iterator[Taken]:
    """Take the funding of the market.

    Args:
        view: As above.
        quotes_ms: As above.
        paid: What each coin last paid, by venue symbol, percent a year.
    """
    if quotes_ms is None:
        return
    seen_ms = [coin.funding_ms for coin in view.values() if coin.funding_ms is not None]
    yield Taken("funding", min(seen_ms, default=quotes_ms), encode(tell_funding(view, paid)))


def take_regime(desk: RegimeDesk) -> Iterator[Taken]:
    """Take the active positions; nothing while the route has none to tell."""
    answer = _said(lambda: desk.regime("active", None))
    if answer is not None:
        positions = _active.decode(cast("Raw", answer.data)).positions
        yield _taken("regime", answer, bytes(positions))


def take_sentiment(desk: SentimentDesk) -> Iterator[Taken]:
    """Take the mood of the market; nothing while there is none to tell."""
    answer = _said(desk.market)
    if answer is not None:
        yield _taken("sentiment", answer, bytes(cast("Raw", answer.data)))


def _said(ask: Callable[[], Answer]) -> Answer | None:
    """A desk's answer, unless it has nothing to say."""
    try:
        return ask()
    except ServiceError:
        return None


def _taken(stream: StreamName, answer: Answer, data: bytes) -> Taken:
    return Taken(stream, cast("int", answer.as_of_ms), data)  # these desks date all they say
