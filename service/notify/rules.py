"""The language of alert rules. Pure."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, Literal

from msgspec import Struct

RuleKind = Literal["price-above", "price-below", "verdict", "funding", "regime", "breadth"]

FORMS: Final = "`BTC > 120000`, `BTC < 90000`, `verdict BTC`, `funding BTC`, `regime`, `regime BTC` or `breadth`"
REARM: Final = 0.005
"""Share of its threshold that a price must go back before the rule can fire again."""

_PRICE: Final = re.compile(r"([A-Za-z0-9]{1,20})\s*([<>])\s*(\S+)\Z", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?\Z", re.ASCII)
_NAMED: Final = re.compile(r"(verdict|funding|regime|breadth)(?:\s+([A-Za-z0-9]{1,20}))?\Z", re.ASCII | re.IGNORECASE)


class ParsedRule(Struct, frozen=True):
    """A rule: its kind, the ticker it is about (null: the market), and a price in USD with the digits as typed."""

    kind: RuleKind
    symbol: str | None = None
    digits: str = ""

    @property
    def threshold(self) -> float:
        """The price in USD; 0 where the rule has none."""
        return float(self.digits or 0)

    @property
    def text(self) -> str:
        """The rule as it is stored and listed; `parse_rule` reads it back."""
        if self.kind in {"price-above", "price-below"}:
            return f"{self.symbol} {'>' if self.kind == 'price-above' else '<'} {self.digits}"
        return f"{self.kind} {self.symbol}" if self.symbol else self.kind


def parse_rule(text: str, find: Callable[[str], str] = str.upper) -> ParsedRule:
    """Read a rule.

    Args:
        text: As typed; spaces around it do not matter.
        find: Returns the canonical ticker of a coin, or raises.

    Raises:
        ValueError: If it is not a rule, or a price is of a thousand coins (`kPEPE`); the message tells its author.
    """
    text = text.strip()
    if priced := _PRICE.match(text):
        symbol, sign, digits = priced.groups()
        if not _NUMBER.match(digits) or float(digits) <= 0:
            raise ValueError("The price must be a positive number of USD in plain digits, such as 120000 or 0.0021.")
        coin = find(symbol)
        if symbol.upper() in {f"K{coin}", f"1000{coin}"}:
            one = f"{Decimal(digits).scaleb(-3).normalize():f}"
            raise ValueError(f"One {symbol} is 1,000 {coin}. Write the price of one coin: `{coin} {sign} {one}`.")
        return ParsedRule("price-above" if sign == ">" else "price-below", coin, digits)
    named = _NAMED.match(text)
    if named is None:
        raise ValueError(f"This is not a rule. Write {FORMS}.")
    kind: RuleKind = named[1].lower()  # type: ignore[assignment] # one of the pattern's alternatives
    if kind in {"verdict", "funding"} and named[2] is None:
        raise ValueError(f"Name the coin, such as `{kind} BTC`.")
    if kind == "breadth" and named[2] is not None:
        raise ValueError("Breadth is of the whole market. Write `breadth` alone.")
    return ParsedRule(kind, None if named[2] is None else find(named[2]))


def price_state(rule: ParsedRule, price: float, state: str | None) -> str:
    """The state of a price rule: `fired` beyond its threshold, `armed` on the other side.

    A rule that has fired is armed again once the price is half a percent of the threshold back on the other side.

    Args:
        rule: A price rule.
        price: USD.
        state: The state before; null at first.
    """
    distance = price - rule.threshold if rule.kind == "price-above" else rule.threshold - price
    if distance > 0 or (state == "fired" and distance > -REARM * rule.threshold):
        return "fired"
    return "armed"
