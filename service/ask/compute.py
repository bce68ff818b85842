"""What is computed from payloads of other tools: pure, and by no rule of its own but multiplication."""

from collections.abc import Iterable, Mapping
from typing import Final

from service.wire.market import RiskContext
from service.wire.tools import CarryEstimate, CarryQuery, Value, ValueQuery

DOLLAR: Final = "USD"

_DAYS_PER_YEAR: Final = 365
_CENT_DECIMALS: Final = 2
_DIGITS: Final = 4
"""Significant digits that are kept of what is less than a dollar."""

_QUANTITY_DECIMALS: Final = 4
_QUANTITY_DIGITS: Final = 6
"""Significant digits that are kept of less than one coin."""


def estimate_carry(query: CarryQuery, found: Mapping[str, RiskContext]) -> CarryEstimate:
    """What holding a position would come to by funding alone, if that stayed as it is.

    Args:
        query: The position.
        found: Risk contexts by ticker; that of the query's coin among them.

    Raises:
        KeyError: If it is not.
    """
    risk = found[query.symbol.upper()]
    notional_usd, quantity = _size(query, risk.price)
    years = query.days / _DAYS_PER_YEAR
    return CarryEstimate(
        symbol=risk.symbol,
        side=query.side,
        notional_usd=notional_usd,
        days=query.days,
        price=risk.price,
        funding_apr=risk.funding_apr,
        quantity=quantity,
        long_usd=_part(notional_usd, years, risk.carry_if_long),
        short_usd=_part(notional_usd, years, risk.carry_if_short),
        _stale_fields=_stale([risk], ("price", "funding_apr")),
    )


def convert_value(query: ValueQuery, found: Mapping[str, RiskContext]) -> Value:
    """What an amount is worth, and how many of a coin that is.

    Args:
        query: The amount, and the coin.
        found: Risk contexts by ticker; those of the query's coin, and of its unit where that is one, among them.

    Raises:
        KeyError: If one is not.
    """
    coin, unit = found[query.symbol.upper()], query.unit.upper()
    other = None if unit == DOLLAR else found[unit]
    unit_price = None if other is None else other.price
    worth = query.amount if other is None else None if unit_price is None else query.amount * unit_price
    many = query.amount if unit == coin.symbol else None if worth is None or not coin.price else worth / coin.price
    return Value(
        symbol=coin.symbol,
        price=coin.price,
        amount=query.amount,
        unit=unit,
        unit_price=unit_price,
        usd=None if worth is None else _usd(worth),
        quantity=None if many is None else _quantity(many),
        _stale_fields=_stale([coin, *([other] if other else [])], ("price",)),
    )


def _size(query: CarryQuery, price: float | None) -> tuple[float | None, float | None]:
    """What a position is worth and how many coins it is; null what needs a price that is not known."""
    if query.quantity is not None:
        return None if price is None else _usd(query.quantity * price), query.quantity
    return query.notional_usd, None if not price else _quantity(query.notional_usd / price)


def _part(notional_usd: float | None, years: float, carry_pct: float | None) -> float | None:
    return None if notional_usd is None or carry_pct is None else _usd(notional_usd * years * carry_pct / 100) + 0.0


def _usd(amount: float) -> float:
    """Cents; of less than a dollar as many decimals as it takes to tell it from nothing."""
    return round(amount, _CENT_DECIMALS) if abs(amount) >= 1 else float(f"{amount:.{_DIGITS}g}")


def _quantity(amount: float) -> float:
    return round(amount, _QUANTITY_DECIMALS) if amount >= 1 else float(f"{amount:.{_QUANTITY_DIGITS}g}")


def _stale(risks: Iterable[RiskContext], fields: Iterable[str]) -> list[str]:
    named = {field for risk in risks for field in risk._stale_fields}  # noqa: SLF001 - its name on the wire
    return [field for field in fields if field in named]
