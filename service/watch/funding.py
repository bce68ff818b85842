"""What the `funding` stream says of all coins; the room's docstring has the rules. Pure but for `Paid`."""

from collections.abc import Collection, Iterator, Mapping
from statistics import fmean
from typing import Final

from service.analytics.funding import DEFAULT_APR
from service.clock import HOUR_MS, Clock
from service.market.observed import VENUE, CoinView
from service.market.series import Series
from service.units import apr_pct
from service.wire.streams import FundingMarket, FundingMover, FundingState, Temperature

MOST_MOVERS: Final = 10
PAID_MS: Final = 2 * HOUR_MS
"""How old the payment may be that a running rate is compared with: the newest comes up to half an hour late."""

READ_EVERY_S: Final = 60.0

_DECIMALS: Final = 4


class Paid:
    """What each coin last paid.

    Args:
        clock: Now.
        series: Where payments are.
    """

    def __init__(self, clock: Clock, series: Series) -> None:
        self._clock = clock
        self._series = series
        self._aprs: Mapping[str, float] = {}
        self._of: tuple[str, float] | None = None

    async def aprs(self, origin: str, coins: Collection[str]) -> Mapping[str, float]:
        """The last payment of coins in the last two hours, by venue symbol, percent a year; read once a minute.

        Args:
            origin: The history that the store holds; another one is read at once.
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


def tell_funding(view: Mapping[str, CoinView], paid: Mapping[str, float]) -> FundingState:
    """Sum up the funding of the market.

    Args:
        view: All coins; a rate that is null is not counted.
        paid: What each last paid, by venue symbol, percent a year.
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
    """Name a mean rate, percent a year."""
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
