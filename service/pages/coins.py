"""Every coin at once: as rows, as tiles by what is paid on them, and those that moved most."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from msgspec import Struct

from service.market.freshness import QUOTE, Freshness
from service.market.observed import CoinView, State
from service.market.risk import was_missed

MOVERS: Final = 6
"""How many rose most, and how many fell most."""

_HEATS: Final = ((-50.0, "c3"), (-20.0, "c2"), (0.0, "c1"), (11.0, "n"), (22.0, "h1"), (50.0, "h2"))
"""Funding below so many percent a year, and how that looks; ordinary is 0 to 11 (a venue's default is 10.95)."""

_HOTTEST: Final = "h3"


class Row(Struct, frozen=True):
    """A coin, whether its price or its funding could not be refreshed, and how hot its funding is (null: not known)."""

    coin: CoinView
    stale: bool
    heat: str | None


class Listed(Struct, frozen=True):
    """All coins: the most traded first, the hottest funding first, the best and the worst movers.

    `mean_apr` is percent a year, of the `paying` and `receiving` longs and of those in between.
    """

    rows: Sequence[Row]
    tiles: Sequence[Row]
    risers: Sequence[Row]
    fallers: Sequence[Row]
    mean_apr: float | None
    paying: int
    receiving: int


def listed(view: Mapping[str, CoinView], state: State, now_ms: int) -> Listed:
    """Sort all coins.

    Args:
        view: Every coin.
        state: How the last refresh of quotes went.
        now_ms: The instant to judge ages at.
    """
    rows = [_row(coin, state, now_ms) for coin in view.values()]
    changes = {row.coin.symbol: row.coin.change_24h for row in rows if row.coin.change_24h is not None}
    moved = sorted((row for row in rows if row.coin.symbol in changes), key=lambda row: changes[row.coin.symbol])
    aprs = {row.coin.symbol: row.coin.funding_apr for row in rows if row.coin.funding_apr is not None}
    tiles = sorted((row for row in rows if row.heat), key=lambda row: (-aprs[row.coin.symbol], row.coin.symbol))
    return Listed(
        rows=sorted(rows, key=lambda row: (-row.coin.volume_usd, row.coin.symbol)),
        tiles=tiles,
        risers=[row for row in moved[: -MOVERS - 1 : -1] if changes[row.coin.symbol] > 0],
        fallers=[row for row in moved[:MOVERS] if changes[row.coin.symbol] < 0],
        mean_apr=fmean(aprs.values()) if aprs else None,
        paying=sum(apr > 0 for apr in aprs.values()),
        receiving=sum(apr < 0 for apr in aprs.values()),
    )


def heat(apr: float | None) -> str | None:
    """How hot a rate is: `c3` (shorts pay much) through `n` (ordinary) to `h3` (longs pay much)."""
    if apr is None:
        return None
    return next((name for bound, name in _HEATS if apr < bound), _HOTTEST)


def _row(coin: CoinView, state: State, now_ms: int) -> Row:
    stale = any(
        at_ms is not None and (QUOTE.judge(at_ms, now_ms) is not Freshness.FRESH or was_missed(at_ms, state))
        for at_ms in (coin.price_ms, coin.funding_ms)
    )
    return Row(coin, stale, heat(coin.funding_apr))
