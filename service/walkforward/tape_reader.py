"""What the engine walks, read from the market's store."""

from service.market.observed import Coin
from service.market.series import Days, read_days
from service.storage.engine import Connection
from service.walkforward.parameters import History


class OtherHistoryError(Exception):
    """The store holds another history than the one that was to be walked."""


def read_histories(connection: Connection, origin: str, until_ms: int) -> list[History]:
    """Read every coin that was ever listed, by ticker.

    Of coins that would share a ticker the one that is traded stays, else the one with the longer past.

    Args:
        connection: Inside a transaction.
        origin: The history wanted.
        until_ms: A midnight: the days before it have closed.

    Raises:
        OtherHistoryError: If the store holds another one by now.
    """
    days = read_days(connection, until_ms)
    if days.origin != origin:
        raise OtherHistoryError(f"the store holds {days.origin!r}, not {origin!r}")
    taken: dict[str, Coin] = {}
    for coin in sorted(days.coins, key=lambda coin: (not coin.listed, -_length(days, coin))):
        taken.setdefault(coin.symbol, coin)
    return [
        History(symbol, days.bars[coin.venue_symbol], days.funding.get(coin.venue_symbol, []))
        for symbol, coin in sorted(taken.items())
        if coin.venue_symbol in days.bars
    ]


def _length(days: Days, coin: Coin) -> int:
    return len(days.bars.get(coin.venue_symbol, ()))
