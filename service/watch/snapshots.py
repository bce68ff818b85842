"""The states of the streams, made from memory; the docstring of the package has the rules."""

from collections.abc import Callable, Collection, Iterator, Mapping
from statistics import fmean
from typing import Final, cast

import msgspec
from msgspec import Raw, Struct

from service.analytics.funding import DEFAULT_APR
from service.clock import HOUR_MS, Clock, iso
from service.errors import ServiceError
from service.market.daily_report.service import RegimeService
from service.market.models import VENUE, CoinView
from service.market.past_prices import instants_of
from service.market.series import SeriesReader
from service.sentiment.service import SentimentService
from service.units import apr_pct
from service.watch.store import StreamSample
from service.wire.envelope import Answer, encode
from service.wire.streams import (
    FundingMarket,
    FundingMover,
    FundingState,
    PricesState,
    PriceTick,
    StreamName,
    Temperature,
)

MOST_MOVERS: Final = 10
PAID_MS: Final = 2 * HOUR_MS
"""Largest age of the payment that a running rate is compared with; payments arrive up to half an hour late."""

READ_EVERY_S: Final = 60.0

_DECIMALS: Final = 4


class LastPayments:
    """The last funding payment of each coin.

    Args:
        clock: The time.
        series: Stored payments.
    """

    def __init__(self, clock: Clock, series: SeriesReader) -> None:
        self._clock = clock
        self._series = series
        self._aprs: Mapping[str, float] = {}
        self._of: tuple[str, float] | None = None

    async def aprs(self, origin: str, coins: Collection[str]) -> Mapping[str, float]:
        """The last payment in the last two hours, by venue symbol, percent per year; read once a minute.

        Args:
            origin: The dataset of the store; a new one is read at once.
            coins: Venue symbols.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        now_s = self._clock.monotonic()
        if self._of is None or self._of[0] != origin or now_s - self._of[1] >= READ_EVERY_S:
            paid = await self._series.funding_since(coins, self._clock.now_ms() - PAID_MS)
            self._aprs = {coin: apr_pct(payments[-1][1]) for coin, payments in paid.items() if payments}
            self._of = (origin, now_s)
        return self._aprs


def funding_state(view: Mapping[str, CoinView], paid: Mapping[str, float]) -> FundingState:
    """The funding of the market.

    Args:
        view: All coins; unknown rates are not counted.
        paid: Last payments by venue symbol, percent per year.
    """
    aprs = [coin.funding_apr for coin in view.values() if coin.funding_apr is not None]
    mean = round(fmean(aprs), _DECIMALS) + 0.0 if aprs else None
    return FundingState(
        market=FundingMarket(
            temperature=None if mean is None else temperature(mean),
            avgApr=mean,
            positive=sum(apr > 0 for apr in aprs),
            negative=sum(apr < 0 for apr in aprs),
            total=len(aprs),
        ),
        movers=sorted(_movers(view, paid), key=lambda mover: (-abs(mover.change_1h), mover.symbol))[:MOST_MOVERS],
    )


def temperature(apr: float) -> Temperature:
    """The name of a mean rate in percent per year."""
    if apr > DEFAULT_APR:
        return "hot" if apr > 2 * DEFAULT_APR else "warm"
    if apr < 0:
        return "cold" if apr < -DEFAULT_APR else "cool"
    return "neutral"


def _movers(view: Mapping[str, CoinView], paid: Mapping[str, float]) -> Iterator[FundingMover]:
    for symbol, coin in view.items():
        before = paid.get(coin.venue_symbol)
        if coin.funding_apr is None or before is None or coin.venue != VENUE:
            continue
        change = round(coin.funding_apr - before, _DECIMALS)
        if change:
            yield FundingMover(symbol, coin.funding_apr, change)


class _Active(Struct, frozen=True):
    """The part of `wire.regime.ActiveRegime` that the stream sends."""

    positions: Raw


_active: Final = msgspec.json.Decoder(_Active)


def prices_sample(view: Mapping[str, CoinView], quotes_ms: int | None) -> Iterator[StreamSample]:
    """All prices, by ticker.

    Args:
        view: All coins now.
        quotes_ms: Time of the last quotes; null: none yet, and no sample.
    """
    if quotes_ms is None:
        return
    ticks: dict[str, PriceTick | None] = {}
    oldest_ms = None
    for symbol, coin in sorted(view.items()):
        if coin.price is not None and coin.price_ms is not None:
            accepted = instants_of({"24h": coin.changes_from.get("24h")})
            ticks[symbol] = PriceTick(coin.price, iso(coin.price_ms), coin.change_24h, accepted)
            oldest_ms = coin.price_ms if oldest_ms is None else min(oldest_ms, coin.price_ms)
    yield StreamSample("prices", quotes_ms if oldest_ms is None else oldest_ms, encode(PricesState(ticks)))


def funding_sample(
    view: Mapping[str, CoinView], quotes_ms: int | None, paid: Mapping[str, float]
) -> Iterator[StreamSample]:
    """The funding of the market.

    Args:
        view: All coins now.
        quotes_ms: Time of the last quotes; null: none yet, and no sample.
        paid: Last payments by venue symbol, percent per year.
    """
    if quotes_ms is None:
        return
    seen_ms = [coin.funding_ms for coin in view.values() if coin.funding_ms is not None]
    yield StreamSample("funding", min(seen_ms, default=quotes_ms), encode(funding_state(view, paid)))


def regime_sample(service: RegimeService) -> Iterator[StreamSample]:
    """The active positions; none while the route cannot answer."""
    answer = _answer_or_none(lambda: service.regime("active", None))
    if answer is not None:
        positions = _active.decode(cast("Raw", answer.data)).positions
        yield _sample_of("regime", answer, bytes(positions))


def sentiment_sample(service: SentimentService) -> Iterator[StreamSample]:
    """Sentiment of the market; none while the route cannot answer."""
    answer = _answer_or_none(service.market)
    if answer is not None:
        yield _sample_of("sentiment", answer, bytes(cast("Raw", answer.data)))


def _answer_or_none(ask: Callable[[], Answer]) -> Answer | None:
    """An answer, or null if the service raises."""
    try:
        return ask()
    except ServiceError:
        return None


def _sample_of(stream: StreamName, answer: Answer, data: bytes) -> StreamSample:
    return StreamSample(stream, cast("int", answer.as_of_ms), data)  # these answers always have a time
