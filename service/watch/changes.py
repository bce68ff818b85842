"""Differences between two states of a stream. Pure: JSON bytes in, JSON bytes out."""

from typing import Final

import msgspec
from msgspec.structs import replace

from service.streams.state import StreamKind
from service.wire.envelope import encode
from service.wire.regime import RegimePosition
from service.wire.streams import FundingState, PricesState, PriceTick

_prices: Final = msgspec.json.Decoder(PricesState)
_funding: Final = msgspec.json.Decoder(FundingState)
_positions: Final = msgspec.json.Decoder(list[RegimePosition])


def changed_prices(old: bytes, new: bytes) -> bytes | None:
    """Coins with another price, null for coins without one; a new time or change over a day alone is none."""
    before, after = _prices.decode(old).prices, _prices.decode(new).prices
    changed: dict[str, PriceTick | None] = {
        symbol: tick for symbol, tick in after.items() if _price(tick) != _price(before.get(symbol))
    }
    changed |= dict.fromkeys(symbol for symbol in before if symbol not in after)
    return encode(PricesState(changed)) if changed else None


def changed_funding(old: bytes, new: bytes) -> bytes | None:
    """The market now, and the movers that differ."""
    before, after = _funding.decode(old), _funding.decode(new)
    if before == after:
        return None
    return encode(replace(after, movers=[mover for mover in after.movers if mover not in before.movers]))


def changed_regime(old: bytes, new: bytes) -> bytes | None:
    """All positions if they differ in more than `currentPrice` and `holdDays`."""
    return None if _steady(old) == _steady(new) else new


def whole_state(_: bytes, new: bytes) -> bytes:
    """The new state, whole."""
    return new


STREAM_SHAPES: Final = (
    StreamKind("funding", snapshot=True, changes=changed_funding),
    StreamKind("regime", snapshot=True, changes=changed_regime),
    StreamKind("sentiment", snapshot=True, changes=whole_state),
    StreamKind("prices", snapshot=True, changes=changed_prices),
    StreamKind("alerts", snapshot=False, changes=whole_state),
    StreamKind("crossings", snapshot=False, changes=whole_state),
)
"""How each stream is sent."""


def _price(tick: PriceTick | None) -> float | None:
    return None if tick is None else tick.price


def _steady(positions: bytes) -> list[RegimePosition]:
    return [replace(held, currentPrice=None, holdDays=0) for held in _positions.decode(positions)]
