"""What of a state differs from another, as a diff tells it. Pure: bytes of JSON in, bytes of JSON out."""

from typing import Final

import msgspec
from msgspec.structs import replace

from service.streams.state import Shape
from service.wire.envelope import encode
from service.wire.regime import RegimePosition
from service.wire.streams import FundingState, PricesState, PriceTick

_prices: Final = msgspec.json.Decoder(PricesState)
_funding: Final = msgspec.json.Decoder(FundingState)
_positions: Final = msgspec.json.Decoder(list[RegimePosition])


def changed_prices(old: bytes, new: bytes) -> bytes | None:
    """Coins whose price is another, null for those that have none any more; when a price was seen changes nothing."""
    before, after = _prices.decode(old).prices, _prices.decode(new).prices
    told: dict[str, PriceTick | None] = {
        symbol: tick for symbol, tick in after.items() if _price(tick) != _price(before.get(symbol))
    }
    told |= dict.fromkeys(symbol for symbol in before if symbol not in after)
    return encode(PricesState(told)) if told else None


def changed_funding(old: bytes, new: bytes) -> bytes | None:
    """The market as it is now, and the movers that differ."""
    before, after = _funding.decode(old), _funding.decode(new)
    if before == after:
        return None
    return encode(replace(after, movers=[mover for mover in after.movers if mover not in before.movers]))


def changed_regime(old: bytes, new: bytes) -> bytes | None:
    """All positions, where they differ in more than live prices and the days that have passed."""
    return None if _steady(old) == _steady(new) else new


def whole(_: bytes, new: bytes) -> bytes:
    """All of it."""
    return new


SHAPES: Final = (
    Shape("funding", snapshot=True, changes=changed_funding),
    Shape("regime", snapshot=True, changes=changed_regime),
    Shape("sentiment", snapshot=True, changes=whole),
    Shape("prices", snapshot=True, changes=changed_prices),
    Shape("alerts", snapshot=False, changes=whole),
    Shape("crossings", snapshot=False, changes=whole),
)
"""How each stream is told."""


def _price(tick: PriceTick | None) -> float | None:
    return None if tick is None else tick.price


def _steady(positions: bytes) -> list[RegimePosition]:
    return [replace(held, currentPrice=None, holdDays=0) for held in _positions.decode(positions)]
