"""Amounts of coins or money: what they are worth, earn, cost or have made. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from service.ask.parser.chunks import Chunk, Quantity
from service.ask.parser.slots import Slots
from service.ask.parser.windows import span_of
from service.ask.query import Convert, Holding, Measure, Profit, Query, Subject, Time, Value, ValueOf

_USD: Final = "USD"
_SHORTED: Final = frozenset({"shorted", "went short", "shorted at"})
_BUYERS: Final = frozenset({"i", "if", "had", "bought", "my", "we"})
_ENTRIES: Final = frozenset({"at", "entry", "basis", "from", "price"})
_VALUE: Final = ("price", "change")
"""Measures that are only other words for a value or a profit."""


class _Amount(Struct, frozen=True):
    """An amount, and the chunks it takes."""

    used: frozenset[int]
    holding: Holding

    @property
    def coin(self) -> tuple[str, ...]:
        """The coin that it is one of, if any."""
        return () if self.holding.unit == _USD else (self.holding.unit,)


def read_money(slots: Slots) -> list[Query]:
    """Value, profit and conversion: amounts of coins or money, and what they come to."""
    amounts = [amount for at in range(len(slots.chunks)) if (amount := _amount(slots, at)) is not None]
    entry = _entry(slots)
    if entry is not None and len(amounts) > 1:
        amounts = [amount for amount in amounts if entry not in amount.used]
    held = [at for at, chunk in enumerate(slots.chunks) if chunk.has("holding")]
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    times = slots.free(lambda chunk: chunk.kind == "time")
    if not amounts:
        opened = entry is not None or (times and any(slots.word(at).split()[0] in _BUYERS for at in held))
        return _profit(slots, None, entry) if held and len(coins) == 1 and opened else []
    if len(amounts) == 1:
        carried = slots.measures("carry", "funding") or (slots.first("side") is not None and not held)
        if entry is None and carried:
            return _carry(slots, amounts[0])
        if entry is not None or (times and (held or _is_put_in(slots, amounts[0]))):
            return _profit(slots, amounts[0], entry)
    profit = any(slots.as_(at, "holding") == "profit" for at in held)
    return [] if profit else _worth(slots, amounts, held)  # a profit needs to know since when


def _is_put_in(slots: Slots, amount: _Amount) -> bool:
    """Whether money is said to be put into a coin, and nothing is asked of it: "$100 in SOL 30 days ago, …"."""
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    into = bool(coins) and slots.word(coins[0] - 1) in {"in", "into", "on"}
    return into and amount.holding.unit == _USD and not any(chunk.has("ask") for chunk in slots.chunks)


def _worth(slots: Slots, amounts: Sequence[_Amount], held: Sequence[int]) -> list[Query]:
    """What amounts are worth; one that nobody holds is converted."""
    units = {amount.holding.unit for amount in amounts}
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    into = tuple(coin for at in coins if (coin := slots.chunks[at].value[0]) not in units)
    named = tuple(dict.fromkeys(coin for amount in amounts for coin in amount.coin))
    holdings = tuple(amount.holding for amount in amounts)
    converts = len(amounts) == 1 and not held
    each = len(into) > 1 and "each" in " ".join(slots.words).split()
    if each or (not named and not (converts and into)):
        return []
    slots.used |= {at for amount in amounts for at in amount.used} | set(coins) | set(held)
    time = slots.one_time(slots.free(lambda chunk: chunk.kind == "time"))
    slots.used |= set(slots.measures(*_VALUE))
    slots.take("ask", "among", "or", "and", "set")
    if not converts:
        return [Query(subject=Subject(coins=named), operation=ValueOf(holdings), time=time)]
    subject = Subject(coins=tuple(dict.fromkeys((*named, *into))))
    return [Query(subject=subject, operation=Convert(holdings[0], into or (_USD,)), time=time)]


def _amount(slots: Slots, at: int) -> _Amount | None:
    """The amount at a chunk: "2 BTC", "$500 of SOL", "1000 usd"."""
    chunk = slots.chunks[at]
    if chunk.kind != "number" or chunk.value.value <= 0 or chunk.value.unit in {"%", "x"}:
        return None
    if slots.has(at - 1, "compare") or slots.has(at - 1, "super"):
        return None
    quantity: Quantity = chunk.value
    coin = None if quantity.unit == _USD else _coin_beside(slots, at)
    if coin is not None:
        used = range(at, coin + 1) if slots.kind(at + 1) != "set" else (at, at + 1, coin)
        return _Amount(frozenset({at, *used}), Holding(quantity.value, slots.chunks[coin].value[0]))
    in_position = quantity.scaled and any(other.has("holding") or other.has("side") for other in slots.chunks)
    return _Amount(frozenset({at}), Holding(quantity.value, _USD)) if quantity.unit == _USD or in_position else None


def _coin_beside(slots: Slots, at: int) -> int | None:
    """The coin that a number counts: "2 BTC", "2 of BTC", "SOL: 12", "my SOL … 12 coins"."""
    if slots.kind(at + 1) == "coin" and not slots.chunks[at + 1].gap:
        return at + 1
    if slots.word(at + 1) == "of" and slots.kind(at + 2) == "coin":
        return at + 2
    coins = [place for place, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    if not any(chunk.has("holding") for chunk in slots.chunks):
        return None
    counted = slots.kind(at + 1) == "set" or slots.word(at - 1) == "size"
    if counted and len(coins) == 1:
        return coins[0]
    return at - 1 if at - 1 in coins and ":" in slots.chunks[at].gap else None


def _entry(slots: Slots) -> int | None:
    """The chunk of an entry price: "at 95k", "entry 3200", "for $20"."""
    for at, chunk in enumerate(slots.chunks):
        if chunk.kind != "number" or at == 0:
            continue
        before = at - 1
        while before > 0 and slots.kind(before) == "filler" and slots.word(before) not in {"at", "from", "for"}:
            before -= 1
        if slots.word(before).split()[-1] in _ENTRIES and slots.kind(at + 1) != "coin":
            return at
    numbers = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "number"]
    said = any(words.endswith("entry") for words in slots.words)
    return numbers[0] if said and len(numbers) == 1 else None


def _profit(slots: Slots, amount: _Amount | None, entry: int | None) -> list[Query]:
    """What a position has made since an entry price or a time; in percent where its size is not said."""
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    if amount is not None and entry in amount.used and amount.holding.unit == _USD:
        amount = None
    held = () if amount is None else amount.coin
    named = tuple(dict.fromkeys((*held, *(slots.chunks[at].value[0] for at in coins))))
    if len(named) != 1:
        return []
    slots.used |= {*coins, *(() if amount is None else amount.used)}
    price: float | None = None
    since: Time | None = None
    if entry is None:
        since = _opened(slots)
    else:
        slots.used.add(entry)
        price = slots.chunks[entry].value.value
    sides = {at for at, words in enumerate(slots.words) if slots.has(at, "side") or words in _SHORTED}
    short = any("short" in slots.word(at) for at in sides)
    slots.used |= sides | set(slots.measures(*_VALUE))
    slots.take("ask", "direction", "filler", "and", "or", "holding", "among")
    holding = None if amount is None else amount.holding
    return [Query(subject=Subject(coins=named), operation=Profit(holding, price, since, "short" if short else "long"))]


def _opened(slots: Slots) -> Time:
    """When a position was opened; "today" beside it says only that the profit is that of now."""
    times = slots.free(lambda chunk: chunk.kind == "time")
    slots.used |= {at for at in times if at == times[0] or _is_today(slots.chunks[at])}
    time: Time = slots.chunks[times[0]].value
    return time


def _is_today(chunk: Chunk) -> bool:
    return getattr(chunk.value, "words", "") == "today"


def _carry(slots: Slots, amount: _Amount) -> list[Query]:
    """What a position of a size costs: "cost of holding a 10k long in ETH for a week"."""
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    named = amount.coin or tuple(slots.chunks[at].value[0] for at in coins)
    if not named:
        return []
    side = slots.first("side")
    times = slots.free(lambda chunk: chunk.kind == "time")
    measure = Measure(
        "carry",
        over=span_of(slots.chunks[times[0]].value) if times else None,
        side=None if side is None else slots.as_(side, "side"),
        notional=None if amount.coin else amount.holding.amount,
    )
    slots.used |= {*amount.used, *coins, *slots.measures("carry", "funding", *_VALUE)}
    slots.used |= {at for at in times if at == times[0] or _is_today(slots.chunks[at])}
    slots.take("ask", "holding", "side")
    slots.used |= set(slots.free(lambda chunk: chunk.value == "pricing"))  # "what does it cost"
    operation = ValueOf((amount.holding,)) if amount.coin else Value()
    return [Query(subject=Subject(coins=named), measures=(measure,), operation=operation)]
